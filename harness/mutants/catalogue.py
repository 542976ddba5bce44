"""The catalogue of mutants: each a defect as an edit of the firmware, and the check that must catch it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.build.firmware_tree import Edit
from harness.errors import UsageError
from harness.plan import Failure, Scratch

CATALOGUE = Path(__file__).with_name("catalogue.toml")


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Replacement(_Entry):
    """Replace `old`, which occurs exactly once in the firmware's `file`, by `new`."""

    file: str
    old: str
    new: str


class Conditions(_Entry):
    """What the firmware is run on and put through; the sound firmware passes every check there."""

    model: str = "ds_cnn"
    modes: str = "persistent"
    inferences: int = 3  #: of each copy of the model, on inputs A, B, A, B, …
    copies: int = 1  #: of the model, loaded at once
    scratch: Scratch = Scratch.BUFFER
    oracle: bool = True  #: whether outputs are held against the reference implementation
    npu_checks: bool = False  #: whether streams are checked for misuse of memory
    parameters: Mapping[str, str] = {}  #: of the board, such as a fault of the NPU
    failures: tuple[Failure, ...] = ()  #: steps that are made to fail
    injected: Mapping[str, str] = {}  #: inference, or "init" → the status in which fault or failure must end

    @property
    def injected_statuses(self) -> Mapping[int | None, str]:
        """`injected` as the comparison takes it."""
        return {None if place == "init" else int(place): status for place, status in self.injected.items()}


class Mutant(Conditions):
    """One defect. `killed_by` is the check of the comparison that is meant for it."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    defect: str  #: what is wrong, in one sentence
    killed_by: str
    edits: tuple[Replacement, ...] = Field(min_length=1, alias="edit")

    @property
    def conditions(self) -> Conditions:
        """The conditions without the defect."""
        return Conditions(**{name: getattr(self, name) for name in Conditions.model_fields})

    @property
    def firmware_edits(self) -> tuple[Edit, ...]:
        """The edits as the build takes them."""
        return tuple(Edit(edit.file, edit.old, edit.new) for edit in self.edits)


class _Catalogue(_Entry):
    mutants: tuple[Mutant, ...] = Field(alias="mutant")


def load_catalogue(path: Path = CATALOGUE) -> tuple[Mutant, ...]:
    """All mutants, in the order of the file. Raises UsageError that names the entry at fault."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        mutants = _Catalogue.model_validate(content).mutants
    except (OSError, tomllib.TOMLDecodeError, ValidationError) as error:
        raise UsageError(f"the catalogue of mutants {path} cannot be read: {error}") from error
    names = [mutant.name for mutant in mutants]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise UsageError(f"the catalogue of mutants names {', '.join(doubled)} more than once")
    return mutants


def choose(names: tuple[str, ...], mutants: tuple[Mutant, ...]) -> tuple[Mutant, ...]:
    """The mutants of these names, or all without any. Raises UsageError for a name that none has."""
    known = {mutant.name: mutant for mutant in mutants}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown mutant {name!r}; `harness mutants --list` shows all")
    return tuple(known[name] for name in names) if names else mutants
