"""The simulator's parameters: one table, read by `-C`, by `--list-params` and by the platform.

Names and spelling follow Arm's FVP_Corstone-1000-A320 where it has the parameter; the others are this
simulator's.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

Value: TypeAlias = bool | int | str
V = TypeVar("V", bool, int, str)

MAX_NAME_DISTANCE = 0.6  # difflib's own default: below it a suggestion confuses more than it helps
BOOLEANS = {"1": True, "true": True, "0": False, "false": False}
NO_JOB = -1
NO_TERMINAL = -1
BOOT_LOADER_EL = 2


class NpuFault(StrEnum):
    """How the job that `host.ethosu.fault_job` chooses goes wrong."""

    NONE = "none"
    STATUS_ERROR = "status-error"  #: a parse error in the middle of the stream
    BUS_ERROR = "bus-error"  #: an access in the middle of the stream fails
    HANG = "hang"  #: it never ends, and writes nothing
    LATE = "late"  #: it starts, and so ends, later than it should
    EARLY = "early"  #: it has ended before the core's next instruction
    LOST_COMPLETION = "lost-completion"  #: it ends, and STATUS goes on saying that it runs


class ParameterError(Exception):
    """A `-C` option names no parameter or gives a value it cannot have; the message says what is allowed."""


@dataclass(frozen=True)
class Parameter:
    """What the command line may say about one field of `Parameters`."""

    name: str
    description: str
    default: Value
    choices: tuple[int | str, ...] = ()  #: the only values allowed; empty means any within `low`..`high`
    low: int = 0
    high: int = 2**64 - 1
    hexadecimal: bool = False  #: shown as an address in listings

    def parse(self, text: str) -> Value:
        """Return the value that `text` stands for, in the type of the default; raises ParameterError."""
        if isinstance(self.default, bool):
            if text.lower() not in BOOLEANS:
                raise ParameterError(f"{self.name}={text}: a boolean is 0, 1, true or false")
            return BOOLEANS[text.lower()]
        value = text if isinstance(self.default, str) else self._number(text)
        if self.choices and value not in self.choices:
            raise ParameterError(f"{self.name}={text}: allowed are {', '.join(map(str, self.choices))}")
        return value

    def _number(self, text: str) -> int:
        try:
            value = int(text, 0)
        except ValueError:
            raise ParameterError(f"{self.name}={text}: not an integer") from None
        if not self.low <= value <= self.high:
            raise ParameterError(
                f"{self.name}={text}: allowed are {self._text(self.low)} to {self._text(self.high)}"
            )
        return value

    def listing(self) -> str:
        """Return the parameter's line of `--list-params`, in the form that `-f` of an FVP reads back."""
        kind = {bool: "bool", int: "int", str: "string"}[type(self.default)]
        default = self._text(self.default)
        limited = self.choices or not isinstance(self.default, bool | str)
        limits = f" : [{self._limits()}]" if limited else ""
        return (
            f"{self.name}={default}".ljust(44)
            + f" # ({kind}, init-time) default = '{default}' : {self.description}{limits}"
        )

    def _limits(self) -> str:
        if self.choices:
            return ", ".join(map(str, self.choices))
        return f"{self._text(self.low)}..{self._text(self.high)}"

    def _text(self, value: Value) -> str:
        return f"{value:#x}" if self.hexadecimal else str(int(value) if isinstance(value, bool) else value)


def _parameter(
    name: str,
    default: V,
    description: str,
    *,
    choices: tuple[int | str, ...] = (),
    low: int = 0,
    high: int = 2**64 - 1,
    hexadecimal: bool = False,
) -> V:
    parameter = Parameter(name, description, default, choices, low, high, hexadecimal)
    return field(default=default, metadata={"parameter": parameter})


def _address(name: str, default: int, description: str) -> int:
    return _parameter(name, default, description, high=2**40 - 1, hexadecimal=True)


@dataclass(frozen=True)
class Parameters:
    """One simulated board. Addresses and sizes are in bytes."""

    macs: int = _parameter(
        "host.ethosu.num_macs",
        256,
        "Number of 8x8 MACs performed per cycle",
        choices=(128, 256, 512, 1024, 2048),
    )
    system_config: str = _parameter(
        "host.ethosu.system_config",
        "Ethos_U85_SYS_DRAM_Mid",
        "Vela's name for the memories behind the NPU, which its cycles are estimated with",
        choices=("Ethos_U85_SYS_DRAM_Low", "Ethos_U85_SYS_DRAM_Mid", "Ethos_U85_SYS_DRAM_High"),
    )
    uart_file: str = _parameter(
        "host.uart0.out_file", "-", "File for what the UART sends, - is stdout, nothing is none"
    )
    terminal_start_port: int = _parameter(
        "host.host_terminal_0.start_port",
        NO_TERMINAL,
        "First TCP port tried for a terminal on the UART, 0 for one that is free; -1 is no terminal",
        low=NO_TERMINAL,
        high=65535,
    )
    terminal_start_telnet: bool = _parameter(
        "host.host_terminal_0.start_telnet", False, "Run host.host_terminal_0.terminal_command"
    )
    terminal_command: str = _parameter(
        "host.host_terminal_0.terminal_command",
        "",
        "Command that is told the terminal's %port and %title; nothing is xterm with telnet",
    )
    terminal_mode: str = _parameter(
        "host.host_terminal_0.mode", "telnet", "Protocol of the terminal", choices=("telnet", "raw")
    )
    terminal_quiet: bool = _parameter(
        "host.host_terminal_0.quiet", False, "Do not announce the terminal's port on stdout"
    )
    shutdown_on_eot: bool = _parameter(
        "host.uart0.shutdown_on_eot", False, "End the simulation when the UART sends EOT (ASCII 4)"
    )
    npu_fault: str = _parameter(
        "host.ethosu.fault",
        NpuFault.NONE.value,
        "What goes wrong with the job that host.ethosu.fault_job chooses",
        choices=tuple(fault.value for fault in NpuFault),
    )
    npu_fault_job: int = _parameter(
        "host.ethosu.fault_job",
        NO_JOB,
        "Number of the job that goes wrong, counting writes of CMD.run from 0; -1 is none",
        low=NO_JOB,
    )
    npu_fault_delay_us: int = _parameter(
        "host.ethosu.fault_delay_us", 1000, "Simulated microseconds that a late job starts late by"
    )
    npu_checks: bool = _parameter(
        "host.ethosu.checks", False, "Name misuse of memory by the NPU's command streams at the end"
    )
    uart_fault_after: int = _parameter(
        "host.uart0.fault_after",
        0,
        "Number of the byte whose write to the UART is refused by an external abort, once; 0 is none",
    )
    cache_model: bool = _parameter(
        "host.cache_model", True, "Keep what the CPU sees of the DRAM apart from what the NPU sees of it"
    )
    cache_check: bool = _parameter(
        "host.cache_check", False, "Name missing cache maintenance at the end; needs host.cache_model"
    )
    entry_el: int = _parameter("host.cpu.entry_el", 3, "Exception level at the entry point", low=1, high=3)
    entry_caches: bool = _parameter(
        "host.cpu.entry_caches",
        False,
        "Enter as from U-Boot: MMU and caches on, and holding what was loaded; needs host.cpu.entry_el=2",
    )
    dram_base: int = _address("host.memory.dram_base", 0x8000_0000, "First address of the DRAM")
    dram_size: int = _address("host.memory.dram_size", 0x8000_0000, "Size of the DRAM")
    sram_base: int = _address("host.memory.sram_base", 0x0240_0000, "First address of the NPU SRAM")
    sram_size: int = _address("host.memory.sram_size", 0x0020_0000, "Size of the NPU SRAM")
    uart_base: int = _address("host.memory.uart0_base", 0x1A51_0000, "First address of UART0")
    ethosu_base: int = _address("host.memory.ethosu_base", 0x1A05_0000, "First address of the Ethos-U85")
    fill: int = _parameter(
        "host.memory.fill",
        0,
        "Byte that all DRAM and NPU SRAM hold where the application and --data put nothing",
        high=0xFF,
        hexadecimal=True,
    )


def _table() -> dict[str, tuple[str, Parameter]]:
    entries = ((item.name, item.metadata["parameter"]) for item in fields(Parameters))
    return {parameter.name: (attribute, parameter) for attribute, parameter in entries}


TABLE = _table()
"""Parameter name on the command line → (field of `Parameters`, its description)."""


def parse_parameters(assignments: Iterable[str]) -> Parameters:
    """Return the board that `NAME=VALUE` texts describe; the last of two assignments to a name wins.

    Raises ParameterError for an unknown name, with the nearest known one, or for a value out of range.
    """
    values: dict[str, Any] = {}  # field → value, in the type of the field: parse() keeps that of the default
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not equals:
            raise ParameterError(f"'{assignment}' is not of the form NAME=VALUE")
        if name not in TABLE:
            near = difflib.get_close_matches(name, TABLE, n=1, cutoff=MAX_NAME_DISTANCE)
            hint = f", did you mean '{near[0]}'?" if near else "; --list-params shows them all"
            raise ParameterError(f"there is no parameter '{name}'{hint}")
        attribute, parameter = TABLE[name]
        values[attribute] = parameter.parse(text)
    parameters = replace(Parameters(), **values)
    _check(parameters)
    return parameters


def _check(parameters: Parameters) -> None:
    if (parameters.npu_fault == NpuFault.NONE) != (parameters.npu_fault_job == NO_JOB):
        raise ParameterError("host.ethosu.fault and host.ethosu.fault_job need each other")
    if parameters.cache_check and not parameters.cache_model:
        raise ParameterError("host.cache_check needs host.cache_model")
    if parameters.entry_caches and parameters.entry_el != BOOT_LOADER_EL:
        raise ParameterError(f"host.cpu.entry_caches needs host.cpu.entry_el={BOOT_LOADER_EL}")


def list_parameters() -> str:
    """Return the whole of `--list-params`, one parameter a line, sorted by name."""
    return "\n".join(parameter.listing() for _, (_, parameter) in sorted(TABLE.items()))
