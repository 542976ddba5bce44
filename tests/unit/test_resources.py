"""Each resource check catches what is its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.models.compiled import SCRATCH_REGION, CompiledModel, Tensor
from harness.plan import IoLifetime, Scratch
from harness.results.resources import Needs, needs_of, resource_findings
from harness.results.run_record import Leak, Memory, RunRecord, Stage


def checks(run: RunRecord) -> list[tuple[str, int | None]]:
    return [(finding.check, finding.index) for finding in resource_findings(run.cells)]


def with_counts(stage: Stage, **counts: int) -> Stage:
    return replace(stage, counts={**stage.counts, **counts})


def test_a_sound_run_leaves_nothing(run: RunRecord) -> None:
    assert checks(run) == []


def test_a_leak_is_named_with_the_step_that_created_it(run: RunRecord) -> None:
    leaky = replace(run.cells[0], live_objects=1, leaks=(Leak("mapping", 4096, "map_inputs"),))
    (finding,) = resource_findings([leaky])
    assert finding.check == "leak"
    assert finding.detail == "a mapping of 4096 bytes, created in map_inputs, was left at the end"


def test_a_second_object_in_an_inference_with_kept_objects_is_found(run: RunRecord, spoil) -> None:
    stage = with_counts(run.cells[1].inferences[1].stage, buffers=1)
    assert checks(spoil(1, 1, stage=stage)) == [("objects", 1)]


def test_an_inference_that_creates_more_than_the_first_is_found(run: RunRecord, spoil) -> None:
    stage = with_counts(run.cells[0].inferences[2].stage, networks=2)
    assert checks(spoil(0, 2, stage=stage)) == [("objects", 2)]


def test_a_map_without_its_unmap_is_found(run: RunRecord) -> None:
    cell = replace(run.cells[0], init=with_counts(run.cells[0].init, maps=1))
    assert checks(replace(run, cells=(cell,))) == [("maps", None)]


def test_an_inference_that_takes_more_temporary_memory_than_the_first_is_found(run: RunRecord, spoil) -> None:
    stage = with_counts(run.cells[0].inferences[2].stage, allocations=1, reused=1)
    assert checks(spoil(0, 2, stage=stage)) == [("allocations", 2)]


def test_what_all_inferences_take_is_held_against_what_their_model_needs(run: RunRecord) -> None:
    needs = Needs({"networks": 1, "buffers": 4, "inferences": 1}, maps=2, allocations=3)
    found = {finding.check for finding in resource_findings(run.cells[:1], needs)}
    assert found == {"objects", "maps", "allocations"}


@pytest.mark.parametrize(("scratch", "buffers", "blocks"), [(Scratch.BUFFER, 3, 2), (Scratch.TEMP, 2, 3)])
def test_a_model_needs_a_buffer_and_a_staging_copy_for_each_tensor_and_memory_for_scratch(
    compiled: CompiledModel, scratch: Scratch, buffers: int, blocks: int
) -> None:
    needs = needs_of(compiled, scratch)
    assert (needs.objects["buffers"], needs.maps, needs.allocations) == (buffers, 2, blocks)


@pytest.mark.parametrize(("scratch", "buffers", "maps"), [(Scratch.BUFFER, 1, 2), (Scratch.TEMP, 0, 0)])
def test_tensors_in_scratch_memory_have_no_buffers_and_map_what_the_driver_has(
    compiled: CompiledModel, scratch: Scratch, buffers: int, maps: int
) -> None:
    def moved(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return tuple(replace(tensor, region=SCRATCH_REGION) for tensor in tensors)

    inside = replace(compiled, inputs=moved(compiled.inputs), outputs=moved(compiled.outputs))
    needs = needs_of(inside, scratch)
    assert (needs.objects["buffers"], needs.maps) == (buffers, maps)


def test_weights_are_one_buffer_more(compiled: CompiledModel) -> None:
    assert needs_of(replace(compiled, weights=b"w"), Scratch.BUFFER).objects["buffers"] == 4


def test_a_map_within_an_inference_whose_memory_stays_mapped_is_found(run: RunRecord, spoil) -> None:
    stage = with_counts(run.cells[1].inferences[1].stage, maps=1, unmaps=1)
    spoiled = spoil(1, 1, stage=stage)
    kept = replace(spoiled.cells[1], mode=replace(spoiled.cells[1].mode, io=IoLifetime.PERSISTENT))
    assert checks(replace(spoiled, cells=(kept,))) == [("maps", 1)]


def test_memory_that_grows_after_the_second_inference_is_found(run: RunRecord, spoil) -> None:
    stage = replace(run.cells[1].inferences[2].stage, memory=Memory(heap_used=64))
    assert checks(spoil(1, 2, stage=stage)) == [("high-water", 2)]
