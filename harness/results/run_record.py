"""One run of a plan as its records tell it: cells, stages, inferences, faults."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NewType

from harness.plan import Mode

Instructions = NewType("Instructions", int)  #: retired CPU instructions (PMU event 0x08)
NpuCycles = NewType("NpuCycles", int)  #: cycles of the NPU's own clock

PHASES = ("create", "write_inputs", "submit", "wait", "read_outputs", "release", "sram_clear", "state")
COST_PHASES = ("create", "write_inputs", "submit", "read_outputs", "release", "state")
"""The phases of an inference that a lifetime can change. `wait` is the NPU's; `sram_clear` is shown apart."""

COUNTS = (
    "networks",  # objects created
    "buffers",
    "inferences",
    "memories",  # blocks of the DMA pool taken for all of these
    "maps",  # memories mapped for the CPU, and unmapped, by the runner
    "unmaps",
    "driver_maps",  # the same by the driver: pages back to the CPU at destroy, taken from it at creation
    "driver_unmaps",
    "pages",  # page table entries written for all of these
    "tlb",  # TLB maintenance operations
    "allocations",  # of the heap, for temporary memory
    "frees",
    "reused",  # blocks that the caching allocator had kept
    "copied",  # bytes
    "zeroed",
    "cleaned",
    "invalidated",
)


@dataclass(frozen=True)
class Memory:
    """Bytes in use when a stage ended, and the most that were in use at any time of it."""

    pool_used: int = 0  #: of the DMA pool
    pool_peak: int = 0
    heap_used: int = 0  #: of the heap that temporary memory comes from, with its bookkeeping
    heap_peak: int = 0
    temp_used: int = 0  #: temporary memory, live or kept for reuse
    temp_peak: int = 0


@dataclass(frozen=True)
class Stage:
    """What initialisation, one inference or destroy cost."""

    phases: Mapping[str, Instructions]  #: one entry for each of PHASES
    counts: Mapping[str, int]  #: one entry for each of COUNTS
    memory: Memory = Memory()

    @property
    def cost(self) -> Instructions:
        """The CPU instructions that a lifetime can change: all phases but `wait` and `sram_clear`."""
        return Instructions(sum(self.phases[phase] for phase in COST_PHASES))


@dataclass(frozen=True)
class Inference:
    """One inference: its outcome, its cost, and its outputs when it had any."""

    index: int
    input: str  #: label of its input set
    status: str  #: "ok", or what went wrong
    npu_cycles: NpuCycles
    elapsed_ns: (
        int  #: from submission to completion by the board's generic timer, measured outside the driver
    )
    stage: Stage
    outputs: tuple[bytes, ...]  #: one per network output; empty unless the status is "ok"

    @property
    def digests(self) -> tuple[str, ...]:
        """SHA-256 of each output."""
        return tuple(hashlib.sha256(output).hexdigest() for output in self.outputs)


@dataclass(frozen=True)
class Leak:
    """Something that was left when its cell had ended."""

    kind: str  #: "network", "buffers", "inference", "memory" or "mapping"
    size: int  #: bytes
    step: str  #: what the runner was doing when it was created


@dataclass(frozen=True)
class Place:
    """Where the NPU found something; an inference may find it elsewhere than the one before."""

    name: str  #: "stream", "weights", "scratch", "inputs" or "outputs"
    address: int
    size: int  #: bytes
    index: int | None = None  #: the inference from which on this holds; None: since initialisation


@dataclass(frozen=True)
class CellRecord:
    """One loaded model of a cell, in the cell's mode, from initialisation to destroy.

    The cell's own numbers, from `live_objects` on, are the same for all of its models.
    """

    model: int
    mode: Mode
    status: str
    init: Stage
    inferences: tuple[Inference, ...]
    destroy: Stage
    live_objects: int  #: driver objects left at the end
    pool_used: int  #: bytes of the DMA pool left in use at the end
    pool_peak: int  #: the most bytes of the DMA pool in use at any time
    pool_held: int = 0  #: bytes of the DMA pool in use between inferences
    heap_used: int = 0  #: bytes of the heap left in use at the end
    heap_peak: int = 0  #: the most bytes of the heap in use at any time
    temp_held: int = 0  #: bytes of temporary memory in use between inferences
    temp_peak: int = 0  #: the most bytes of temporary memory in use at any time
    cell: int = 0  #: index into Plan.cells
    slot: int = 0  #: which of the cell's models this is
    leaks: tuple[Leak, ...] = ()  #: of this model
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Fault:
    """A fault that the firmware reported. `index` is None outside an inference, `cell` outside a cell."""

    cell: int | None
    index: int | None
    kind: str
    details: Mapping[str, str]
    slot: int | None = None  #: which of the cell's models
    model: int | None = None  #: index into Plan.models of the model in that slot
    mode: Mode | None = None  #: the cell's
    place: str = ""  #: what an exception's address is in, such as "outputs+0x40"; empty when it is in nothing

    def __str__(self) -> str:
        details = " ".join(f"{key}={value}" for key, value in self.details.items())
        return f"{self.kind} {details} {self.place and f'in {self.place}'}".strip()


@dataclass(frozen=True)
class RunRecord:
    """All that one run said."""

    build: str  #: digest of what the image was built from
    npu_id: int
    npu_config: int
    window: Instructions  #: cost of an empty measuring window, already taken off every count
    status: str  #: of `bye`
    cells: tuple[CellRecord, ...]
    faults: tuple[Fault, ...]
    noise: tuple[str, ...]

    def of_model(self, model: int) -> RunRecord:
        """What this run says of one of its models; a fault that belongs to none belongs to each."""
        return replace(
            self,
            cells=tuple(cell for cell in self.cells if cell.model == model),
            faults=tuple(fault for fault in self.faults if fault.model in (None, model)),
        )
