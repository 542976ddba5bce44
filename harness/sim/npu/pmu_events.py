"""The events that software can ask the performance counters for, and how often a job causes those it counts.

Numbers and names: pmu_event in Vela 5.2, regor/architecture/ethosu85/ethos_u85_interface.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from harness.sim.npu.cycles import BEAT_BYTES, CycleEstimate


class Event(IntEnum):
    """Events that follow from the cycle estimate."""

    NONE = 0
    CYCLE = 17
    NPU_IDLE = 32
    NPU_ACTIVE = 35
    MAC_ACTIVE = 48
    AO_ACTIVE = 64
    WD_ACTIVE = 80
    SRAM_RD_DATA_BEAT_RECEIVED = 130
    SRAM_WR_DATA_BEAT_WRITTEN = 135
    EXT_RD_DATA_BEAT_RECEIVED = 386
    EXT_WR_DATA_BEAT_WRITTEN = 391


_UNCOUNTED = {
    33: "CC_STALLED_ON_BLOCKDEP",
    34: "CC_STALLED_ON_SHRAM_RECONFIG",
    51: "MAC_DPU_ACTIVE",
    52: "MAC_STALLED_BY_W_OR_ACC",
    53: "MAC_STALLED_BY_W",
    54: "MAC_STALLED_BY_ACC",
    55: "MAC_STALLED_BY_IB",
    57: "MAC_STALLED_BY_INT_W",
    58: "MAC_STALLED_BY_INT_ACC",
    67: "AO_STALLED_BY_BS_OR_OB",
    68: "AO_STALLED_BY_BS",
    69: "AO_STALLED_BY_OB",
    70: "AO_STALLED_BY_AB_OR_CB",
    71: "AO_STALLED_BY_AB",
    72: "AO_STALLED_BY_CB",
    81: "WD_STALLED",
    83: "WD_STALLED_BY_WD_BUF",
    84: "WD_STALLED_BY_WS_FC",
    85: "WD_STALLED_BY_WS_TC",
    89: "WD_TRANS_WBLK",
    90: "WD_TRANS_WS_FC",
    91: "WD_TRANS_WS_TC",
    96: "WD_STALLED_BY_WS_SC0",
    97: "WD_STALLED_BY_WS_SC1",
    98: "WD_STALLED_BY_WS_SC2",
    99: "WD_STALLED_BY_WS_SC3",
    100: "WD_PARSE_ACTIVE_SC0",
    101: "WD_PARSE_ACTIVE_SC1",
    102: "WD_PARSE_ACTIVE_SC2",
    103: "WD_PARSE_ACTIVE_SC3",
    104: "WD_PARSE_STALL_SC0",
    105: "WD_PARSE_STALL_SC1",
    106: "WD_PARSE_STALL_SC2",
    107: "WD_PARSE_STALL_SC3",
    108: "WD_PARSE_STALL_IN_SC0",
    109: "WD_PARSE_STALL_IN_SC1",
    110: "WD_PARSE_STALL_IN_SC2",
    111: "WD_PARSE_STALL_IN_SC3",
    112: "WD_PARSE_STALL_OUT_SC0",
    113: "WD_PARSE_STALL_OUT_SC1",
    114: "WD_PARSE_STALL_OUT_SC2",
    115: "WD_PARSE_STALL_OUT_SC3",
    116: "WD_TRANS_WS_SC0",
    117: "WD_TRANS_WS_SC1",
    118: "WD_TRANS_WS_SC2",
    119: "WD_TRANS_WS_SC3",
    120: "WD_TRANS_WB0",
    121: "WD_TRANS_WB1",
    122: "WD_TRANS_WB2",
    123: "WD_TRANS_WB3",
    128: "SRAM_RD_TRANS_ACCEPTED",
    129: "SRAM_RD_TRANS_COMPLETED",
    131: "SRAM_RD_TRAN_REQ_STALLED",
    132: "SRAM_WR_TRANS_ACCEPTED",
    133: "SRAM_WR_TRANS_COMPLETED_M",
    134: "SRAM_WR_TRANS_COMPLETED_S",
    136: "SRAM_WR_TRAN_REQ_STALLED",
    137: "SRAM_WR_DATA_BEAT_STALLED",
    140: "SRAM_ENABLED_CYCLES",
    142: "SRAM_RD_STALL_LIMIT",
    143: "SRAM_WR_STALL_LIMIT",
    160: "AXI_LATENCY_ANY",
    161: "AXI_LATENCY_32",
    162: "AXI_LATENCY_64",
    163: "AXI_LATENCY_128",
    164: "AXI_LATENCY_256",
    165: "AXI_LATENCY_512",
    166: "AXI_LATENCY_1024",
    176: "ECC_DMA",
    177: "ECC_MAC_IB",
    178: "ECC_MAC_AB",
    179: "ECC_AO_CB",
    180: "ECC_AO_OB",
    181: "ECC_AO_LUT",
    384: "EXT_RD_TRANS_ACCEPTED",
    385: "EXT_RD_TRANS_COMPLETED",
    387: "EXT_RD_TRAN_REQ_STALLED",
    388: "EXT_WR_TRANS_ACCEPTED",
    389: "EXT_WR_TRANS_COMPLETED_M",
    390: "EXT_WR_TRANS_COMPLETED_S",
    392: "EXT_WR_TRAN_REQ_STALLED",
    393: "EXT_WR_DATA_BEAT_STALLED",
    396: "EXT_ENABLED_CYCLES",
    398: "EXT_RD_STALL_LIMIT",
    399: "EXT_WR_STALL_LIMIT",
}
"""Events that the hardware has and no estimate exists for."""


def event_counts(estimate: CycleEstimate, elapsed: int) -> Mapping[Event, int]:
    """Return how often each event happens in a job that takes `elapsed` cycles.

    The NPU is active while an operation or a DMA transfer is under way.  Each part's activity is what the
    estimate says it needs; a beat is 16 bytes, and the fetch of the command stream itself is not counted.
    """
    moved = estimate.traffic
    return {
        Event.CYCLE: elapsed,
        Event.NPU_IDLE: elapsed - estimate.total,
        Event.NPU_ACTIVE: estimate.total,
        Event.MAC_ACTIVE: estimate.mac,
        Event.AO_ACTIVE: estimate.output_stage,
        Event.WD_ACTIVE: estimate.weight_decoder,
        Event.SRAM_RD_DATA_BEAT_RECEIVED: _beats(moved.sram_read),
        Event.SRAM_WR_DATA_BEAT_WRITTEN: _beats(moved.sram_written),
        Event.EXT_RD_DATA_BEAT_RECEIVED: _beats(moved.external_read),
        Event.EXT_WR_DATA_BEAT_WRITTEN: _beats(moved.external_written),
    }


def refusal(event: int) -> str:
    """Say that an event is not counted, with the name it has where it has one."""
    return f"PMU event {event} ({_UNCOUNTED.get(event, 'no event of this NPU')}) is not counted"


def _beats(amount: int) -> int:
    return -(-amount // BEAT_BYTES)
