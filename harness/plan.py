"""What to run: which models, how often, in which lifetime modes, with which inputs."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.errors import UsageError
from harness.models.compiled import CompiledModel


class DriverLifetime(StrEnum):
    """How long network and buffer objects live."""

    PER_INFERENCE = "per-inference"  #: created, and zeroed and freed, within every inference
    PERSISTENT = "persistent"  #: created once at initialisation, freed at destroy


class Program(StrEnum):
    """What the runner firmware does with its plan."""

    CELLS = "cells"  #: run every cell
    CALIBRATE_OBJECTS = "calibrate-objects"  #: measure the instructions of creating and destroying objects
    CALIBRATE_BYTES = (
        "calibrate-bytes"  #: measure the instructions of copying, zeroing, cleaning and invalidating
    )


@dataclass(frozen=True, order=True)
class Mode:
    """One point of the mode matrix: a lifetime for each axis.

    In this version the `io` and `temp` axes have one value each.
    """

    driver: DriverLifetime
    io: str = "per-inference"
    temp: str = "malloc"

    def __str__(self) -> str:
        return f"driver={self.driver},io={self.io},temp={self.temp}"


PER_INFERENCE = Mode(DriverLifetime.PER_INFERENCE)
PERSISTENT = Mode(DriverLifetime.PERSISTENT)
DRIVER_MODES = (PER_INFERENCE, PERSISTENT)

_NAMED_MODES = {
    "per-inference": (PER_INFERENCE,),
    "persistent": (PERSISTENT,),
    "driver": DRIVER_MODES,
    "all": DRIVER_MODES,
}
_AXES = {"driver": tuple(DriverLifetime), "io": ("per-inference",), "temp": ("malloc",)}


def parse_modes(text: str) -> tuple[Mode, ...]:
    """Modes from their name (`driver`, `all`, `persistent`, …) or their axes (`driver=persistent`).

    Raises UsageError that says what is allowed.
    """
    if text in _NAMED_MODES:
        return _NAMED_MODES[text]
    if "=" not in text:
        raise UsageError(
            f"unknown mode {text!r}; allowed: {', '.join(_NAMED_MODES)}, or axes such as driver=persistent"
        )
    axes: dict[str, str] = {}
    for part in text.split(","):
        axis, _, value = part.strip().partition("=")
        if axis not in _AXES:
            raise UsageError(f"unknown axis {axis!r} in mode {text!r}; allowed: {', '.join(_AXES)}")
        if value not in _AXES[axis]:
            raise UsageError(
                f"axis {axis} has no value {value!r} in mode {text!r}; allowed: {', '.join(_AXES[axis])}"
            )
        axes[axis] = value
    if "driver" not in axes:
        raise UsageError(
            f"mode {text!r} does not say its driver lifetime; add driver=per-inference or persistent"
        )
    return (Mode(DriverLifetime(axes["driver"])),)


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
