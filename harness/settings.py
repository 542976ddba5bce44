"""What the user chose, resolved: board, MAC count, modes, compiler options, toolchain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.boards.board import Board, ParameterValue
from harness.boards.config import BoardConfig, load_board
from harness.build.firmware_tree import FirmwareTree
from harness.build.toolchain import ZIG, Toolchain, find_toolchain
from harness.errors import UsageError
from harness.models.catalog import ModelKind, ModelSource
from harness.models.vela import CompileOptions
from harness.plan import DRIVER_MODES, Mode, parse_modes


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know besides its models."""

    board: BoardConfig
    toolchain: Toolchain
    compiler: CompileOptions
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    modes: tuple[Mode, ...] = DRIVER_MODES
    firmware: FirmwareTree = field(default_factory=FirmwareTree)

    @property
    def macs(self) -> int:
        """The MAC count that models are compiled for, unless they come compiled."""
        return self.compiler.macs or self.board.npu.macs

    def compile_options(self, source: ModelSource) -> CompileOptions:
        """The compiler's options for a model; one that comes compiled keeps its own unless told otherwise."""
        return replace(self.compiler, macs=self.macs) if source.kind is ModelKind.TFLITE else self.compiler

    def with_modes(self, modes: Iterable[Mode]) -> Settings:
        """The same settings for other modes."""
        return replace(self, modes=tuple(modes))

    def board_with(self, macs: int, fill: int | None = None) -> Board:
        """The board, its NPU configured to a MAC count, its RAM to be filled with a byte where it can be."""
        name = self.board.memory.fill_parameter
        filled = {} if fill is None or name is None else {name: fill}
        return Board(self.board, macs, {**filled, **self.parameters})


def resolve_settings(
    *,
    board: str = "sim",
    macs: int | None = None,
    modes: str = "driver",
    system_config: str = CompileOptions.system_config,
    memory_mode: str = CompileOptions.memory_mode,
    vela_config: Path | None = None,
    toolchain: str = ZIG,
    parameters: Iterable[str] = (),
) -> Settings:
    """Settings from what a user gives as text; `macs` of None takes the board's.

    Raises UsageError for an unknown name or count, and BuildError for a missing toolchain.
    """
    return Settings(
        board=load_board(board),
        toolchain=find_toolchain(toolchain),
        compiler=CompileOptions(macs, system_config, memory_mode, vela_config),
        parameters=parse_parameters(parameters),
        modes=parse_modes(modes),
    )


def parse_parameters(texts: Iterable[str]) -> dict[str, ParameterValue]:
    """Board parameters from `name=value` texts. Raises UsageError for a text of another form."""
    parameters: dict[str, ParameterValue] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not name or not separator:
            raise UsageError(f"board parameter {text!r} is not of the form name=value")
        parameters[name] = value
    return parameters
