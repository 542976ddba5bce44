"""What a check says: which rule a command breaks, and on which bytes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.sim.npu.faults import NpuFault


class Check(StrEnum):
    """The rules, by the names that findings carry."""

    READ_UNWRITTEN = "read-unwritten"
    """Bytes are read that nothing has written."""
    OUTSIDE_REGION = "outside-region"
    """An access leaves the buffer behind its region."""
    WRITE_PROTECTED = "write-protected"
    """Weights or inputs are written to."""
    MISSING_KERNEL_WAIT = "missing-kernel-wait"
    """A transfer starts while an operation may still use the same bytes."""
    MISSING_DMA_WAIT = "missing-dma-wait"
    """An operation or a transfer starts while a transfer may still use the same bytes."""
    BLOCK_DEPENDENCY = "block-dependency"
    """BLOCKDEP lets an operation read blocks that the operation before it has yet to write."""
    OVERLAP = "overlap"
    """An operation writes over elements that it has yet to read."""
    MISALIGNED = "misaligned"
    """An address is no multiple of what its kind of data needs."""


@dataclass(frozen=True)
class CheckFinding:
    """One command that breaks one rule on one stretch of one region."""

    check: Check
    offset: int  #: bytes from the start of the stream to the command
    opcode: str
    region: int | None  #: None for the NPU's own table RAM
    address: int  #: of the first byte concerned; in the table RAM counted from its start
    size: int  #: how many bytes are concerned, gaps between them left out
    detail: str  #: one line
    certain: bool = True  #: False for what may break the rule and may as well not

    def __str__(self) -> str:
        place = "table RAM" if self.region is None else f"region {self.region}"
        where = f"{self.size} bytes of {place} from {self.address:#x}"
        return f"{self.check} at {self.offset:#x}, {self.opcode}: {where}: {self.detail}"


@dataclass(frozen=True)
class CheckReport:
    """All that the checks say of one stream, by command."""

    findings: tuple[CheckFinding, ...]
    unknown: tuple[
        CheckFinding, ...
    ]  #: what may break a rule, and may as well not: never counted as findings
    fault: NpuFault | None  #: where the stream stops being readable; what follows was not checked
