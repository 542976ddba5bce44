"""The version of a model, as its `--version` says it in any of the known shapes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.errors import BoardError

# `Fast Models [11.30.27 (Nov  1 2025)]`, `11.31.cs1000_a320_2`: the build need not be a number.
_VERSION = re.compile(r"(?<![\w.])(?P<major>\d+)\.(?P<minor>\d+)\.(?P<build>[A-Za-z0-9_]+)")

_ERROR = re.compile(r"(?i)error")
_EVIDENCE_LINES = 5


@dataclass(frozen=True)
class Version:
    """A version. Builds that are no numbers are those of special releases, newer than any number."""

    text: str
    major: int
    minor: int
    build: str

    @property
    def order(self) -> tuple[int, int, int, str]:
        """What versions are compared by."""
        numeric = self.build.isdecimal()
        return self.major, self.minor, int(self.build) if numeric else 1 << 30, "" if numeric else self.build


def parse_version(text: str) -> Version | None:
    """The first version in a text; None when there is none."""
    match = _VERSION.search(text)
    if match is None:
        return None
    return Version(match[0], int(match["major"]), int(match["minor"]), match["build"])


def check_version(board: str, said: str, minimum: str | None) -> Version:
    """The version that a model has said. Raises BoardError when it is older than `minimum`, or is none."""
    version = parse_version(said)
    if version is None:
        raise start_failure(board, said, "it says no version")
    wanted = parse_version(minimum) if minimum else None
    if wanted is not None and version.order < wanted.order:
        raise BoardError(
            f"board {board}: its program is version {version.text}, older than {wanted.text}",
            hint="install a newer one; its parameters and texts differ",
        )
    return version


def start_failure(board: str, said: str, otherwise: str) -> BoardError:
    """The error of a model that does not start: its own words, or `otherwise` where it does not say why."""
    evidence = tuple(line for line in said.splitlines() if line.strip())[-_EVIDENCE_LINES:]
    why = next((line.strip() for line in evidence if _ERROR.search(line)), otherwise)
    return BoardError(
        f"board {board}: its program does not start: {why}", evidence=evidence, hint=_hint(said)
    )


def _hint(said: str) -> str:
    if "E549" in said or "executable stack" in said:
        return "glibc 2.41 refuses its libraries: clear their flag, as with `patchelf --clear-execstack`"
    if "Fatal Python error" in said:
        return "its embedded Python does not start: PYTHONHOME or PYTHONPATH of the user must not reach it"
    return "run it with --version by hand"
