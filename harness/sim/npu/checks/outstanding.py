"""Work that is still going on when the next command starts, and waits that are missing because of it.

Kernels run beside transfers, and transfers beside each other.  The compiler keeps a list of each, and before
a command that touches bytes which an entry of the other list, or a transfer, touches too - unless both only
read - it puts a wait that leaves no more than the younger entries outstanding (Vela 5.2,
regor/architecture/ethosu85/ethos_u85_register_cs_generator.cpp, CalcCommandWaits and GenerateCommandStream).
Operations chained without going through memory are one kernel.  Of kernels among each other, BLOCKDEP takes
care.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.sim.npu import cycles
from harness.sim.npu.checks.finding import Check, CheckFinding
from harness.sim.npu.checks.footprint import Copy, Kernel, Touch, common_bytes
from harness.sim.npu.checks.visit import Visit
from harness.sim.npu.cycles.timeline import KERNELS_OUTSTANDING, TRANSFERS_OUTSTANDING
from harness.sim.npu.feature_map import Chained
from harness.sim.npu.program import Wait


@dataclass(frozen=True)
class _Clash:
    """Bytes that a new and an outstanding operation both touch."""

    touch: Touch
    where: tuple[int, int]
    certain: bool


class Outstanding:
    """The kernels and transfers that may not have ended yet, in the order in which they were started."""

    def __init__(self) -> None:
        self._kernels: deque[list[Visit]] = deque(maxlen=KERNELS_OUTSTANDING)
        self._transfers: deque[list[Visit]] = deque(maxlen=TRANSFERS_OUTSTANDING)
        self._chain: list[Visit] = []

    def enter(self, visit: Visit) -> Iterator[CheckFinding]:
        """Take note of a command; yield the waits that are missing before it."""
        operation = visit.step.operation
        if isinstance(operation, Wait):
            self._wait(operation.wait)
            return
        yield from _missing(Check.MISSING_DMA_WAIT, visit, self._transfers)
        if isinstance(operation, Copy):
            yield from _missing(Check.MISSING_KERNEL_WAIT, visit, self._kernels)
            self._transfers.append([visit])
        else:
            self._chain.append(visit)
            if ends_chain(visit):
                self._kernels.append(self._chain)
                self._chain = []

    def _wait(self, wait: cycles.KernelWait | cycles.DmaWait) -> None:
        queue = self._kernels if isinstance(wait, cycles.KernelWait) else self._transfers
        while len(queue) > wait.outstanding:
            queue.popleft()


def ends_chain(visit: Visit) -> bool:
    """Whether the next operation is another kernel: not where it takes the result from a chaining buffer.

    One that goes on with accumulators is another kernel (Vela 5.2, GenerateOpGroup in
    regor/architecture/ethosu85/ethos_u85_register_cs_generator.cpp).
    """
    operation = visit.step.operation
    if not isinstance(operation, Kernel) or not operation.output.ends:
        return True
    return not isinstance(operation.output.ofm, Chained)


def _missing(check: Check, visit: Visit, queue: Iterable[list[Visit]]) -> Iterator[CheckFinding]:
    """Yield a finding on the youngest entry that clashes: the wait for it is one for the older ones too."""
    entries = list(queue)
    for younger, entry in enumerate(reversed(entries)):
        for other in entry:
            clash = _clash(visit, other)
            if clash is not None:
                started = other.step.command
                used = "written" if clash.touch.writes else "read"
                detail = (
                    f"{used} while {started.name} at {started.offset:#x} may use them, "
                    f"without a wait until at most {younger} are outstanding"
                )
                yield visit.finding(check, clash.touch, clash.where, detail, certain=clash.certain)
                return


def _clash(visit: Visit, other: Visit) -> _Clash | None:
    """Return what two operations must not do at the same time, preferably for certain."""
    found: _Clash | None = None
    for touch in visit.touches:
        for outstanding in other.touches:
            apart = visit.distance(touch, outstanding)
            if apart is None or not (touch.writes or outstanding.writes):
                continue
            where = common_bytes(touch, outstanding, apart)
            if where is not None:
                found = _Clash(touch, where, touch.certain and outstanding.certain)
                if found.certain:
                    return found
    return found
