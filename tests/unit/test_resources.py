"""Each resource check catches what is its own."""

from __future__ import annotations

from dataclasses import replace

from harness.plan import IoLifetime
from harness.results.resources import resource_findings
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


def test_a_map_without_its_unmap_is_found(run: RunRecord, spoil) -> None:
    stage = with_counts(run.cells[0].inferences[0].stage, maps=2, unmaps=1)
    assert checks(spoil(0, 0, stage=stage)) == [("maps", None)]


def test_a_map_within_an_inference_whose_memory_stays_mapped_is_found(run: RunRecord, spoil) -> None:
    stage = with_counts(run.cells[1].inferences[1].stage, maps=1, unmaps=1)
    spoiled = spoil(1, 1, stage=stage)
    kept = replace(spoiled.cells[1], mode=replace(spoiled.cells[1].mode, io=IoLifetime.PERSISTENT))
    assert checks(replace(spoiled, cells=(kept,))) == [("maps", 1)]


def test_memory_that_grows_after_the_second_inference_is_found(run: RunRecord, spoil) -> None:
    stage = replace(run.cells[1].inferences[2].stage, memory=Memory(heap_used=64))
    assert checks(spoil(1, 2, stage=stage)) == [("high-water", 2)]
