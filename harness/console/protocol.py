"""The record protocol: text with a sequence number and a CRC, among which anything else is noise.

docs/protocol.md describes the line format and every record type.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from harness.console.text import plain
from harness.errors import ConsoleError

MAX_LINE = 120
END_OF_TRANSMISSION = b"\x04"
RECORD_START = b"@h1 "

_RECORD = re.compile(
    rb"(?P<text>@h1 (?P<sequence>[0-9]{1,9}) (?P<type>[a-z]+)(?P<words>(?: [a-z0-9_]+=[!-~]*+)*+))"
    rb" \*(?P<crc>[0-9a-f]{8})"
)
_EVIDENCE_LINES = 5
_EVIDENCE_BYTES = 4096
_DAMAGED = "the console lost or changed what the board sent; the evidence shows the lines before it"
_EARLIER_IMAGE = "the board printed a log of an earlier image; check that it was reset and reloaded"
_AGAIN = "the board started again, or its console was recorded twice; the evidence shows the lines before it"


@dataclass(frozen=True, slots=True)
class Record:
    """One valid record. `line` counts from 1, as `plain` ends lines, and leads back to the console log."""

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
    rest: str  #: all that is no record, line by line: a tuple of short lines takes twenty times the memory

    @property
    def noise(self) -> tuple[str, ...]:
        """What is no record: whole lines, and what comes before, between and after records in a line."""
        return tuple(line for line in self.rest.split("\n") if line.strip())

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
    when a record is damaged, missing, repeated or foreign (another nonce or image), or when the conversation
    has no end: it names the line, and carries the last lines as evidence. A record that an exception has cut
    short is noise, since the record of the exception takes its place.

    Time and memory are linear in the size of the console, whatever it holds.
    """
    text = plain(console)
    records: list[Record] = []
    rest = bytearray()
    line, end = 1, 0
    for match in _RECORD.finditer(text):
        start = match.start()
        line += text.count(b"\n", end, start)
        record = _checked(match, line, nonce)
        broken = text.find(RECORD_START, end, start)
        if broken >= 0 and not _reports_exception(record):
            raise _damaged(text, broken)
        if record.sequence != len(records):
            raise _out_of_order(record, len(records), match)
        records.append(record)
        rest += text[end:start].strip(b"\n") + b"\n"
        end = match.end()
    if (broken := text.find(RECORD_START, end)) >= 0:
        raise _damaged(text, broken)
    _check_ends(records, text)
    _check_build(records[0], build)
    rest += text[end:]
    return Transcript(tuple(records), _printable(rest))


def _checked(match: re.Match[bytes], line: int, nonce: str) -> Record:
    if crc(match["text"].decode("ascii"), nonce) != match["crc"].decode("ascii"):
        raise _wrong_crc(match, line, nonce)
    if len(match[0]) > MAX_LINE:
        raise _error(
            match.string, match.start(), f"record of {len(match[0])} characters, longer than {MAX_LINE}"
        )
    return _record(match, line)


def _record(match: re.Match[bytes], line: int) -> Record:
    record_type = sys.intern(match["type"].decode("ascii"))  # there are few types, and many records
    return Record(int(match["sequence"]), record_type, match["words"].decode("ascii"), line)


def _wrong_crc(match: re.Match[bytes], line: int, nonce: str) -> ConsoleError:
    """A record that is damaged, or sound in the run that its own nonce names."""
    foreign = _record(match, line).fields.get("nonce", nonce)
    if foreign != nonce and crc(match["text"].decode("ascii"), foreign) == match["crc"].decode("ascii"):
        return ConsoleError(
            f"the console belongs to another run: nonce {foreign}, not {nonce}", hint=_EARLIER_IMAGE
        )
    return _error(match.string, match.start(), f"wrong CRC in record {_shown(match[0])!r}", _DAMAGED)


def _damaged(text: bytes, at: int) -> ConsoleError:
    """A record begins here, and is none."""
    record, *_ = text[at : at + _EVIDENCE_BYTES].split(b"\n", 1)
    return _error(text, at, f"damaged record {_shown(record)!r}", _DAMAGED)


def _out_of_order(record: Record, due: int, match: re.Match[bytes]) -> ConsoleError:
    again = " again" if record.sequence < due else ""
    what = f"record {record.sequence} came{again} where record {due} was due"
    return _error(match.string, match.start(), what, _AGAIN if again else _DAMAGED)


def _reports_exception(record: Record) -> bool:
    """Whether a line before this record may be cut short: by the exception that it reports."""
    return record.type == "fault" and record.fields.get("kind") == "exception"


def _check_ends(records: list[Record], text: bytes) -> None:
    if not records:
        raise ConsoleError("the console holds no record", evidence=_tail(text))
    if records[0].type != "hello":
        raise ConsoleError(f"the first record is {records[0].type!r}, not 'hello'", evidence=_tail(text))
    if records[-1].type != "bye":
        raise ConsoleError(
            f"the console ends after record {records[-1].sequence} ({records[-1].type!r}), before 'bye'",
            evidence=_tail(text),
        )


def _check_build(hello: Record, build: str) -> None:
    if hello.text("build") != build:
        raise ConsoleError(f"the board ran image {hello.text('build')}, not {build}", hint=_EARLIER_IMAGE)


def _error(text: bytes, at: int, what: str, hint: str = "") -> ConsoleError:
    """What is wrong at an offset of the console: names its line, and shows it with those before."""
    line_end = text.find(b"\n", at)
    seen = text[:line_end] if line_end >= 0 else text
    line = text.count(b"\n", 0, at) + 1
    return ConsoleError(f"console line {line}: {what}", hint=hint, evidence=_tail(seen))


def _tail(text: bytes) -> tuple[str, ...]:
    lines = text[-_EVIDENCE_BYTES:].split(b"\n")
    return tuple(_shown(line) for line in lines if line.strip())[-_EVIDENCE_LINES:]


def _shown(line: bytes) -> str:
    """A line as it is quoted: no longer than a record."""
    return _printable(line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + b"...")


def _printable(text: bytes | bytearray) -> str:
    return text.decode("ascii", errors="backslashreplace")
