"""A network on the NPU model alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.errors import FirmwareFault, UsageError
from harness.models.inputs import standard_inputs
from harness.models.oracle import installed_version, tflite_micro_outputs
from harness.npu_tools.inference import infer
from harness.sim.npu import parse_payload
from harness.sim.npu.cycles import VelaProfile
from harness.sim.npu.opcodes import CMD0

FAST = VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only")


@pytest.mark.parametrize("mode", ["Sram_Only", "Dedicated_Sram"])
def test_outputs_are_those_of_tflite_micro(named, mode):
    if installed_version() is None:
        pytest.skip("tflite-micro is not installed")
    compiled = named("resnet8", mode).compiled
    inputs = standard_inputs(compiled)[0].tensors
    (expected,) = tflite_micro_outputs("resnet8", compiled.tflite, [inputs])
    assert infer(compiled, inputs, FAST).outputs == tuple(expected)


def test_other_inputs_give_other_outputs(named):
    compiled = named("deep_autoencoder").compiled
    first, second = (infer(compiled, inputs.tensors, FAST).outputs for inputs in standard_inputs(compiled))
    assert first != second


def test_a_command_that_is_not_modelled_is_named(named):
    compiled = named("ds_cnn").compiled
    opcode = next(code for code, encoding in CMD0.items() if encoding.name == "OP_PMU_MASK")
    start = len(compiled.command_stream) - len(parse_payload(compiled.command_stream).stream)
    stream = bytearray(compiled.command_stream)
    stream[start : start + 4] = opcode.to_bytes(4, "little")
    with pytest.raises(FirmwareFault, match=r"ds_cnn on the NPU model: parse fault at stream offset 0x0"):
        infer(replace(compiled, command_stream=bytes(stream)), standard_inputs(compiled)[0].tensors, FAST)


def test_an_access_beyond_the_end_of_a_region_is_a_bus_fault(named):
    compiled = named("ds_cnn").compiled
    small = replace(compiled, scratch_size=compiled.scratch_size - 1)
    with pytest.raises(FirmwareFault, match=r"bus fault at stream offset .*: region 1"):
        infer(small, standard_inputs(compiled)[0].tensors, FAST)


def test_a_stream_that_writes_to_flash_is_refused(named):
    compiled = named("ds_cnn").compiled
    flash = VelaProfile("Ethos_U85_SYS_Flash_Low", "Shared_Sram")
    with pytest.raises(UsageError, match="cannot be written"):
        infer(compiled, standard_inputs(compiled)[0].tensors, _arena_in(flash))


def _arena_in(profile: VelaProfile) -> VelaProfile:
    """The profile with every region where the constants are."""

    class Everywhere(VelaProfile):
        @property
        def regions(self):
            return (super().regions[0],) * 8

    return Everywhere(profile.system_config, profile.memory_mode)
