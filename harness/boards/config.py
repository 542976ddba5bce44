"""A board is a file: its memory map, devices, entry, parameters and timeouts."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from harness.data_files import data_folder
from harness.errors import UsageError

Address = Annotated[int, Field(ge=0, lt=1 << 40)]
Size = Annotated[int, Field(gt=0, lt=1 << 40)]
BUILT_IN = "harness-sim"  #: the executable that is the built-in simulator
FVP = "corstone-1000-a320"  #: the board that an .fvpconf builds on
Seconds = Annotated[float, Field(gt=0)]
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Memory(_Section):
    """Physical addresses and sizes in bytes; the linker script and platform header are rendered from them."""

    load_address: Address
    ram_base: Address
    ram_size: Size
    npu_sram_base: Address
    npu_sram_size: Size
    dma_pool_base: Address
    dma_pool_size: Size
    fill_parameter: str | None = None  #: the model parameter that fills RAM with a byte before the start
    check_parameter: str | None = None  #: the model parameter that has missing cache maintenance named


class Uart(_Section):
    """The PL011 that carries the records."""

    base: Address


class Npu(_Section):
    """The Ethos-U85: its register window, its interrupt and its default MAC count."""

    base: Address
    interrupt: int
    macs: Literal[128, 256, 512, 1024, 2048]
    macs_parameter: str  #: the model parameter that sets the MAC count
    checks_parameter: str | None = None  #: the model parameter that has streams' misuse of memory named
    clock_hz: int | None = None  #: given where the NPU and the generic timer keep the same time


class Entry(_Section):
    """How the image is started, and the exception level it starts in.

    As an application the model loads the ELF, as data the flat image to the load address, where parameters of
    its own have it start; in U-Boot and Linux it boots by itself, and [boot] or [linux] says how it goes on.
    """

    exception_level: Literal[1, 2, 3]
    start: Literal["application", "data", "u-boot", "linux"]


class Program(_Section):
    """How the executable of a model is found, and which versions of it are taken."""

    other_names: tuple[str, ...] = ()  #: what older or newer releases call it
    variable: str | None = None  #: an environment variable with its path, or that of a folder with it
    folders: tuple[str, ...] = ()  #: where it is usually installed; ~ and * are expanded
    minimum_version: str | None = None
    memory_mib: Annotated[int, Field(gt=0)] = 4096  #: host memory that one running model takes


class Terminal(_Section):
    """A serial console of a model, by the name of its terminal component."""

    terminal: str  #: the instance's path, such as host.host_terminal_0; the model prints its last part
    title: str = ""  #: for people


class DataFile(_Section):
    """A file that the model loads to an address of a memory; each run has a copy of its own."""

    file: str
    address: Address


class Landmark(_Section):
    """A text that shows how far a board has booted."""

    console: str
    text: str  #: a regular expression
    phase: str  #: what has been reached then


class Boot(_Section):
    """The way from power-on to the firmware: through U-Boot, which loads it from a disk of ours."""

    autoboot: str  #: a regular expression: U-Boot is about to boot by itself, and a key stops it
    prompt: str
    commands: tuple[str, ...]  #: typed at the prompt; {file} and {address} are filled in
    disk_parameter: str  #: the model's parameter that names the disk image
    character_delay_seconds: Annotated[float, Field(ge=0)] = 0.0  #: between typed characters


class Linux(_Section):
    """A Linux system with the NPU's driver, which runs somebody's runner."""

    login: str  #: a regular expression
    user: str  #: who needs no password
    prompt: str  #: a regular expression: the shell waits
    device: str  #: what the runner opens
    other_device: str  #: what another driver would have; alone it is a reason to refuse
    disk_parameter: str  #: the model's parameter that names the disk image
    disk_device: str  #: what Linux calls that disk
    mount_point: str
    output_folder: str  #: where runners may write
    character_delay_seconds: Annotated[float, Field(ge=0)] = 0.0  #: between typed characters


class Timeouts(_Section):
    """Deadlines in seconds of real time."""

    start_seconds: Seconds  #: from start to the first output, and to all consoles being attached
    boot_seconds: Seconds = 600.0  #: from there to the firmware's start, or to a shell
    run_seconds: Seconds  #: from the first record to the end
    stop_seconds: Seconds  #: for each step of stopping the board


class BoardConfig(_Section):
    """One file of `fvp_configs/`."""

    schema_version: Literal[1] = Field(alias="schema")
    name: str
    source: Literal["simulator", "fvp", "hardware"]
    executable: str
    memory: Memory
    uart: Uart
    npu: Npu
    entry: Entry
    parameters: dict[str, bool | int | str]
    timeouts: Timeouts
    program: Program = Program()
    environment: dict[str, str] = {}  #: on top of what a model needs
    consoles: dict[str, Terminal] = {}  #: by role; without any, standard output is the one console
    records: str = ""  #: the role of the console that carries the records, and takes what is typed
    data: dict[str, DataFile] = {}  #: by the memory's instance
    arguments: tuple[str, ...] = ()  #: of the program, as they are
    copies: tuple[str, ...] = ()  #: parameters that name files of which each run has a copy of its own
    landmarks: tuple[Landmark, ...] = ()
    deaths: tuple[str, ...] = ()  #: regular expressions: such a line on any console ends the run
    harmless: tuple[str, ...] = ()  #: such a line is no death, though it looks like one
    boot: Boot | None = None
    linux: Linux | None = None

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        """Refuse a file whose parts name what it does not have."""
        if problem := next(_contradictions(self), None):
            raise ValueError(problem)
        return self


def board_names() -> tuple[str, ...]:
    """The boards the harness knows, sorted."""
    return tuple(sorted(path.stem for path in data_folder("fvp_configs").glob("*.toml")))


def load_board(name_or_path: str) -> BoardConfig:
    """Read a board by name, or from the path of a board file.

    Raises UsageError that names the file and key at fault and what is allowed.
    """
    path = Path(name_or_path)
    if path.suffix == ".fvpconf":
        from harness.boards.fvpconf import read_fvpconf

        return read_fvpconf(path, load_board(FVP))
    if path.suffix != ".toml":
        if name_or_path not in board_names():
            allowed = ", ".join(board_names())
            raise UsageError(
                f"unknown board {name_or_path!r}; allowed: {allowed}, or a path to a .toml or .fvpconf file"
            )
        path = data_folder("fvp_configs") / f"{name_or_path}.toml"
    try:
        return BoardConfig.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"cannot read board file {path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"board file {path} is not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError(f"board file {path}: {first_problem(error, BoardConfig)}") from error


def expanded(config: BoardConfig) -> BoardConfig:
    """The board with `~` and environment variables replaced in its parameters, files and environment.

    Raises UsageError that names a variable that is not set, and where it is wanted.
    """

    def filled(where: str, value: bool | int | str) -> bool | int | str:
        if not isinstance(value, str):
            return value
        for name in _VARIABLE.findall(value):
            if name not in os.environ:
                raise UsageError(
                    f"board {config.name}: {where} is {value!r}, and {name} is not set in the environment",
                    hint=f"set {name}, or give {where} another value with -C or in a board file of your own",
                )
        return substituted(value)

    return config.model_copy(
        update={
            "parameters": {name: filled(name, value) for name, value in config.parameters.items()},
            "environment": {name: str(filled(name, value)) for name, value in config.environment.items()},
            "arguments": tuple(str(filled("arguments", value)) for value in config.arguments),
            "data": {
                memory: data.model_copy(update={"file": str(filled(memory, data.file))})
                for memory, data in config.data.items()
            },
        }
    )


def substituted(text: str) -> str:
    """A text with `~` and those environment variables replaced that are set."""
    return os.path.expandvars(os.path.expanduser(text))  # noqa: PTH111  a text, and maybe no path


def _contradictions(config: BoardConfig) -> Iterator[str]:
    """What in a board file refers to nothing, or makes no sense, each as one clause that names its key."""
    consoles = ", ".join(sorted(config.consoles)) or "there are none"
    named = {"records": config.records} if config.records or config.consoles else {}
    named |= {f"landmarks.{number}.console": mark.console for number, mark in enumerate(config.landmarks)}
    for key, console in named.items():
        if console not in config.consoles:
            yield f"{key} is {console!r}, which is none of its consoles ({consoles})"
    for key, section, start in (("boot", config.boot, "u-boot"), ("linux", config.linux, "linux")):
        if (section is not None) != (config.entry.start == start):
            yield f'[{key}] and entry.start = "{start}" need each other'
    if config.entry.start in ("u-boot", "linux") and not config.consoles:
        yield f'entry.start = "{config.entry.start}" needs consoles to type on'
    for name in config.copies:
        if name not in config.parameters:
            yield f"copies names {name!r}, which is none of its parameters"
    for key, expression in _expressions(config):
        try:
            re.compile(expression)
        except re.error as error:
            yield f"{key} is no regular expression: {error}"


def _expressions(config: BoardConfig) -> Iterator[tuple[str, str]]:
    """Every regular expression of a board file, with its key."""
    yield from ((f"deaths.{number}", text) for number, text in enumerate(config.deaths))
    yield from ((f"harmless.{number}", text) for number, text in enumerate(config.harmless))
    yield from ((f"landmarks.{number}.text", mark.text) for number, mark in enumerate(config.landmarks))
    if config.boot is not None:
        yield "boot.autoboot", config.boot.autoboot
    if config.linux is not None:
        yield from (("linux.login", config.linux.login), ("linux.prompt", config.linux.prompt))


def first_problem(error: ValidationError, root: type[BaseModel]) -> str:
    """The first violation of a file read as `root`, with the nearest allowed key for an unknown one."""
    # A misspelt key is both an unknown and a missing one; the unknown one says more.
    first = min(error.errors(), key=lambda problem: problem["type"] != "extra_forbidden")
    place = ".".join(str(part) for part in first["loc"])
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    if first["type"] != "extra_forbidden":
        return f"{place}: {first['msg'].lower()}"
    known = _keys_of_section(root, first["loc"][:-1])
    near = difflib.get_close_matches(str(first["loc"][-1]), known, n=1)
    suggestion = f"; did you mean {near[0]!r}?" if near else f"; allowed: {', '.join(sorted(known))}"
    return f"unknown key {place}{suggestion}"


def _keys_of_section(root: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    section = root
    for part in location:
        # What is no field is an index, or a name that the file gives, as of a console.
        if field := section.model_fields.get(str(part)):
            kinds = (field.annotation, *get_args(field.annotation))
            sections = (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel))
            section = next(sections, section)
    return [field.alias or name for name, field in section.model_fields.items()]
