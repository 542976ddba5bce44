"""What every report on a board says, whatever was compared there: the verdict, and the frame of its JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

from harness.errors import ExitCode, HarnessError
from harness.models.compiled import CompiledModel

SCHEMA = 1
Verdict = Literal["pass", "fail", "error"]
Source = Literal["simulator", "fvp", "hardware"]

CYCLES_KIND: Mapping[Source, str] = {"simulator": "estimate", "fvp": "model", "hardware": "measured"}
"""What NPU cycles of a source are."""


class ModelOutcome(Protocol):
    """What became of one model."""

    @property
    def verdict(self) -> Verdict:
        """`error` when there is nothing to compare."""

    @property
    def exit_code(self) -> ExitCode:
        """What this model alone would end the command with."""


Outcome = TypeVar("Outcome", bound=ModelOutcome)


@dataclass(frozen=True)
class BoardReport(Generic[Outcome]):
    """The outcome for all models on one board."""

    tool_version: str
    board: str
    source: Source
    macs: int | None  #: None where the models were compiled for several MAC counts
    versions: Mapping[str, str]
    models: tuple[Outcome, ...]

    @property
    def npu(self) -> str:
        """The NPU as a title has it."""
        return "Ethos-U85, each model's MACs" if self.macs is None else f"Ethos-U85-{self.macs}"

    @property
    def verdict(self) -> Verdict:
        """`pass` only if every model passed; `error` outweighs `fail`. No model is no pass."""
        verdicts = {model.verdict for model in self.models}
        if verdicts == {"pass"}:
            return "pass"
        return "error" if "error" in verdicts or not verdicts else "fail"

    @property
    def exit_code(self) -> ExitCode:
        """The gravest of the models' exit codes."""
        return max((model.exit_code for model in self.models), default=ExitCode.BUG)

    def framed(self, model_json: Callable[[Outcome], dict[str, Any]]) -> dict[str, Any]:
        """The report as JSON values, with what `model_json` makes of each model."""
        return {
            "schema": SCHEMA,
            "tool": {"name": "corstone-harness", "version": self.tool_version},
            "board": {"name": self.board, "source": self.source},
            "npu": {"macs": self.macs},
            "versions": dict(self.versions),
            "verdict": self.verdict,
            "models": [model_json(model) for model in self.models],
        }


def compiled_json(compiled: CompiledModel) -> dict[str, Any]:
    """What identifies a compiled model: digests of its file and its stream, and how it was compiled."""
    return {
        "macs": compiled.macs,
        "sha256": compiled.source_sha256,
        "stream_sha256": compiled.stream_sha256,
        "compiler": {"vela": compiled.vela_version, "options": list(compiled.vela_options)},
    }


def error_json(error: HarnessError) -> dict[str, Any]:
    """An error that took a result's place."""
    return {"type": type(error).__name__, "message": str(error), "hint": error.hint}
