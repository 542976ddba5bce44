"""The record protocol: text with a sequence number and a CRC, among which anything else is noise.

docs/protocol.md describes the line format and every record type.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.console.text import plain
from harness.errors import ConsoleError

MAX_LINE = 120
END_OF_TRANSMISSION = b"\x04"
RECORD_START = b"@h1 "

_RECORD = re.compile(
    r"(?P<text>@h1 (?P<seq>\d{1,9}) (?P<type>[a-z]+)(?P<fields>(?: [a-z0-9_]+=[^ ]*)*))"
    r" \*(?P<crc>[0-9a-f]{8})"
)
_MARK = "@h1 "
_EVIDENCE_LINES = 5
_EARLIER_IMAGE = "the board printed a log of an earlier image; check that it was reset and reloaded"


@dataclass(frozen=True, slots=True)
class Record:
    """One valid record. `line` counts from 1 and leads back to the console log."""

    sequence: int
    type: str
    words: str  #: `key=value` words, as they stand in the line: a dictionary takes ten times the memory
    line: int

    @property
    def fields(self) -> Mapping[str, str]:
        """The value of each key."""
        return dict(word.split("=", 1) for word in self.words.split(" ") if word)

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


def crc(text: str, nonce: str) -> str:
    """The checksum of a record's text before ` *` in the run with this nonce: eight hexadecimal digits."""
    return f"{zlib.crc32(text.encode('ascii'), zlib.crc32(nonce.encode('ascii'))):08x}"


def format_record(sequence: int, record_type: str, fields: Mapping[str, object], nonce: str) -> str:
    """A record line without its line end, as the firmware writes it."""
    text = " ".join([f"@h1 {sequence} {record_type}", *(f"{key}={value}" for key, value in fields.items())])
    return f"{text} *{crc(text, nonce)}"


def parse_console(console: bytes, nonce: str, build: str) -> Transcript:
    """All records of the run with this nonce, of the image with this build digest.

    A record is found wherever it stands in a line, also behind a prompt or another one. Raises ConsoleError
    when a record is damaged, missing or foreign (another nonce or image), or when the conversation has no
    end: it names the line, and carries the last lines as evidence. A record that an exception has cut short
    is noise, since the record of the exception takes its place.
    """
    lines = plain(console).decode("ascii", errors="backslashreplace").split("\n")
    records: list[Record] = []
    noise: list[str] = []
    cut: ConsoleError | None = None
    for number, line in enumerate(lines, start=1):
        for part in _parts(line, number, nonce):
            if isinstance(part, str):
                noise += [part] if part.strip() else []
                if cut is None and _MARK in part:
                    cut = ConsoleError(f"console line {number}: damaged record {part!r}")
                continue
            if cut is not None and not _reports_exception(part):
                raise cut
            cut = None
            if part.sequence != len(records):
                raise ConsoleError(
                    f"console line {number}: record {part.sequence} came where record {len(records)} was due",
                    evidence=_tail(lines[:number]),
                    hint="a record was lost or damaged; the evidence shows the lines before it",
                )
            records.append(part)
    if cut is not None:
        raise cut
    _check_ends(records, lines)
    _check_build(records[0], build)
    return Transcript(tuple(records), tuple(noise))


def _parts(line: str, number: int, nonce: str) -> Iterator[Record | str]:
    """The records of a line, and what stands before, between and behind them."""
    end = 0
    for match in _RECORD.finditer(line) if _MARK in line else ():
        yield line[end : match.start()]
        yield _checked(match, number, nonce)
        end = match.end()
    yield line[end:]


def _checked(match: re.Match[str], number: int, nonce: str) -> Record:
    if crc(match["text"], nonce) != match["crc"]:
        raise _wrong_crc(match, number, nonce)
    if len(match[0]) > MAX_LINE:
        raise ConsoleError(
            f"console line {number}: record of {len(match[0])} characters, longer than {MAX_LINE}"
        )
    return Record(int(match["seq"]), match["type"], match["fields"], number)


def _wrong_crc(match: re.Match[str], number: int, nonce: str) -> ConsoleError:
    """A record that is damaged, or sound in the run that its own nonce names."""
    record = Record(int(match["seq"]), match["type"], match["fields"], number)
    foreign = record.fields.get("nonce", nonce)
    if foreign != nonce and crc(match["text"], foreign) == match["crc"]:
        return ConsoleError(
            f"the console belongs to another run: nonce {foreign}, not {nonce}", hint=_EARLIER_IMAGE
        )
    return ConsoleError(f"console line {number}: wrong CRC in record {match[0]!r}")


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


def _check_build(hello: Record, build: str) -> None:
    if hello.text("build") != build:
        raise ConsoleError(f"the board ran image {hello.text('build')}, not {build}", hint=_EARLIER_IMAGE)


def _tail(lines: list[str]) -> tuple[str, ...]:
    return tuple(line for line in lines if line.strip())[-_EVIDENCE_LINES:]
