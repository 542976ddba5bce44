"""What goes onto the disk, under which names, and which command lines use it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from harness.boards.config import Linux
from harness.linux.implementation import INFERENCES, INPUTS, MODEL, OUTPUT, RunnerImplementation
from harness.models.catalog import ModelKind, ModelSource
from harness.models.compiled import CompiledModel
from harness.models.inputs import InputSet, standard_inputs

_OUTPUT_BASE = "harness-output"


@dataclass(frozen=True)
class LinuxModel:
    """A model: its file as the user gave it, which the runner reads, and what the harness knows of it."""

    compiled: CompiledModel
    file: bytes
    inputs: tuple[InputSet, ...]

    @classmethod
    def of(cls, source: ModelSource, compiled: CompiledModel) -> LinuxModel:
        """A model with the standard inputs, its tensors in the order in which runners count them."""
        if source.kind is ModelKind.PTE:
            # Runners go by the method's list, whose places are in the names; a delegate's order may differ.
            inputs, outputs = (
                tuple(sorted(tensors, key=lambda tensor: int(tensor.name.rpartition("_")[2])))
                for tensors in (compiled.inputs, compiled.outputs)
            )
            compiled = replace(compiled, inputs=inputs, outputs=outputs)
        return cls(compiled, source.data, standard_inputs(compiled))


@dataclass(frozen=True)
class LinuxPlan:
    """Every implementation with every input set of every model."""

    implementations: tuple[RunnerImplementation, ...]
    models: tuple[LinuxModel, ...]
    inferences: int  #: of the process that does several
    linux: Linux = field(repr=False)

    def files(self) -> Mapping[str, bytes]:
        """The files of the disk. FAT keeps upper-case names of eight and three characters as they are."""
        programs = {_program(number): each.program for number, each in enumerate(self.implementations)}
        models = {_model(number): model.file for number, model in enumerate(self.models)}
        inputs = {
            _input(number, inputs.label, place): tensor
            for number, model in enumerate(self.models)
            for inputs in model.inputs
            for place, tensor in enumerate(inputs.tensors)
        }
        return {**programs, **models, **inputs}

    @property
    def output_base(self) -> str:
        """What runners are told to write to: they add `-0.bin` and so on."""
        return str(PurePosixPath(self.linux.output_folder) / _OUTPUT_BASE)

    def command(
        self, implementation: RunnerImplementation, model: LinuxModel, inputs: InputSet, count: int
    ) -> str:
        """The line that has an implementation run a model so many times."""
        number = self.models.index(model)
        tensors = [_input(number, inputs.label, place) for place in range(len(inputs.tensors))]
        values = {
            MODEL: self._path(_model(number)),
            INPUTS: ",".join(map(self._path, tensors)),
            INFERENCES: str(count),
            OUTPUT: self.output_base,
        }
        return implementation.command(
            self._path(_program(self.implementations.index(implementation))), values
        )

    def _path(self, name: str) -> str:
        return str(PurePosixPath(self.linux.mount_point) / name)


def _program(number: int) -> str:
    return f"P{number}.ELF"


def _model(number: int) -> str:
    return f"M{number}.BIN"


def _input(model: int, label: str, place: int) -> str:
    return f"I{model}{label}{place}.BIN"
