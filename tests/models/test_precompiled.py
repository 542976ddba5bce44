"""What Vela compiled earlier is opened as it is, and is the same network as when compiled here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.models.catalog import ModelKind, ModelSource, load_model
from harness.models.compiled import CompiledModel
from harness.models.vela import CompileOptions, compile_model
from harness.npu_tools.inference import infer
from harness.sim.npu.cycles import VelaProfile

pytestmark = pytest.mark.usefixtures("private_cache")

VelaFile = Callable[..., Path]

DIRECT_DRIVE = ("--cop-format=COP2", "--separate-io-regions")


@pytest.fixture(params=["tflite", "raw"])
def adder_file(adder: ModelSource, vela_file: VelaFile, request: pytest.FixtureRequest) -> Path:
    """The small network, compiled by Vela to either kind of file."""
    return vela_file(adder, *DIRECT_DRIVE, output=request.param)


def places(model: CompiledModel) -> list[tuple[int, int, int]]:
    """Region, offset and size of every input and output."""
    return [(tensor.region, tensor.offset, tensor.size) for tensor in (*model.inputs, *model.outputs)]


def test_the_stream_is_the_one_compiled_here(adder: ModelSource, adder_file: Path) -> None:
    opened, compiled = compile_model(load_model(adder_file)), compile_model(adder)
    assert opened.stream_sha256 == compiled.stream_sha256
    assert places(opened) == places(compiled)


@pytest.mark.parametrize("output", ["tflite", "raw"])
@pytest.mark.parametrize("memory_mode", ["Sram_Only", "Dedicated_Sram_384KB"])
def test_a_whole_network_is_the_one_compiled_here(vela_file: VelaFile, output: str, memory_mode: str) -> None:
    source = load_model("ds_cnn")
    compiled = compile_model(source, CompileOptions(memory_mode=memory_mode))
    opened = compile_model(
        load_model(vela_file(source, *DIRECT_DRIVE, memory_mode=memory_mode, output=output))
    )
    assert opened.stream_sha256 == compiled.stream_sha256
    assert (opened.scratch_size, opened.scratch_fast_size) == (
        compiled.scratch_size,
        compiled.scratch_fast_size,
    )
    assert places(opened) == places(compiled)


def test_it_has_the_name_of_the_network(adder_file: Path) -> None:
    assert compile_model(load_model(adder_file)).name == "addition"


def test_it_has_nothing_to_compute_references_from(adder_file: Path) -> None:
    assert compile_model(load_model(adder_file)).tflite is None


def test_it_brings_its_mac_count_and_options(adder_file: Path) -> None:
    opened = compile_model(load_model(adder_file))
    assert opened.macs == 256
    assert opened.vela_options == ("--accelerator-config=ethos-u85-256", *DIRECT_DRIVE)


def test_asking_for_its_own_mac_count_is_fine(adder_file: Path) -> None:
    assert compile_model(load_model(adder_file), CompileOptions(macs=256)).macs == 256


def test_another_mac_count_is_refused(adder_file: Path) -> None:
    with pytest.raises(ModelError, match="addition_vela was compiled for 256 MACs and cannot run on 512"):
        compile_model(load_model(adder_file), CompileOptions(macs=512))


def test_an_optimised_file_keeps_names_and_quantisation(adder: ModelSource, vela_file: VelaFile) -> None:
    opened = compile_model(load_model(vela_file(adder, *DIRECT_DRIVE)))
    assert opened.inputs == compile_model(adder).inputs


def test_raw_output_knows_no_names(adder: ModelSource, vela_file: VelaFile) -> None:
    opened = compile_model(load_model(vela_file(adder, *DIRECT_DRIVE, output="raw")))
    assert [(tensor.name, tensor.shape, tensor.dtype) for tensor in opened.inputs] == [
        ("input_0", (1, 1, 1, 1, 1, 8), "int8"),
        ("input_1", (1, 1, 1, 1, 1, 8), "int8"),
    ]


@pytest.mark.parametrize("output", ["tflite", "raw"])
@pytest.mark.parametrize("options", [(), ("--cop-format=COP2",)], ids=["COP1", "COP2"])
def test_a_network_with_its_tensors_in_scratch_computes_the_same(
    adder: ModelSource, vela_file: VelaFile, options: tuple[str, ...], output: str
) -> None:
    opened = compile_model(load_model(vela_file(adder, *options, output=output)))
    compiled = compile_model(adder)
    assert (opened.io_is_in_scratch, compiled.io_is_in_scratch) == (True, False)
    inputs = (bytes(range(8)), bytes(range(8, 16)))
    memory = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")
    assert infer(opened, inputs, memory).outputs == infer(compiled, inputs, memory).outputs


def test_a_cop1_payload_proves_its_format(adder: ModelSource, vela_file: VelaFile) -> None:
    opened = compile_model(load_model(vela_file(adder)))
    assert opened.vela_options == ("--accelerator-config=ethos-u85-256", "--cop-format=COP1")


def test_operators_left_beside_the_npus_are_named(vela_file: VelaFile) -> None:
    path = vela_file(load_model("ds_cnn"), *DIRECT_DRIVE, "--ignore-ops=SOFTMAX")
    with pytest.raises(ModelError, match="beside one ethos-u operator it has SOFTMAX"):
        compile_model(load_model(path))


def test_an_optimised_file_is_told_from_an_uncompiled_one(adder: ModelSource, vela_file: VelaFile) -> None:
    optimised = load_model(vela_file(adder, *DIRECT_DRIVE))
    assert optimised.kind is ModelKind.OPTIMISED_TFLITE


def test_an_optimised_file_without_offsets_is_refused(adder: ModelSource, vela_file: VelaFile) -> None:
    optimised = load_model(vela_file(adder, *DIRECT_DRIVE))
    renamed = replace(
        optimised, data=optimised.data.replace(b"OfflineMemoryAllocation", b"0fflineMemoryAllocation")
    )
    with pytest.raises(ModelError, match="does not say where its tensors lie"):
        compile_model(renamed)
