"""Results that are written over operands which are still to be read.

An operation that makes each output element from the input element at the same place may write over its input
(Vela 5.2, regor/compiler/live_range.cpp, IsOp1To1 and ReusableIFM): elementwise operations, and pooling with
a kernel of one element, when the input is stored exactly as the output and nothing is transposed or reversed.
A chain of such operations may as well, and a convolution on what its accumulators start from.  All others
read input elements more than once, or elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.sim.npu.checks.finding import Check, CheckFinding
from harness.sim.npu.checks.footprint import Kernel, common_bytes, feature_map_touches, operands
from harness.sim.npu.checks.visit import Visit
from harness.sim.npu.convolution import Convolution
from harness.sim.npu.elementwise import Arithmetic
from harness.sim.npu.faults import Channel
from harness.sim.npu.feature_map import InMemory, Operand
from harness.sim.npu.opcodes import Pooling
from harness.sim.npu.pooling import PassThrough, Pool

_IN_ORDER = (0, 1, 2)
_WINDOWS_OF_ONE = (Pooling.MAX, Pooling.MIN, Pooling.SUM, Pooling.AVERAGE)


def overlaps(chain: Sequence[tuple[Visit, Kernel]]) -> Iterator[CheckFinding]:
    """Yield the operands of a chain that its result lies on without being allowed to."""
    last, final = chain[-1]
    if not isinstance(final.output.ofm, InMemory):
        return
    in_place = all(_is_one_to_one(kernel) for _, kernel in chain)
    for visit, kernel in chain:
        for operand in operands(kernel):
            allowed = in_place or (kernel is final and operand is _start(kernel))
            if isinstance(operand, InMemory) and not (allowed and _same_elements(operand, final.output.ofm)):
                yield from _overlap(visit, operand, last, final.output.ofm)


def _start(kernel: Kernel) -> Operand | None:
    """Return what accumulators start from, which they take over element by element."""
    return kernel.start if isinstance(kernel, Convolution) and _keeps_order(kernel) else None


def _overlap(visit: Visit, operand: InMemory, last: Visit, ofm: InMemory) -> Iterator[CheckFinding]:
    for written in last.pieces(ofm, Channel.OFM):
        for read in visit.pieces(operand, Channel.IFM):
            apart = visit.distance(written, read)
            where = None if apart is None else common_bytes(written, read, apart)
            if where is not None:
                detail = (
                    f"written while {visit.step.command.name} at {visit.step.command.offset:#x} reads them"
                )
                yield last.finding(Check.OVERLAP, written, where, detail)
                return


def _is_one_to_one(kernel: Kernel) -> bool:
    if not _keeps_order(kernel):
        return False
    if isinstance(kernel, Pool):
        window = kernel.window
        return kernel.mode in _WINDOWS_OF_ONE and window.kernel == (1, 1) == window.stride
    return isinstance(kernel, Arithmetic | PassThrough)


def _keeps_order(kernel: Kernel) -> bool:
    return kernel.output.transpose == _IN_ORDER and kernel.output.reverse is None


def _same_elements(operand: InMemory, ofm: InMemory) -> bool:
    read, written = (
        [
            (touch.region, touch.offset, touch.shape, touch.strides)
            for touch in feature_map_touches(each, channel)
        ]
        for each, channel in ((operand, Channel.IFM), (ofm, Channel.OFM))
    )
    return operand.dtype.itemsize == ofm.dtype.itemsize and read == written
