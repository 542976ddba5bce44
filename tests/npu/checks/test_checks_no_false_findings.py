"""What the compiler makes of real networks breaks no rule, wherever their data lies."""

from __future__ import annotations

import pytest

from harness.models.catalog import load_model
from harness.sim.npu import MAC_COUNTS
from harness.sim.npu.checks import POISON, Region, Role, poison

GENERATED = ("deep_autoencoder", "ds_cnn", "mobilenet_v1_025", "resnet8")
MLPERF_TINY = ("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8")
WITH_TRANSFERS = ("Shared_Sram", "Dedicated_Sram")


def assert_sound(checked):
    report = checked.report()
    assert (report.findings, report.unknown, report.fault) == ((), (), None)


@pytest.mark.parametrize("macs", MAC_COUNTS)
@pytest.mark.parametrize("name", GENERATED)
def test_generated_network_is_sound(checked, name, macs):
    assert_sound(checked(name, macs))


@pytest.mark.proof
@pytest.mark.parametrize("name", MLPERF_TINY)
def test_mlperf_tiny_network_is_sound(checked, real_models, name):
    for macs in MAC_COUNTS:
        assert_sound(checked(load_model(real_models / "mlperf_tiny" / f"{name}.tflite"), macs))


@pytest.mark.parametrize("memory_mode", WITH_TRANSFERS)
@pytest.mark.parametrize("name", GENERATED)
def test_network_that_fetches_its_weights_is_sound(checked, name, memory_mode):
    assert_sound(checked(name, memory_mode=memory_mode))


def test_poison_fills_what_may_not_be_read_and_nothing_else(flat_memory):
    memory = flat_memory(64)
    memory.content[:] = range(64)
    regions = (
        Region(Role.CONSTANT, 0, 16),
        Region(Role.SCRATCH, 16, 16, written=((4, 2),)),
        Region(Role.INPUT, 32, 16),
        Region(Role.OUTPUT, 48, 8),
    )
    poison(memory, regions)
    kept = [place for place in range(64) if memory.content[place] == place]
    assert kept == [*range(16), 20, 21, *range(32, 48), *range(56, 64)]
    assert set(memory.content[16:20]) == {POISON}
