"""What the user chose, resolved: board, MAC count, modes, compiler options, toolchain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.boards.board import Board, ParameterValue
from harness.boards.config import BoardConfig, load_board
from harness.boards.executable import with_executable
from harness.build.firmware_tree import FirmwareTree
from harness.build.toolchain import ZIG, Toolchain, find_toolchain
from harness.errors import UsageError
from harness.models.catalog import ModelSource
from harness.models.vela import CompileOptions
from harness.plan import ALL_MODES, Load, Mode, parse_modes

_UNTIMED = frozenset({"--fast", "-F"})  #: have Arm's Ethos-U model work without timing


@dataclass(frozen=True)
class Implementation:
    """A driver by a name, in its folder; see docs/driver-interface.md."""

    name: str
    folder: Path


@dataclass(frozen=True)
class Settings:
    """Everything a run needs to know besides its models."""

    board: BoardConfig
    toolchain: Toolchain
    compiler: CompileOptions
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    modes: tuple[Mode, ...] = ALL_MODES
    load: Load = field(default_factory=Load)
    firmware: FirmwareTree = field(default_factory=FirmwareTree)
    npu_checks: bool = False  #: have the NPU's command streams checked for misuse of memory
    logs: Path | None = None  #: where boards with consoles leave their logs
    implementations: tuple[Implementation, ...] = ()  #: each is run, and held against the first; none is ours

    @property
    def macs(self) -> int:
        """The MAC count that models are compiled for, unless they come compiled."""
        return self.compiler.macs or self.board.npu.macs

    def compile_options(self, source: ModelSource) -> CompileOptions:
        """The compiler's options for a model; one that comes compiled keeps its own unless told otherwise."""
        return replace(self.compiler, macs=self.macs) if source.kind.is_source else self.compiler

    def with_implementation(self, implementation: Implementation) -> Settings:
        """The same settings with a user's driver in place of ours."""
        return replace(self, firmware=replace(self.firmware, implementation=implementation.folder))

    def with_modes(self, modes: Iterable[Mode]) -> Settings:
        """The same settings for other modes."""
        return replace(self, modes=tuple(modes))

    def with_checks(self) -> Settings:
        """The same settings, with missing cache maintenance named where the board can do that.

        And misuse of memory by the NPU's streams, where that is wanted too.
        """
        names = (
            self.board.memory.check_parameter,
            self.board.npu.checks_parameter if self.npu_checks else None,
        )
        checks = {name: True for name in names if name is not None}
        return replace(self, parameters={**checks, **self.parameters})

    def board_with(self, macs: int, fill: int | None = None) -> Board:
        """The board, its NPU configured to a MAC count, its RAM to be filled with a byte where it can be."""
        name = self.board.memory.fill_parameter
        filled = {} if fill is None or name is None else {name: fill}
        return Board(self.board, macs, {**filled, **self.parameters}, self.logs)


def resolve_settings(
    *,
    board: str = "sim",
    executable: Path | None = None,
    macs: int | None = None,
    modes: str = "all",
    system_config: str = CompileOptions.system_config,
    memory_mode: str = CompileOptions.memory_mode,
    vela_config: Path | None = None,
    toolchain: str = ZIG,
    parameters: Iterable[str] = (),
    load: Load | None = None,
    implementations: Iterable[str] = (),
    npu_checks: bool = False,
    logs: Path | None = None,
) -> Settings:
    """Settings from what a user gives as text; `macs` of None takes the board's, and `executable` finds it.

    Raises UsageError for an unknown name or count, and BuildError for a missing toolchain.
    """
    config, given = load_board(board), parse_parameters(parameters)
    if executable is not None:
        config = with_executable(config, executable)
    _refuse_untimed({**config.parameters, **given})
    return Settings(
        board=config,
        toolchain=find_toolchain(toolchain),
        compiler=CompileOptions(macs, system_config, memory_mode, vela_config),
        parameters=given,
        modes=parse_modes(modes),
        load=load or Load(),
        implementations=parse_implementations(implementations),
        npu_checks=npu_checks,
        logs=logs,
    )


def _refuse_untimed(parameters: Mapping[str, ParameterValue]) -> None:
    for name, value in parameters.items():
        if name.endswith("ethosu.extra_args") and not _UNTIMED.isdisjoint(str(value).split()):
            raise UsageError(
                f"the board's parameter {name} is {value!r}: without timing the NPU's cycles say nothing"
                ", and would be compared all the same",
                hint="leave --fast away",
            )


def parse_implementations(texts: Iterable[str]) -> tuple[Implementation, ...]:
    """Implementations from `NAME=DIR` texts. Raises UsageError for another form, a name twice, no folder."""
    found: dict[str, Implementation] = {}
    for text in texts:
        name, separator, folder = text.partition("=")
        if not name or not separator or not folder:
            raise UsageError(f"implementation {text!r} is not of the form NAME=DIR")
        if name in found:
            raise UsageError(f"the implementation name {name!r} is given twice")
        if not Path(folder).is_dir():
            raise UsageError(f"the folder {folder!r} of implementation {name!r} does not exist")
        found[name] = Implementation(name, Path(folder))
    return tuple(found.values())


def parse_parameters(texts: Iterable[str]) -> dict[str, ParameterValue]:
    """Board parameters from `name=value` texts. Raises UsageError for a text of another form."""
    parameters: dict[str, ParameterValue] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not name or not separator:
            raise UsageError(f"board parameter {text!r} is not of the form name=value")
        parameters[name] = value
    return parameters
