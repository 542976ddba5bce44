"""What to run: which models, how often, in which lifetime modes, with which inputs."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import product

from harness.errors import UsageError
from harness.models.compiled import CompiledModel


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


class Program(StrEnum):
    """What the runner firmware does with its plan."""

    CELLS = "cells"  #: run every cell
    CALIBRATE_OBJECTS = "calibrate-objects"  #: measure the instructions of creating and destroying objects
    CALIBRATE_BYTES = (
        "calibrate-bytes"  #: measure the instructions of copying, zeroing, cleaning and invalidating
    )


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
class InputSet:
    """One named set of input tensors: raw bytes, one entry per network input, in the model's order."""

    label: str
    tensors: tuple[bytes, ...]


@dataclass(frozen=True)
class PlannedModel:
    """A model and the input sets its cells choose from."""

    compiled: CompiledModel
    inputs: tuple[InputSet, ...]


@dataclass(frozen=True)
class Cell:
    """One model in one mode: initialise, run the inputs in `sequence`, destroy."""

    model: int  #: index into Plan.models
    mode: Mode
    sequence: tuple[int, ...]  #: for each inference, the index into the model's input sets


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

    def with_fresh_nonce(self) -> Plan:
        """The same plan for one more run."""
        return replace(self, nonce=secrets.token_hex(8))


def plan_comparison(model: PlannedModel, modes: Iterable[Mode], sequence: Sequence[int]) -> Plan:
    """A plan that runs one model in several modes on the same inputs."""
    cells = tuple(Cell(model=0, mode=mode, sequence=tuple(sequence)) for mode in modes)
    return Plan(models=(model,), cells=cells)
