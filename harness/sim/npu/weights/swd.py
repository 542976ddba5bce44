"""The standard weight format (SWD): Golomb-Rice codes with a palette and zero runs.

A stream is a sequence of slices, least significant bit first, closed by an end marker and filled with ones.
A slice is a header and chunks; a chunk holds the unary parts of up to 12 weights and of up to 12 zero runs,
and then the remainders that belong to the chunk before it.  Where a chunk begins is known only when the one
before it has been read, so `_locate` walks over the chunks and notes places, and the codes themselves are
taken out in bulk.

Field widths and chunk rules: Vela 5.2, regor/dependencies/mlw_codec/source/mlw_decode.cpp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.weights.bits import Bits
from harness.sim.npu.weights.layout import WeightError

LARGEST_RUN_DIVIDER, RUNS_OFF, END_OF_STREAM = 3, 6, 7  #: values of a slice's first field
LARGEST_WEIGHT_DIVIDER, WEIGHTS_RAW = 5, 7
LARGEST_LEAD = 8  #: weights that are read before their runs, at most
UNARY_BITS = 12
UNARY_MASK = (1 << UNARY_BITS) - 1
CODE_LIMIT = 512  # a weight has 9 bits, sign and magnitude
ABSENT = -1
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
        """Bits of the unary parts of a chunk's runs."""
        return 12 if self.run_divider < 3 else 8

    @property
    def symbols(self) -> int:
        """Weights that end in a chunk at most."""
        return 8 if self.raw and self.weight_divider > 5 else UNARY_BITS


class _Chunks(NamedTuple):
    """What the walk over the chunks of a slice has found, with one number for each; the last one is empty."""

    unary: NDArray[np.int64]
    """The unary parts of its weights; ABSENT where it has none."""
    more: NDArray[np.int64]
    """One bit for each one in *unary*, which makes it a two."""
    run_unary: NDArray[np.int64]
    """The unary parts of its zero runs; ABSENT where it has none."""
    weights: NDArray[np.int64]
    """How many weights end in it."""
    runs: NDArray[np.int64]
    """How many zero runs end in it."""
    places: NDArray[np.int64]
    """Where in it the remainders begin: of the weights of the chunk before it, then of that one's runs."""


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
        chunks = _locate(bits, header)
        weights = _lookup(_read_weights(bits, header, chunks), palette)
        pieces.append(_spread(weights, _read_runs(bits, header, chunks), missing))
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


def _locate(bits: Bits, header: _Header) -> _Chunks:
    """Walk over the chunks of a slice; the kind that is ahead pauses, so that weights and runs keep step."""
    windows, limit, position = bits.windows, bits.length, bits.position
    raw, truncated, symbols = header.raw, header.truncated, header.symbols
    divider, run_divider = header.weight_divider, header.run_divider
    run_bits, run_mask = header.run_bits, (1 << header.run_bits) - 1
    weights_left, runs_left = header.weights, header.runs
    chunks: list[tuple[int, int, int, int, int, int]] = []
    lead = 0  # weights that have been read and whose runs have not
    due = 0  # bits of remainders that belong to the chunk before
    more_chunks = True
    while more_chunks:
        with_weights = weights_left > 0 and lead < LARGEST_LEAD
        with_runs = runs_left > 0 and lead >= 0
        more_chunks = with_weights or with_runs
        window = windows[position >> 3] >> (position & 7)
        unary = run_unary = ABSENT
        more = weights = runs = 0
        if with_weights and not raw:
            unary = window & UNARY_MASK
            window >>= UNARY_BITS
            position += UNARY_BITS + ONES[unary]
        if with_runs:
            run_unary = window & run_mask
            window >>= run_bits
            position += run_bits
            runs = min(run_bits - ONES[run_unary], runs_left)
        if with_weights:
            if not raw:
                more = window & ((1 << ONES[unary]) - 1)
            weights = min(symbols if truncated else symbols - ONES[more], weights_left)
        chunks.append((unary, more, run_unary, weights, runs, position))
        position += due
        if position > limit:
            raise WeightError(f"weight stream ends inside a slice, at bit {limit}")
        due = weights * divider + runs * run_divider
        weights_left -= weights
        runs_left -= runs
        lead += weights - runs if header.runs else 0
    bits.position = position
    return _Chunks(*np.array(chunks, np.int64).T)


def _read_weights(bits: Bits, header: _Header, chunks: _Chunks) -> NDArray[np.int64]:
    """The palette indices of a slice."""
    remainders = _remainders(bits, chunks.weights[:-1], chunks.places[1:], header.weight_divider)
    if header.raw:
        return remainders
    present = chunks.unary != ABSENT
    ones = _bit_matrix(chunks.unary[present], UNARY_BITS)
    rank = np.cumsum(ones, axis=1) - ones
    steps = ones * (1 + (chunks.more[present, None] >> rank & 1))
    last = (steps < 2) | header.truncated
    return (_sums(steps, last, header.weights) << header.weight_divider) + remainders


def _read_runs(bits: Bits, header: _Header, chunks: _Chunks) -> NDArray[np.int64]:
    """The number of zeros before each weight of a slice and after its last one."""
    if not header.runs:
        return np.zeros(header.weights + 1, np.int64)
    ones = _bit_matrix(chunks.run_unary[chunks.run_unary != ABSENT], header.run_bits)
    runs = _sums(ones, ones == 0, header.runs) << header.run_divider
    places = chunks.places[1:] + header.weight_divider * chunks.weights[:-1]
    runs += _remainders(bits, chunks.runs[:-1], places, header.run_divider)
    return runs if header.leading_run else np.concatenate([np.zeros(1, np.int64), runs])


def _bit_matrix(fields: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    return fields[:, None] >> np.arange(width) & 1


def _sums(steps: NDArray[np.int64], last: NDArray[np.bool_], count: int) -> NDArray[np.int64]:
    """Add up the steps of each of the first *count* symbols; *last* marks where a symbol ends."""
    ends = np.flatnonzero(last)[:count]
    return np.diff(np.cumsum(steps)[ends], prepend=0)


def _remainders(
    bits: Bits, symbols: NDArray[np.int64], places: NDArray[np.int64], width: int
) -> NDArray[np.int64]:
    first = np.cumsum(symbols) - symbols
    within = np.arange(symbols.sum()) - np.repeat(first, symbols)
    return bits.gather(np.repeat(places, symbols) + width * within, width)


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
