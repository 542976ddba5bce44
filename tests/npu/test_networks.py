"""Whole networks give the outputs of tflite-micro, byte for byte."""

from __future__ import annotations

import pytest

from harness.sim.npu import MAC_COUNTS

pytestmark = pytest.mark.usefixtures("tflite_micro")

MLPERF_TINY = ("ad01_int8", "kws_ref_model", "pretrainedResnet_quant", "vww_96_int8")
WITH_SOFTMAX = MLPERF_TINY[1:]
GENERATED = ("deep_autoencoder", "ds_cnn", "mobilenet_v1_025", "resnet8")
SMALL = ("hello_world_int8", "seanet_add0", "seanet_pad0", "simple_add_model")

FEWEST_AND_MOST = (128, 2048)

SAMPLES = 4
CUT_SAMPLES = 100


def assert_equal_to_reference(net, count):
    samples = net.samples(count)
    reference = net.reference(samples)
    different = [index for index, sample in enumerate(samples) if net.run(sample) != reference[index]]
    assert not different, f"{net.compiled.name}: samples {different} of {count} differ from tflite-micro"
    return len(set(reference))


@pytest.mark.parametrize("macs", MAC_COUNTS)
@pytest.mark.parametrize("name", MLPERF_TINY)
def test_mlperf_tiny_network_is_bit_exact(network, real_models, name, macs):
    assert_equal_to_reference(network(real_models / "mlperf_tiny" / f"{name}.tflite", macs), SAMPLES)


@pytest.mark.parametrize("macs", FEWEST_AND_MOST)
@pytest.mark.parametrize("name", SMALL)
def test_small_network_is_bit_exact(network, real_models, name, macs):
    assert_equal_to_reference(network(real_models / "tflite_micro" / f"{name}.tflite", macs), SAMPLES)


@pytest.mark.parametrize("macs", MAC_COUNTS)
@pytest.mark.parametrize("name", GENERATED)
def test_generated_network_is_bit_exact(network, name, macs):
    assert_equal_to_reference(network(name, macs), SAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", WITH_SOFTMAX)
def test_network_without_its_softmax_is_bit_exact_on_a_hundred_inputs(network, real_models, name):
    net = network(real_models / "mlperf_tiny" / f"{name}.tflite", 256, cut=True)
    distinct = assert_equal_to_reference(net, CUT_SAMPLES)
    print(f"{name}: {distinct} distinct outputs of {CUT_SAMPLES}")  # noqa: T201 - shown by pytest -rP
    assert distinct > CUT_SAMPLES // 4


@pytest.mark.parametrize("macs", FEWEST_AND_MOST)
@pytest.mark.parametrize("name", WITH_SOFTMAX)
def test_network_without_its_softmax_is_bit_exact_elsewhere(network, real_models, name, macs):
    net = network(real_models / "mlperf_tiny" / f"{name}.tflite", macs, cut=True)
    assert_equal_to_reference(net, SAMPLES)


def test_input_changes_the_output(network):
    """The comparison is not one of constants."""
    net = network("ds_cnn", 256)
    assert len({net.run(sample) for sample in net.samples(SAMPLES)}) == SAMPLES


def test_weight_byte_changed_in_memory_is_noticed(network):
    """By a fault or by other outputs; only a weight that meets nothing but zeros can go unseen."""
    net = network("ds_cnn", 256)
    samples = net.samples(SAMPLES)
    before = [net.run(sample) for sample in samples]
    weights = net.memory.view(net.bases[0], len(net.compiled.weights))

    def noticed(position):
        weights[position] ^= 0xFF
        for sample, output in zip(samples, before, strict=True):
            net.fill(sample)
            if net.execute().fault is not None or net.outputs() != output:
                break
        else:
            return False
        return True

    positions = range(700, len(weights), len(weights) // 8)
    seen = []
    for position in positions:
        seen.append(noticed(position))
        weights[position] ^= 0xFF
    assert sum(seen) >= len(positions) - 1, seen


def test_weights_put_back_give_the_first_output_again(network):
    """What was decoded before the change is not used after it, nor the other way round."""
    net = network("ds_cnn", 256)
    (sample,) = net.samples(1)
    before = net.run(sample)
    weights = net.memory.view(net.bases[0], len(net.compiled.weights))
    kept = weights.copy()
    weights[: len(weights) // 2] = 0
    net.fill(sample)
    assert net.execute().fault is not None or net.outputs() != before
    weights[:] = kept
    assert net.run(sample) == before
