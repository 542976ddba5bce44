"""The standard weight format (SWD): Golomb-Rice codes with a palette and zero runs.

A stream is a sequence of slices, least significant bit first, closed by an end marker and filled with ones.
A slice is a header and chunks; a chunk holds the unary parts of up to 12 weights and of up to 12 zero runs,
and then the remainders that belong to the chunk before it.  Where a chunk begins is known only when the one
before it has been read, so `_locate` walks over the chunks and notes places, and the codes themselves are
taken out in bulk.

Field widths and chunk rules: Vela 5.2, regor/dependencies/mlw_codec/source/mlw_decode.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.bits import Bits
from harness.sim.npu.weights.layout import WeightError

LARGEST_RUN_DIVIDER, RUNS_OFF, END_OF_STREAM = 3, 6, 7  #: values of a slice's first field
LARGEST_WEIGHT_DIVIDER, WEIGHTS_RAW = 5, 7
UNARY_BITS = 12
UNARY_MASK = (1 << UNARY_BITS) - 1
CODE_LIMIT = 512  # a weight has 9 bits, sign and magnitude
ONES = tuple(value.bit_count() for value in range(1 << UNARY_BITS))


class _Palette(NamedTuple):
    """How an index becomes a weight: through the entries, or if it is larger than those, from *offset* on."""

    entries: NDArray[np.int64]
    offset: int
    raw_width: int
    """Bits of an index in a slice without unary parts."""
    with_runs: bool


class _Header(NamedTuple):
    """What is known of a slice before its chunks."""

    weights: int
    runs: int
    weight_divider: int
    run_divider: int
    truncated: bool
    """A unary part ends after two ones."""
    raw: bool
    """Weights have no unary part."""
    leading_run: bool

    @property
    def run_bits(self) -> int:
        return 12 if self.run_divider < 3 else 8

    @property
    def raw_symbols(self) -> int:
        return 8 if self.weight_divider > 5 else 12


@dataclass
class _Codes:
    """Where the codes of one kind, weights or runs, lie in a slice: one entry per chunk."""

    unary: list[int] = field(default_factory=list)
    more: list[int] = field(default_factory=list)
    """Weights only: one bit for each one in *unary*, which makes it a two."""
    symbols: list[int] = field(default_factory=list)
    remainders: list[int] = field(default_factory=list)
    """Where the remainders of each chunk begin; chunks in which no symbol ends have none."""

    def add(self, unary: int, more: int, symbols: int) -> int:
        self.unary.append(unary)
        self.more.append(more)
        if symbols:
            self.symbols.append(symbols)
        return symbols


def decode_swd(data: bytes, count: int) -> NDArray[np.int16]:
    """Decode a whole stream, which must hold exactly *count* weights; WeightError says why it does not."""
    bits = Bits(data)
    palette: _Palette | None = None
    pieces: list[NDArray[np.int16]] = []
    missing = count
    while bits.position < bits.length:
        run_divider = bits.take(3)
        if run_divider == END_OF_STREAM:
            bits.align()
            palette = None
            continue
        header, palette = _read_header(bits, run_divider, palette)
        weight_codes, run_codes = _locate(bits, header)
        weights = _lookup(_read_weights(bits, header, weight_codes), palette)
        pieces.append(_spread(weights, _read_runs(bits, header, run_codes), missing))
        missing -= len(pieces[-1])
    if palette is not None:
        raise WeightError("weight stream has no end marker")
    if missing:
        raise WeightError(f"weight stream holds {count - missing} weights, not {count}")
    return np.concatenate(pieces) if pieces else np.zeros(0, np.int16)


def _read_header(bits: Bits, run_divider: int, palette: _Palette | None) -> tuple[_Header, _Palette]:
    with_runs = run_divider != RUNS_OFF
    weights = bits.take(15) + 1
    divider = bits.take(3)
    truncated = bool(bits.take(1))
    new_palette = bool(bits.take(1))
    raw = divider == WEIGHTS_RAW
    if with_runs and run_divider > LARGEST_RUN_DIVIDER:
        raise WeightError(f"weight stream has a slice with run divider {run_divider}")
    if not raw and divider > LARGEST_WEIGHT_DIVIDER:
        raise WeightError(f"weight stream has a slice with weight divider {divider}")
    if new_palette:
        palette = _read_palette(bits, with_runs)
    if palette is None:
        raise WeightError("weight stream begins without a palette")
    if palette.with_runs != with_runs:
        raise WeightError("weight stream switches zero runs on or off without a new palette")
    header = _Header(
        weights=weights,
        runs=weights + new_palette if with_runs else 0,
        weight_divider=palette.raw_width if raw else divider,
        run_divider=run_divider,
        truncated=truncated,
        raw=raw,
        leading_run=new_palette,
    )
    return header, palette


def _read_palette(bits: Bits, with_runs: bool) -> _Palette:
    offset = bits.take(5)
    last = bits.take(5)
    size = last + 1 if last else 0
    width = bits.take(3) + 2
    entries = np.array([bits.take(width) for _ in range(size)], np.int64)
    return _Palette(entries, offset, last.bit_length() if size else width, with_runs)


def _locate(bits: Bits, header: _Header) -> tuple[_Codes, _Codes]:
    """Walk over the chunks of a slice; the kind that is ahead pauses, so that weights and runs keep step."""
    weights, runs = _Codes(), _Codes()
    windows, limit, position = bits.windows, bits.length, bits.position
    run_mask = (1 << header.run_bits) - 1
    weights_read = runs_read = 0
    weights_due = runs_due = 0  # symbols of the chunk before, whose remainders are still to come
    more_chunks = True
    while more_chunks:
        lead = weights_read - runs_read if header.runs else 0
        with_weights = weights_read < header.weights and lead < 8
        with_runs = runs_read < header.runs and lead >= 0
        more_chunks = with_weights or with_runs
        window = windows[position >> 3] >> (position & 7)
        unary = more = run_unary = 0
        if with_weights and not header.raw:
            unary = window & UNARY_MASK
            window >>= UNARY_BITS
            position += UNARY_BITS
        if with_runs:
            run_unary = window & run_mask
            window >>= header.run_bits
            position += header.run_bits
        if unary:
            more = window & ((1 << ONES[unary]) - 1)
            position += ONES[unary]
        if weights_due:
            weights.remainders.append(position)
            position += weights_due * header.weight_divider
        if runs_due:
            runs.remainders.append(position)
            position += runs_due * header.run_divider
        if position > limit:
            raise WeightError(f"weight stream ends inside a slice, at bit {limit}")
        weights_due = runs_due = 0
        if with_weights:
            symbols = header.raw_symbols if header.raw else UNARY_BITS - (not header.truncated) * ONES[more]
            weights_due = weights.add(unary, more, min(symbols, header.weights - weights_read))
            weights_read += weights_due
        if with_runs:
            symbols = header.run_bits - ONES[run_unary]
            runs_due = runs.add(run_unary, 0, min(symbols, header.runs - runs_read))
            runs_read += runs_due
    bits.position = position
    return weights, runs


def _read_weights(bits: Bits, header: _Header, codes: _Codes) -> NDArray[np.int64]:
    """The palette indices of a slice."""
    remainders = _remainders(bits, codes, header.weight_divider)
    if header.raw:
        return remainders
    ones = _bit_matrix(codes.unary, UNARY_BITS)
    rank = np.cumsum(ones, axis=1) - ones
    steps = ones * (1 + (np.array(codes.more, np.int64)[:, None] >> rank & 1))
    last = (steps < 2) | header.truncated
    return (_sums(steps, last, header.weights) << header.weight_divider) + remainders


def _read_runs(bits: Bits, header: _Header, codes: _Codes) -> NDArray[np.int64]:
    """The number of zeros before each weight of a slice and after its last one."""
    if not header.runs:
        return np.zeros(header.weights + 1, np.int64)
    ones = _bit_matrix(codes.unary, header.run_bits)
    runs = _sums(ones, ones == 0, header.runs) << header.run_divider
    runs += _remainders(bits, codes, header.run_divider)
    return runs if header.leading_run else np.concatenate([np.zeros(1, np.int64), runs])


def _bit_matrix(fields: list[int], width: int) -> NDArray[np.int64]:
    return np.array(fields, np.int64)[:, None] >> np.arange(width) & 1


def _sums(steps: NDArray[np.int64], last: NDArray[np.bool_], count: int) -> NDArray[np.int64]:
    """Add up the steps of each of the first *count* symbols; *last* marks where a symbol ends."""
    ends = np.flatnonzero(last)[:count]
    return np.diff(np.cumsum(steps)[ends], prepend=0)


def _remainders(bits: Bits, codes: _Codes, width: int) -> NDArray[np.int64]:
    symbols = np.array(codes.symbols, np.int64)
    first = np.cumsum(symbols) - symbols
    within = np.arange(symbols.sum()) - np.repeat(first, symbols)
    return bits.gather(np.repeat(np.array(codes.remainders, np.int64), symbols) + width * within, width)


def _lookup(index: NDArray[np.int64], palette: _Palette) -> NDArray[np.int16]:
    """Turn palette indices into weights; the sign is the lowest bit of what the palette says."""
    size = len(palette.entries)
    folded = index - size + palette.offset
    in_palette = index < size
    folded[in_palette] = palette.entries[index[in_palette]]
    if (np.maximum(index, folded) >= CODE_LIMIT).any():
        raise WeightError("weight stream holds a weight of more than 9 bits")
    return np.where(folded & 1, -(folded >> 1), folded >> 1).astype(np.int16)


def _spread(weights: NDArray[np.int16], runs: NDArray[np.int64], room: int) -> NDArray[np.int16]:
    """Put each weight behind its run of zeros."""
    total = len(weights) + int(runs.sum())
    if total > room:
        raise WeightError(f"weight stream holds {total - room} weights or more than the operation asks for")
    piece = np.zeros(total, np.int16)
    piece[np.arange(len(weights)) + np.cumsum(runs)[:-1]] = weights
    return piece
