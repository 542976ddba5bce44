"""The record protocol: lines with a sequence number and a CRC, among which anything else is noise.

docs/protocol.md describes the line format and every record type.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.errors import ConsoleError

MAX_LINE = 120
END_OF_TRANSMISSION = b"\x04"
RECORD_START = b"@h1 "

_RECORD = re.compile(
    r"@h1 (?P<seq>\d{1,9}) (?P<type>[a-z]+)(?P<fields>(?: [a-z0-9_]+=[^ ]*)*) \*(?P<crc>[0-9a-f]{8})"
)
_LOOKS_LIKE_RECORD = re.compile(r"@h1 ")
_EVIDENCE_LINES = 5


@dataclass(frozen=True)
class Record:
    """One valid line. `line` counts from 1 and leads back to the console log."""

    sequence: int
    type: str
    fields: Mapping[str, str]
    line: int

    def text(self, key: str) -> str:
        """The value of `key`; ConsoleError when the record lacks it."""
        try:
            return self.fields[key]
        except KeyError:
            raise ConsoleError(
                f"console line {self.line}: record {self.type!r} lacks its key {key!r}"
            ) from None

    def number(self, key: str, base: int = 10, default: int | None = None) -> int:
        """The value of `key` as a non-negative integer; ConsoleError when it is none.

        `default` is the value of a key that may be left out.
        """
        if default is not None and key not in self.fields:
            return default
        text = self.text(key)
        try:
            value = int(text, base)
        except ValueError:
            value = -1
        if value < 0:
            raise ConsoleError(f"console line {self.line}: {self.type}.{key} is not a number: {text!r}")
        return value


@dataclass(frozen=True)
class Transcript:
    """A complete conversation: from `hello` with the right nonce to `bye`, without a gap."""

    records: tuple[Record, ...]
    noise: tuple[str, ...]

    def of_type(self, *types: str) -> Iterable[Record]:
        """The records of these types, in the order in which they were spoken."""
        return (record for record in self.records if record.type in types)


def crc(text: str) -> str:
    """The checksum of a record line's text before ` *`, as eight hexadecimal digits."""
    return f"{zlib.crc32(text.encode('ascii')):08x}"


def format_record(sequence: int, record_type: str, fields: Mapping[str, object]) -> str:
    """A record line without its line end, as the firmware writes it."""
    text = " ".join([f"@h1 {sequence} {record_type}", *(f"{key}={value}" for key, value in fields.items())])
    return f"{text} *{crc(text)}"


def parse_console(console: bytes, nonce: str, build: str) -> Transcript:
    """All records of the run with this nonce, of the image with this build digest.

    Raises ConsoleError when a record is damaged, missing or foreign (another nonce or image), or when the
    conversation has no end: it names the line, and carries the last lines as evidence. A record that an
    exception has cut short is noise, since the record of the exception takes its place.
    """
    lines = console.replace(END_OF_TRANSMISSION, b"").decode("ascii", errors="backslashreplace").split("\n")
    records: list[Record] = []
    noise: list[str] = []
    cut: ConsoleError | None = None
    for number, raw in enumerate(lines, start=1):
        line = raw.strip("\r")
        record = _parse_line(line, number)
        if record is None:
            noise += [line] if line else []
            if cut is None and _LOOKS_LIKE_RECORD.match(line):
                cut = ConsoleError(f"console line {number}: damaged record {line!r}")
            continue
        if cut is not None and not _reports_exception(record):
            raise cut
        cut = None
        if record.sequence != len(records):
            raise ConsoleError(
                f"console line {number}: record {record.sequence} came where record {len(records)} was due",
                evidence=_tail(lines[:number]),
                hint="a record was lost or damaged; the evidence shows the lines before it",
            )
        records.append(record)
    if cut is not None:
        raise cut
    _check_ends(records, lines)
    _check_identity(records[0], nonce, build)
    return Transcript(tuple(records), tuple(noise))


def _parse_line(line: str, number: int) -> Record | None:
    match = _RECORD.fullmatch(line)
    if match is None:
        return None
    if crc(line[: match.start("crc") - 2]) != match["crc"]:
        raise ConsoleError(f"console line {number}: wrong CRC in record {line!r}")
    if len(line) > MAX_LINE:
        raise ConsoleError(f"console line {number}: record of {len(line)} characters, longer than {MAX_LINE}")
    fields = dict(part.split("=", 1) for part in match["fields"].split())
    return Record(int(match["seq"]), match["type"], fields, number)


def _reports_exception(record: Record) -> bool:
    """Whether a line before this record may be cut short: by the exception that it reports."""
    return record.type == "fault" and record.fields.get("kind") == "exception"


def _check_ends(records: list[Record], lines: list[str]) -> None:
    if not records:
        raise ConsoleError("the console holds no record", evidence=_tail(lines))
    if records[0].type != "hello":
        raise ConsoleError(f"the first record is {records[0].type!r}, not 'hello'", evidence=_tail(lines))
    if records[-1].type != "bye":
        raise ConsoleError(
            f"the console ends after record {records[-1].sequence} ({records[-1].type!r}), before 'bye'",
            evidence=_tail(lines),
        )


def _check_identity(hello: Record, nonce: str, build: str) -> None:
    hint = "the board printed a log of an earlier image; check that it was reset and reloaded"
    if hello.text("nonce") != nonce:
        raise ConsoleError(
            f"the console belongs to another run: nonce {hello.text('nonce')}, not {nonce}", hint=hint
        )
    if hello.text("build") != build:
        raise ConsoleError(f"the board ran image {hello.text('build')}, not {build}", hint=hint)


def _tail(lines: list[str]) -> tuple[str, ...]:
    return tuple(line.strip("\r") for line in lines if line.strip())[-_EVIDENCE_LINES:]
