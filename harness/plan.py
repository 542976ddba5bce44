"""What to run: which models, how often, in which lifetime modes, with which inputs."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

from harness.errors import UsageError
from harness.models.compiled import CompiledModel, common_macs
from harness.models.inputs import InputSet


class DriverLifetime(StrEnum):
    """How long network and buffer objects live."""

    PER_INFERENCE = "per-inference"  #: created, and zeroed and freed, within every inference
    PERSISTENT = "persistent"  #: created once at initialisation, freed at destroy


class IoLifetime(StrEnum):
    """How long input and output memory is mapped for the CPU."""

    PER_INFERENCE = "per-inference"  #: mapped and unmapped around every copy of a tensor
    PERSISTENT = "persistent"  #: each memory mapped once at initialisation, unmapped at destroy


class TempAllocator(StrEnum):
    """What temporary memory is taken from; both are reset after every inference."""

    MALLOC = "malloc"  #: every allocation is one of the heap, a reset frees all
    CACHING = "caching"  #: a reset keeps the blocks for allocations of the same size


class Scratch(StrEnum):
    """Where the NPU's scratch memory comes from."""

    BUFFER = "buffer"  #: a driver object, as on Linux
    TEMP = "temp"  #: the temporary allocator, anew in each inference, as on Cortex-M


class Zeroing(StrEnum):
    """What happens to DMA memory when its object is destroyed."""

    KERNEL = "kernel"  #: it is cleared, as Linux does
    NONE = "none"  #: it keeps what it held, for the next object to find


class Program(StrEnum):
    """What the runner firmware does with its plan."""

    CELLS = "cells"  #: run every cell
    CALIBRATE = "calibrate"  #: measure what objects and bytes cost


@dataclass(frozen=True)
class Mode:
    """One point of the mode matrix: a lifetime for each axis."""

    driver: DriverLifetime = DriverLifetime.PER_INFERENCE
    io: IoLifetime = IoLifetime.PER_INFERENCE
    temp: TempAllocator = TempAllocator.MALLOC

    def __str__(self) -> str:
        return f"driver={self.driver},io={self.io},temp={self.temp}"

    def __lt__(self, other: Mode) -> bool:
        """Whether `other` keeps more from one inference to the next: longer in some axis, shorter in none.

        This is a partial order: of two modes that differ in both directions neither is less.
        """
        return self != other and all(
            mine in (theirs, first)
            for mine, theirs, first in zip(self.axes, other.axes, PER_INFERENCE.axes, strict=True)
        )

    @property
    def axes(self) -> tuple[DriverLifetime, IoLifetime, TempAllocator]:
        """The value of each axis."""
        return self.driver, self.io, self.temp


_AXES: Mapping[str, type[StrEnum]] = {"driver": DriverLifetime, "io": IoLifetime, "temp": TempAllocator}

PER_INFERENCE = Mode()
PERSISTENT = Mode(DriverLifetime.PERSISTENT, IoLifetime.PERSISTENT, TempAllocator.CACHING)
DRIVER_PERSISTENT = replace(PER_INFERENCE, driver=DriverLifetime.PERSISTENT)
IO_PERSISTENT = replace(PER_INFERENCE, io=IoLifetime.PERSISTENT)
TEMP_CACHING = replace(PER_INFERENCE, temp=TempAllocator.CACHING)
DRIVER_MODES = (PER_INFERENCE, DRIVER_PERSISTENT)
ALL_MODES = tuple(Mode(*values) for values in product(DriverLifetime, IoLifetime, TempAllocator))

_NAMED_MODES = {
    "per-inference": (PER_INFERENCE,),
    "persistent": (PERSISTENT,),
    "driver": DRIVER_MODES,
    "io": (PER_INFERENCE, IO_PERSISTENT),
    "temp": (PER_INFERENCE, TEMP_CACHING),
    "all": ALL_MODES,
}


def parse_modes(*texts: str) -> tuple[Mode, ...]:
    """Modes from names (`driver`, `all`, `persistent`, …) or axes (`driver=persistent,temp=caching`).

    A text may hold several of them, joined by `;`. An axis that is left out is per-inference or malloc; a
    mode that is given twice counts once. Raises UsageError that says what is allowed.
    """
    parts = (part.strip() for text in texts for part in text.split(";"))
    return tuple(dict.fromkeys(mode for part in parts for mode in _modes(part)))


def _modes(text: str) -> tuple[Mode, ...]:
    if text in _NAMED_MODES:
        return _NAMED_MODES[text]
    if "=" not in text:
        raise UsageError(
            f"unknown mode {text!r}; allowed: {', '.join(_NAMED_MODES)}, or axes such as driver=persistent"
        )
    values: dict[str, str] = {}
    for part in text.split(","):
        axis, _, value = part.strip().partition("=")
        if axis not in _AXES:
            raise UsageError(f"unknown axis {axis!r} in mode {text!r}; allowed: {', '.join(_AXES)}")
        if value not in tuple(_AXES[axis]):
            raise UsageError(
                f"axis {axis} has no value {value!r} in mode {text!r}; allowed: {', '.join(_AXES[axis])}"
            )
        if axis in values:
            raise UsageError(f"mode {text!r} says its axis {axis} twice")
        values[axis] = value
    return (mode_of(values),)


def mode_of(values: Mapping[str, str]) -> Mode:
    """The mode with these values of its axes; one left out is per-inference or malloc. Raises ValueError."""
    return Mode(
        DriverLifetime(values.get("driver", PER_INFERENCE.driver)),
        IoLifetime(values.get("io", PER_INFERENCE.io)),
        TempAllocator(values.get("temp", PER_INFERENCE.temp)),
    )


@dataclass(frozen=True)
class Load:
    """How much is run, and where its memory comes from."""

    inferences: int = 3  #: of each model in each mode; A, B, A shows what B leaves behind
    copies: int = 1  #: how often each model is loaded at once
    scratch: Scratch = Scratch.BUFFER
    zeroing: Zeroing = Zeroing.KERNEL
    keep_state: bool = False  #: variables go on from one inference to the next; else each starts anew


@dataclass(frozen=True)
class PlannedModel:
    """A model and the input sets its cells choose from."""

    compiled: CompiledModel
    inputs: tuple[InputSet, ...]
    histories: int = 0
    """How many histories (see harness/models/history.py) the input sets are: equally long, one after another.

    0: they are independent of each other, and may come in any order.
    """

    def input_of(self, slot: int, turn: int, sequence: Sequence[int]) -> int:
        """The input set of an inference: which of the model in `slot`, counted from 0.

        Raises UsageError for a turn behind the end of the model's histories.
        """
        if not self.histories:
            return (sequence[turn % len(sequence)] + slot) % len(self.inputs)
        length = len(self.inputs) // self.histories
        if turn >= length:
            raise UsageError(f"{self.compiled.name} is fed histories of {length} inferences, not of more")
        return slot % self.histories * length + turn


@dataclass(frozen=True)
class Job:
    """One inference: the model in `slot` of the cell, on the input set `input` of that model."""

    slot: int
    input: int


@dataclass(frozen=True)
class Cell:
    """Some models, loaded at once, in one mode: initialise each, run the jobs, destroy each."""

    mode: Mode
    models: tuple[int, ...]  #: for each slot an index into Plan.models; a model may be loaded more than once
    jobs: tuple[Job, ...]


class FailingStage(StrEnum):
    """The stages in which a step can be made to fail."""

    INIT = "init"
    INFER = "infer"


FAILING_STEPS: Mapping[FailingStage, tuple[str, ...]] = {
    FailingStage.INIT: (
        *("io_memory", "map", "network", "weights", "scratch"),
        *("write_state", "inputs", "outputs"),
    ),
    FailingStage.INFER: (
        *("network", "weights", "scratch", "write_state", "inputs", "write_inputs", "outputs"),
        *("submit", "save_state", "read_outputs"),
    ),
}
"""The steps that create or map something. Which of them a stage has depends on the mode and the model."""


@dataclass(frozen=True)
class Failure:
    """A step that is made to fail, in every cell that has it."""

    stage: FailingStage
    step: str  #: one of FAILING_STEPS
    slot: int = 0
    occurrence: int = 0  #: in which run of that stage for that slot
    call: int = 0  #: which of the step's calls, such as creating an object and then its memory

    def __post_init__(self) -> None:
        """Raise UsageError for a step that the stage never has."""
        allowed = FAILING_STEPS[self.stage]
        if self.step not in allowed:
            raise UsageError(f"{self.stage} has no step {self.step!r}; allowed: {', '.join(allowed)}")


@dataclass(frozen=True)
class Plan:
    """Everything one firmware image runs, in order.

    The nonce makes one run's console text unlike any other's; it is stamped into the built image, so that it
    changes neither the build nor an instruction count.
    """

    models: tuple[PlannedModel, ...]
    cells: tuple[Cell, ...]
    program: Program = Program.CELLS
    nonce: str = "0" * 16
    inference_timeout_ms: int = 60_000  #: board time, as in the Linux driver
    scratch: Scratch = Scratch.BUFFER
    temp_limit: int = 16 << 20  #: bytes that the caching allocator keeps at most
    zeroing: Zeroing = Zeroing.KERNEL
    shared_io: bool = False  #: the inputs and outputs of a model lie in one memory, mapped as one
    poison: bool = True  #: outputs are overwritten before each inference, to see that it writes them
    keep_state: bool = False  #: variables go on from one inference to the next; else each starts anew
    failures: tuple[Failure, ...] = ()
    misalign_stream: bool = False  #: move command streams off the alignment that the NPU needs

    @property
    def macs(self) -> int | None:
        """The MAC count that the models are for; None without any.  Raises UsageError for several."""
        return common_macs(model.compiled for model in self.models) if self.models else None

    def with_fresh_nonce(self) -> Plan:
        """The same plan for one more run."""
        return replace(self, nonce=secrets.token_hex(8))


def plan_comparison(
    model: PlannedModel, modes: Iterable[Mode], sequence: Sequence[int], inferences: int | None = None
) -> Plan:
    """A plan that runs one model in several modes on the same inputs.

    `sequence` names an input set for each inference; with `inferences` it is repeated to that number.
    """
    return plan_loaded((model,), modes, sequence, inferences)


def plan_loaded(
    models: Sequence[PlannedModel],
    modes: Iterable[Mode],
    sequence: Sequence[int],
    inferences: int | None = None,
) -> Plan:
    """A plan that loads several models at once, in each mode, and runs them in turn.

    Each goes through `sequence` as in plan_comparison, starting one input set later than the model before it,
    so that neighbouring inferences differ in model and input: A of the first, B of the second, and so on.
    `inferences` counts those of each model.
    """
    distinct = tuple(dict.fromkeys(models))
    slots = tuple(distinct.index(model) for model in models)
    count = len(sequence) if inferences is None else inferences
    jobs = tuple(
        Job(slot, model.input_of(slot, turn, sequence))
        for turn in range(count)
        for slot, model in enumerate(models)
    )
    return Plan(models=distinct, cells=tuple(Cell(mode, slots, jobs) for mode in modes))
