"""One run of a plan as its records tell it: cells, stages, inferences, faults."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NewType

from harness.plan import Mode

Instructions = NewType("Instructions", int)  #: retired CPU instructions (PMU event 0x08)
NpuCycles = NewType("NpuCycles", int)  #: cycles of the NPU's own clock

PHASES = ("create", "write_inputs", "submit", "wait", "read_outputs", "release", "sram_clear")
COST_PHASES = ("create", "write_inputs", "submit", "read_outputs", "release")
"""The phases of an inference that a lifetime can change. `wait` is the NPU's; `sram_clear` is shown apart."""


@dataclass(frozen=True)
class Stage:
    """What initialisation, one inference or destroy cost."""

    phases: Mapping[str, Instructions]  #: one entry for each of PHASES
    counts: Mapping[str, int]  #: objects created, and bytes copied, zeroed, cleaned and invalidated

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
class CellRecord:
    """One model in one mode, from initialisation to destroy."""

    model: int
    mode: Mode
    status: str
    init: Stage
    inferences: tuple[Inference, ...]
    destroy: Stage
    live_objects: int  #: driver objects left at the end
    pool_used: int  #: bytes of the DMA pool left in use at the end
    pool_peak: int  #: the most bytes of the DMA pool in use at any time


@dataclass(frozen=True)
class Fault:
    """A fault that the firmware reported. `index` is None outside an inference, `cell` outside a cell."""

    cell: int | None
    index: int | None
    kind: str
    details: Mapping[str, str]

    def __str__(self) -> str:
        details = " ".join(f"{key}={value}" for key, value in self.details.items())
        return f"{self.kind} {details}".strip()


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
