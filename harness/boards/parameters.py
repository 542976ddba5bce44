"""A model's own parameters, and whether a board's are among them."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.boards.config import BoardConfig
from harness.boards.executable import program_environment
from harness.boards.version import Version, check_version, start_failure
from harness.boards.workspace import Value
from harness.cache import cached_folder, content_key
from harness.errors import BoardError, UsageError
from harness.processes import run_tool

_ANSWER_SECONDS = 120
# NAME=VALUE   # (TYPE, init-time|run-time) default = 'DEFAULT' : DESCRIPTION : [RANGE]
_LISTED = re.compile(
    r"^(?P<name>[A-Za-z_][\w.\-]*)=(?P<value>.*?)\s+# \((?P<kind>\w+), (?P<time>[\w-]+)\)\s*"
    r"default = '(?P<default>.*?)'\s*:\s*(?P<description>.*?)(?:\s*:\s*\[(?P<limits>[^\]]*)\])?\s*$"
)
_BOOLEANS = ("0", "1", "true", "false")
_ANSWERS = "answers.json"
_SCHEMA = "program-answers-1"


@dataclass(frozen=True)
class ModelParameter:
    """A line of `--list-params`."""

    name: str
    kind: str  #: int, bool, string
    default: str
    description: str
    limits: str  #: such as 128..2048; empty where the model says none


@dataclass(frozen=True)
class Answers:
    """What a program says of itself."""

    version: str  #: all of --version
    parameters: tuple[ModelParameter, ...]


def parse_list(text: str) -> tuple[ModelParameter, ...]:
    """The parameters in what `--list-params` prints; other lines are passed over."""
    matches = filter(None, map(_LISTED.match, text.splitlines()))
    return tuple(
        ModelParameter(
            match["name"], match["kind"], match["default"], match["description"], match["limits"] or ""
        )
        for match in matches
    )


def program_version(config: BoardConfig, executable: Path) -> Version:
    """The program's version. Raises BoardError when it is too old, or the program does not answer."""
    return check_version(config.name, ask(config, executable).version, config.program.minimum_version)


def check_parameters(
    config: BoardConfig, executable: Path, parameters: Mapping[str, Value], given: Collection[str] = ()
) -> None:
    """Hold every parameter of a run against those that the program has.

    `given` are the names of those that do not come from the board's file. Raises UsageError for one that the
    program does not have, or a value that it cannot take, and BoardError as `program_version` does.
    """
    version = program_version(config, executable)
    known = {parameter.name: parameter for parameter in ask(config, executable).parameters}
    if not known:
        raise BoardError(f"board {config.name}: {executable.name} lists no parameters")
    problems = [
        f"{problem} ({'given with -C' if name in given else 'from the board file'})"
        for name, value in parameters.items()
        if (problem := _problem(known, name, value))
    ]
    if problems:
        raise UsageError(
            f"board {config.name}, {executable.name} {version.text}: {problems[0]}",
            evidence=tuple(problems[1:]),
            hint=f"`harness boards show {config.name}` shows where each parameter comes from",
        )


def ask(config: BoardConfig, executable: Path) -> Answers:
    """The program's answers, asked once for each state of its file. Raises BoardError when there are none."""
    state = executable.stat()
    key = content_key(_SCHEMA, str(executable), str(state.st_mtime_ns), str(state.st_size))

    def produce(folder: Path) -> None:
        version = _run(config, executable, "--version")
        check_version(config.name, version, None)
        listed = parse_list(_run(config, executable, "--list-params"))
        (folder / _ANSWERS).write_text(json.dumps(asdict(Answers(version, listed))))

    said = json.loads((cached_folder("programs", key, produce) / _ANSWERS).read_text())
    return Answers(said["version"], tuple(ModelParameter(**each) for each in said["parameters"]))


def _run(config: BoardConfig, executable: Path, option: str) -> str:
    environment = program_environment(executable, os.environ, config.environment)
    try:
        done = run_tool((str(executable), option), timeout_seconds=_ANSWER_SECONDS, env=environment)
    except (TimeoutError, FileNotFoundError) as error:
        raise BoardError(f"board {config.name}: {error}") from error
    if done.status != 0:
        raise start_failure(config.name, done.output, f"{option} ended with status {done.status}")
    return done.output


def _problem(known: Mapping[str, ModelParameter], name: str, value: Value) -> str:
    """What is wrong with a parameter, in one clause; empty when nothing is."""
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        return f"there is no parameter {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
    parameter = known[name]
    text = str(int(value)) if isinstance(value, bool) else str(value)
    if parameter.kind == "bool" and text.lower() not in _BOOLEANS:
        return f"{name}={text}: a bool is one of {', '.join(_BOOLEANS)}"
    if parameter.kind == "int":
        return _number_problem(parameter, text)
    return ""


def _number_problem(parameter: ModelParameter, text: str) -> str:
    try:
        number = int(text, 0)
        low, _, high = parameter.limits.partition("..")
        outside = bool(high) and not int(low, 0) <= number <= int(high, 0)
    except ValueError:
        return f"{parameter.name}={text}: not an integer"
    return f"{parameter.name}={text}: allowed are {parameter.limits}" if outside else ""
