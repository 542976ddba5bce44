"""What each operation costs, and what bounds it."""

from __future__ import annotations

from math import prod

import pytest

from harness.models.catalog import REFERENCE_NETWORKS
from harness.npu_tools.bound import Bound
from harness.npu_tools.profile import TERMS, profile
from harness.sim.npu import parse_payload
from harness.sim.npu.cycles import Traffic, VelaProfile
from harness.sim.npu.timing import estimate_stream

MODES = ("Sram_Only", "Shared_Sram", "Dedicated_Sram")


def discrepancies(operators, whole) -> set[str]:
    """What of the whole estimate the operations do not add up to."""
    sums = {term: sum(operator.terms[term] for operator in operators) for term in TERMS}
    found = {term for term in TERMS if sums[term] != getattr(whole, term)}
    if sum(operator.added for operator in operators) != whole.total:
        found.add("total")
    if sum((operator.traffic for operator in operators), Traffic()) != whole.traffic:
        found.add("traffic")
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("network", REFERENCE_NETWORKS)
def test_operations_add_up_to_the_estimate_of_the_whole_network(profiled, network, mode):
    found = profiled(network, mode)
    stream = parse_payload(found.model.command_stream).stream
    whole = estimate_stream(stream, 256, VelaProfile("Ethos_U85_SYS_DRAM_Mid", mode))
    assert found.estimate == whole
    assert discrepancies(found.operators, whole) == set()


def test_a_forgotten_operation_would_be_noticed(profiled):
    found = profiled("resnet8")
    assert discrepancies(found.operators[1:], found.estimate) == {"total", "traffic", *TERMS}


# The networks' own shapes, multiplied by hand: outputs times kernel times input channels.
@pytest.mark.parametrize(
    ("network", "position", "outputs", "kernel", "channels"),
    [
        ("ds_cnn", 0, 25 * 5 * 64, 10 * 4, 1),
        ("ds_cnn", 1, 25 * 5 * 64, 3 * 3, 1),  # depthwise
        ("ds_cnn", 2, 25 * 5 * 64, 1, 64),
        ("deep_autoencoder", 0, 128, 1, 640),
    ],
)
def test_products_are_those_of_the_layer(profiled, network, position, outputs, kernel, channels):
    assert profiled(network).operators[position].macs == outputs * kernel * channels


def test_no_operation_makes_more_products_than_the_array_can(profiled):
    for network in REFERENCE_NETWORKS:
        found = profiled(network)
        assert all(o.macs <= 256 * (o.end - o.start) for o in found.operators), network


def test_a_layer_is_named_and_its_output_measured(profiled):
    first = profiled("ds_cnn").operators[0]
    assert (first.kind, first.layer.operator, first.layer.index) == ("CONV", "CONV_2D", 0)
    assert prod(first.shape) == 25 * 5 * 64


def test_operations_chained_inside_the_npu_are_one_line(profiled):
    kinds = [operator.kinds for operator in profiled("resnet8").operators]
    assert ("CONV", "ELEMENTWISE ADD") in kinds


@pytest.mark.parametrize(
    ("network", "layer", "bound"),
    [
        ("resnet8", 1, Bound.MAC),  # 3x3 kernels on 16 channels
        ("resnet8", 6, Bound.WEIGHT_DECODER),  # 1x1 kernels: a weight serves few outputs
        ("mobilenet_v1_025", 2, Bound.OUTPUT_STAGE),  # 8 channels in, 16 out
        ("ds_cnn", 11, Bound.LATENCY),  # 768 products
    ],
)
def test_in_fast_memory_an_operation_is_bound_inside_the_npu(profiled, network, layer, bound):
    operators = profiled(network).operators
    assert [o.bound for o in operators if o.layer is not None and o.layer.index == layer] == [bound]


def test_a_fully_connected_layer_is_bound_by_its_weights_in_slow_memory(profiled):
    first = next(o for o in profiled("deep_autoencoder", "Dedicated_Sram").operators if o.macs)
    assert first.bound is Bound.WEIGHT_READ
    assert (
        first.traffic.external_read > 0.9 * first.macs
    )  # each weight is used once, and they compress a little


def test_a_layer_that_reads_its_input_from_slow_memory_is_bound_by_it(profiled):
    first = next(o for o in profiled("mobilenet_v1_025", "Dedicated_Sram").operators if o.macs)
    assert first.bound is Bound.IFM_READ


def test_a_layer_whose_scales_came_from_slow_memory_is_bound_by_them(profiled):
    # The estimate has scales take the time of the memory that they were copied from, as the compiler's has.
    assert profiled("ds_cnn", "Dedicated_Sram").operators[7].bound is Bound.SCALE_READ


def test_a_transfer_beneath_other_work_adds_nothing(profiled):
    transfers = [o for o in profiled("resnet8", "Dedicated_Sram").operators if o.kinds == ("DMA",)]
    assert {(o.added == 0, o.bound) for o in transfers} == {(True, Bound.HIDDEN), (False, Bound.DMA)}
    assert all(o.traffic.external_read for o in transfers)


def test_a_transfer_is_named_after_the_layer_that_it_brings_weights_for(profiled):
    operators = profiled("ds_cnn", "Dedicated_Sram").operators
    layers = [o.layer for o in operators if o.kinds == ("DMA",)]
    assert layers[0] == next(o.layer for o in operators if o.macs)
    weighted = [o.layer for o in operators if o.macs]
    assert [layer for layer in layers if layer is not None] == weighted


def test_slower_memory_costs_cycles_and_moves_its_bytes_outside(named):
    model = named("ds_cnn")
    fast = profile(model, VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Sram_Only"))
    slow = profile(model, VelaProfile("Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram"))
    assert slow.estimate.total > fast.estimate.total
    assert fast.estimate.traffic.external_read == 0
    assert slow.estimate.traffic.sram_read == 0


def test_json_has_a_schema_and_says_that_it_is_an_estimate(profiled):
    found = profiled("ds_cnn")
    data = found.to_json()
    assert (data["schema"], data["source"]) == (1, "estimate")
    assert data["total"]["cycles"]["total"] == sum(o["cycles"]["added"] for o in data["operators"])
    assert len(data["operators"]) == len(found.operators)
