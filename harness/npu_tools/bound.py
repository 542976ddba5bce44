"""What an operation waits for most."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from harness.sim.npu.cycles import KernelCycles, KernelWork, Memory, MemoryProfile
from harness.sim.npu.cycles.kernel import kernel_cycles

INSIDE = Memory.LUT  #: stands for memory inside the NPU: what lies there makes no traffic


class Bound(StrEnum):
    """The part that decides how long an operation takes; the values fit a table."""

    MAC = "MAC"  #: the MAC array multiplies
    WEIGHT_DECODER = "decoder"  #: the MAC array waits for the weight decoder
    OUTPUT_STAGE = "output"
    ISSUE = "issue"  #: commands for blocks are issued
    LATENCY = "latency"  #: the first block is being filled, or the last one drained
    IFM_READ = "IFM read"
    OFM_WRITE = "OFM write"
    WEIGHT_READ = "weights"
    SCALE_READ = "scales"
    DMA = "DMA"
    HIDDEN = "hidden"  #: nothing: it runs beneath other work


Change = Callable[[KernelWork], KernelWork]


def _without_ifms(work: KernelWork) -> KernelWork:
    return replace(work, ifms=tuple(replace(ifm, memory=INSIDE) for ifm in work.ifms))


def _without_ofm(work: KernelWork) -> KernelWork:
    return work if work.ofm.memory is Memory.CHAINED else replace(work, ofm=replace(work.ofm, memory=INSIDE))


def _without_weights(work: KernelWork) -> KernelWork:
    return replace(work, weights=work.weights and replace(work.weights, weight_bytes=0))


def _without_scales(work: KernelWork) -> KernelWork:
    return replace(work, weights=work.weights and replace(work.weights, scale_bytes=0))


_WITHOUT: dict[Bound, Change] = {
    Bound.IFM_READ: _without_ifms,
    Bound.OFM_WRITE: _without_ofm,
    Bound.WEIGHT_READ: _without_weights,
    Bound.SCALE_READ: _without_scales,
}
"""The same operation without one of the things that it moves."""


def bound_of(chain: Sequence[KernelWork], cycles: KernelCycles, macs: int, profile: MemoryProfile) -> Bound:
    """What bounds an operation with those chained to it; `cycles` is their `kernel_cycles`.

    Where the memories take longest, it is the traffic without which they would be done soonest.
    """
    if cycles.memory >= cycles.total:
        needed = {
            bound: kernel_cycles([change(work) for work in chain], macs, profile).memory
            for bound, change in _WITHOUT.items()
        }
        return min(needed, key=lambda bound: needed[bound])
    array = Bound.WEIGHT_DECODER if cycles.weight_decoder >= cycles.mac else Bound.MAC
    busy = {array: cycles.mac, Bound.OUTPUT_STAGE: cycles.output_stage, Bound.ISSUE: cycles.issue}
    longest = max(busy, key=lambda bound: busy[bound])
    return longest if 2 * busy[longest] >= cycles.total else Bound.LATENCY
