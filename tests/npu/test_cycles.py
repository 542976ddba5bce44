"""The cycle estimate follows what an operation computes, what it moves, and what runs at the same time."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.sim.npu.cycles import (
    SYS_DRAM_MID,
    DmaWait,
    DmaWork,
    FeatureMap,
    KernelWait,
    KernelWork,
    Memory,
    Place,
    Traffic,
    Unit,
    WeightTraffic,
    estimate,
    timetable,
)
from harness.sim.npu.cycles.kernel import kernel_cycles

MAC_COUNTS = (128, 256, 512, 1024, 2048)


def feature_map(height=16, width=16, depth=64, bits=8, brick=True, memory=Memory.SRAM) -> FeatureMap:
    return FeatureMap(height, width, depth, bits, brick, memory)


WEIGHTS = WeightTraffic(
    weight_bytes=4096,
    weight_memory=Memory.SRAM,
    scale_bytes=640,
    scale_memory=Memory.SRAM,
    scale_place=Place(1, 0),
    fast=False,
    sparse=False,
)
CONV = KernelWork(
    unit=Unit.CONV,
    ofm=feature_map(),
    ifms=(feature_map(),),
    ofm_block=(16, 16, 64),
    microblock=(2, 2),
    weights=WEIGHTS,
)
ADD = KernelWork(
    unit=Unit.ELEMENTWISE,
    ofm=feature_map(),
    ifms=(feature_map(), feature_map()),
    ofm_block=(16, 16, 64),
    microblock=(2, 2),
    binary=True,
)
COPY = DmaWork(size=6000, source=Memory.EXTERNAL, destination=Memory.SRAM)


def total(*work, macs=256) -> int:
    return estimate(work, macs, SYS_DRAM_MID).total


def kernel(*chain, macs=256):
    return kernel_cycles(chain, macs, SYS_DRAM_MID)


def test_convolution_takes_a_cycle_for_each_macs_products():
    assert kernel(CONV).mac == 16 * 16 * 64 * 64 // 256


def test_part_kernel_takes_four_elements_and_eight_channels_at_a_time():
    work = replace(CONV, kernel=(3, 3), part_kernel=True)
    microblocks, steps, channels = 8 * 8 * 8, 3, 64 // 8
    assert kernel(work).mac == 4 * microblocks * steps * channels


def test_depthwise_takes_four_elements_at_a_time():
    work = replace(CONV, unit=Unit.DEPTHWISE, kernel=(3, 3))
    assert kernel(work).mac == 4 * (8 * 8 * 8) * 3


def test_small_pooling_window_costs_as_much_as_four_elements():
    work = replace(CONV, unit=Unit.POOL, weights=None)
    assert kernel(replace(work, kernel=(1, 2))).mac == kernel(replace(work, kernel=(2, 2))).mac == 4 * 4 * 512


def test_large_kernel_is_cut_into_sub_kernels():
    pieces = [replace(CONV, unit=Unit.DEPTHWISE, kernel=kernel) for kernel in ((8, 8), (8, 1))]
    whole = replace(CONV, unit=Unit.DEPTHWISE, kernel=(8, 9))
    assert kernel(whole).mac == sum(kernel(piece).mac for piece in pieces)


def test_16_bits_take_twice_the_time():
    wide = replace(CONV, ifms=(feature_map(bits=16),))
    assert kernel(wide).mac == 2 * kernel(CONV).mac


def test_sparse_weights_take_half_the_time():
    deep = replace(CONV, ifms=(feature_map(depth=128),))
    assert kernel(replace(deep, weights=replace(WEIGHTS, sparse=True))).mac * 2 == kernel(deep).mac


def test_tiny_block_waits_for_the_pipeline_between_kernel_elements():
    tiny = replace(CONV, ofm=feature_map(2, 2, 8), ofm_block=(2, 2, 8), kernel=(3, 3))
    weight_decoder = 4 * 8
    assert kernel(tiny).mac == 9 * weight_decoder + 9 * 2


def test_48_bit_accumulators_wait_longer_on_the_smallest_array():
    tiny = replace(CONV, ofm=feature_map(1, 2, 8), ofm_block=(1, 2, 8), microblock=(1, 2))
    assert kernel(replace(tiny, acc48=True), macs=128).mac == kernel(tiny, macs=128).mac + 1


@pytest.mark.parametrize(("macs", "per_element"), [*zip(MAC_COUNTS, (2, 4, 8, 16, 32), strict=True)])
def test_output_stage_passes_a_number_of_elements_in_each_cycle(macs, per_element):
    assert kernel(ADD, macs=macs).output_stage == 16 * 16 * 64 // per_element


@pytest.mark.parametrize(
    ("change", "slower"),
    [
        ({"divides": True}, 33 * 4),
        ({"swaps_rows": True}, 2),
        ({"ofm": feature_map(bits=64)}, 2),
        ({"ifms": (feature_map(bits=32),) * 2, "ofm": feature_map(bits=32)}, 2),
    ],
    ids=["quotients", "transposed", "64 bits", "32-bit operands"],
)
def test_output_stage_is_slower_for(change, slower):
    assert kernel(replace(ADD, **change)).output_stage == slower * kernel(ADD).output_stage


def test_large_magnification_resizes_faster():
    def resize(size: int) -> KernelWork:
        return replace(ADD, unit=Unit.RESIZE, binary=False, ifms=(feature_map(size, size),))

    assert kernel(resize(8), macs=1024).output_stage * 2 == kernel(resize(16), macs=1024).output_stage


def test_chained_operations_share_the_output_stage():
    first = replace(ADD, ofm=feature_map(memory=Memory.CHAINED))
    second = replace(ADD, ifms=(feature_map(memory=Memory.CHAINED), feature_map()))
    assert kernel(first, second).output_stage == 2 * kernel(ADD).output_stage


def test_chained_feature_map_causes_no_traffic():
    chained = replace(ADD, ifms=(feature_map(memory=Memory.CHAINED), feature_map()))
    assert kernel(chained).memory < kernel(ADD).memory


def test_chain_counts_as_one_operation():
    first = replace(ADD, ofm=feature_map(memory=Memory.CHAINED))
    second = replace(ADD, ifms=(feature_map(memory=Memory.CHAINED), feature_map()))
    assert total(first, second) == kernel(first, second).total


def test_whole_bricks_are_moved():
    narrow = {"ofm": feature_map(depth=1), "ifms": (feature_map(depth=1),)}
    whole = {"ofm": feature_map(depth=16), "ifms": (feature_map(depth=16),)}
    assert kernel(replace(ADD, **narrow)).memory == kernel(replace(ADD, **whole)).memory


def test_short_rows_are_moved_as_slowly_as_long_bursts():
    apart = feature_map(depth=128, brick=False)
    block = (16, 16, 16)
    slow = replace(ADD, ofm=apart, ifms=(apart,), ofm_block=block)
    assert (
        kernel(slow).memory
        == 4 * kernel(replace(slow, ofm_block=(16, 16, 64), ofm=feature_map(depth=128))).memory
    )


def test_weights_are_fetched_for_each_block_of_rows():
    heavy = replace(CONV, weights=replace(WEIGHTS, weight_bytes=1 << 20))
    halves = replace(heavy, ofm_block=(8, 16, 64))
    assert kernel(halves).memory == pytest.approx(2 * kernel(heavy).memory, abs=2)


def test_operation_waits_for_its_memory():
    heavy = replace(CONV, weights=replace(WEIGHTS, weight_bytes=1 << 20))
    assert kernel(heavy).total == kernel(heavy).memory > (1 << 20) // 32


def test_external_memory_is_slower():
    weights = replace(WEIGHTS, weight_bytes=1 << 20)
    external = replace(weights, weight_memory=Memory.EXTERNAL)
    assert kernel(replace(CONV, weights=external)).total > 2 * kernel(replace(CONV, weights=weights)).total


@pytest.mark.parametrize("work", [CONV, ADD], ids=["conv", "add"])
@pytest.mark.parametrize("macs", MAC_COUNTS)
def test_operation_takes_no_less_than_each_of_its_parts(work, macs):
    cycles = kernel(work, macs=macs)
    assert cycles.total >= max(cycles.mac, cycles.output_stage, cycles.memory, cycles.issue)


def test_operations_run_one_after_another():
    assert total(CONV, ADD) == total(CONV) + total(ADD)


def test_copy_runs_beside_an_operation():
    assert total(COPY, CONV) == max(total(COPY), total(CONV))


def test_operation_starts_after_the_copy_it_waits_for():
    assert total(COPY, DmaWait(0), CONV) == total(COPY) + total(CONV)


def test_operation_does_not_wait_for_the_next_copy():
    assert total(COPY, COPY, DmaWait(1), CONV) == total(COPY) + max(total(COPY), total(CONV))


def test_copy_starts_after_the_operation_it_waits_for():
    assert total(CONV, KernelWait(0), COPY) == total(CONV) + total(COPY)


def test_third_operation_is_accepted_when_the_first_is_done():
    assert total(CONV, CONV, CONV, COPY) == max(3 * total(CONV), total(CONV) + total(COPY))


def test_table_is_loaded_at_the_pace_of_its_source():
    table = DmaWork(size=1024, source=Memory.SRAM, destination=Memory.LUT)
    transactions = 8 * 2 * 0.8  # outstanding on both ports, each of 64 bytes and 32 cycles
    assert total(table) == pytest.approx(1024 / (64 * transactions / 32 * 0.8) + 32, abs=1)


def test_copy_inside_the_npu_takes_no_time():
    assert total(replace(COPY, source=Memory.LUT, destination=Memory.LUT)) == 0


def test_parts_are_summed_over_the_operations():
    both, one, other = estimate([CONV, ADD], 256, SYS_DRAM_MID), kernel(CONV), kernel(ADD)
    assert both.mac == one.mac
    assert both.output_stage == one.output_stage + other.output_stage
    assert both.memory == one.memory + other.memory
    assert both.issue == one.issue + other.issue


def maps(memory: st.SearchStrategy[Memory]) -> st.SearchStrategy[FeatureMap]:
    side, bits = st.integers(1, 65536), st.sampled_from([8, 16, 32])
    return st.builds(FeatureMap, side, side, side, bits, st.booleans(), memory)


outside = st.sampled_from([Memory.SRAM, Memory.EXTERNAL])
anywhere = outside | st.just(Memory.CHAINED)
kernels = st.builds(
    KernelWork,
    unit=st.sampled_from(Unit),
    ofm=maps(anywhere),
    ifms=st.tuples(maps(anywhere)),
    ofm_block=st.tuples(st.integers(1, 128), st.integers(1, 128), st.integers(1, 1024)),
    microblock=st.sampled_from([(1, 1), (1, 2), (1, 4), (2, 2), (2, 4), (4, 4)]),
    kernel=st.tuples(st.integers(1, 65536), st.integers(1, 65536)),
    stride=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    dilation=st.tuples(st.integers(1, 2), st.integers(1, 2)),
    part_kernel=st.booleans(),
    acc48=st.booleans(),
    weights=st.none() | st.just(WEIGHTS),
    divides=st.booleans(),
    binary=st.booleans(),
    swaps_rows=st.booleans(),
)
places = st.sampled_from(Memory)
waits = st.builds(DmaWait, st.integers(0, 3)) | st.builds(KernelWait, st.integers(0, 1))
works = kernels | waits | st.builds(DmaWork, st.integers(0, 1 << 32), places, places)


@settings(deadline=None)
@given(work=st.lists(works, max_size=8), macs=st.sampled_from(MAC_COUNTS))
def test_any_work_has_an_estimate_that_repeats(work, macs):
    assert estimate(work, macs, SYS_DRAM_MID) == estimate(work, macs, SYS_DRAM_MID)


STAGE = DmaWork(4096 + 640, Memory.EXTERNAL, Memory.SRAM, Place(1, 0))


def test_scales_that_the_stream_has_copied_take_the_time_of_their_origin():
    outside = replace(CONV, weights=replace(WEIGHTS, scale_memory=Memory.EXTERNAL))
    copied = list(timetable([STAGE, DmaWait(0), CONV], 256, SYS_DRAM_MID))[-1].kernel
    assert copied.memory == kernel(outside).memory > kernel(CONV).memory


@pytest.mark.parametrize("place", [None, Place(2, 0), Place(1, 640), Place(1, -(4096 + 640))])
def test_copy_to_another_place_does_not_concern_the_scales(place):
    elsewhere = [replace(STAGE, place=place), DmaWait(0), CONV]
    assert list(timetable(elsewhere, 256, SYS_DRAM_MID))[-1].kernel == kernel(CONV)


def test_latest_copy_to_a_place_tells_the_origin():
    back = replace(STAGE, source=Memory.SRAM)
    assert list(timetable([STAGE, back, DmaWait(0), CONV], 256, SYS_DRAM_MID))[-1].kernel == kernel(CONV)


def test_fast_weights_have_a_narrower_channel_once_they_are_copied():
    far = replace(SYS_DRAM_MID.sram, ports=4, read_latency=500, reads=64)
    profile = replace(SYS_DRAM_MID, sram=far)
    heavy = replace(CONV, weights=replace(WEIGHTS, weight_bytes=1 << 20, fast=True))
    copied = list(timetable([STAGE, DmaWait(0), heavy], 1024, profile))[-1].kernel
    assert copied.memory == pytest.approx(2 * kernel_cycles([heavy], 1024, profile).memory, rel=0.01)


def test_weight_decoders_work_for_convolutions_only():
    assert kernel(CONV).weight_decoder == 64 * 64 // 16  # weights, of which the decoder gives 16 a cycle
    assert kernel(ADD).weight_decoder == kernel(replace(CONV, weights=None)).weight_decoder == 0


def test_sparse_weights_are_decoded_in_less_time():
    deep = replace(CONV, ifms=(feature_map(depth=128),))
    sparse = replace(deep, weights=replace(WEIGHTS, sparse=True))
    assert 0 < kernel(sparse).weight_decoder <= kernel(deep).weight_decoder // 2


def test_traffic_is_what_an_operation_reads_and_writes():
    size = 16 * 16 * 64
    assert kernel(ADD).traffic == Traffic(sram_read=2 * size, sram_written=size)
    outside = replace(ADD, ofm=feature_map(memory=Memory.EXTERNAL))
    assert kernel(outside).traffic == Traffic(sram_read=2 * size, external_written=size)


def test_bytes_moved_in_vain_are_no_traffic():
    apart = feature_map(depth=128, brick=False)
    slow = replace(ADD, ofm=apart, ifms=(apart,), ofm_block=(16, 16, 16))
    assert kernel(slow).traffic == Traffic(sram_read=16 * 16 * 128, sram_written=16 * 16 * 128)


def test_copied_scales_are_read_where_they_are():
    copied = list(timetable([STAGE, DmaWait(0), CONV], 256, SYS_DRAM_MID))[-1].traffic
    assert copied == kernel(CONV).traffic
    assert copied.sram_read > 4096 + 640
    assert copied.external_read == 0


def test_copy_is_read_once_and_written_once():
    assert estimate([COPY], 256, SYS_DRAM_MID).traffic == Traffic(external_read=6000, sram_written=6000)
    table = replace(COPY, destination=Memory.LUT)
    assert estimate([table], 256, SYS_DRAM_MID).traffic == Traffic(external_read=6000)


def test_timetable_has_a_slot_for_each_operation_and_transfer():
    first = replace(ADD, ofm=feature_map(memory=Memory.CHAINED))
    second = replace(ADD, ifms=(feature_map(memory=Memory.CHAINED), feature_map()))
    slots = list(timetable([COPY, DmaWait(0), first, second, CONV], 256, SYS_DRAM_MID))
    assert [(slot.first, slot.last) for slot in slots] == [(0, 0), (2, 3), (4, 4)]
    assert [slot.start for slot in slots[1:]] == [slot.end for slot in slots[:-1]]
    assert slots[-1].end == total(COPY, DmaWait(0), first, second, CONV)


@settings(deadline=None)
@given(work=st.lists(works, max_size=8), macs=st.sampled_from(MAC_COUNTS))
def test_no_part_is_active_longer_than_the_whole(work, macs):
    cycles = estimate(work, macs, SYS_DRAM_MID)
    assert max(cycles.mac, cycles.weight_decoder, cycles.output_stage) <= cycles.total


def test_empty_stream_takes_no_time():
    assert total() == 0
