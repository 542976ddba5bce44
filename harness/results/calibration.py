"""What one object, byte, page and allocation cost, from the records of the calibration programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from harness.console.protocol import Record, Transcript
from harness.errors import ConsoleError
from harness.results.cost import Prices
from harness.results.run_record import COUNTS

_BYTE_COUNTS = {"copy": "copied", "zero": "zeroed", "clean": "cleaned", "invalidate": "invalidated"}
# In this order, since the counts of each that have no price yet share what those that have one leave.
_OPERATIONS = ("memory", "map", "unmap", "network", "buffer", "on_demand_buffer", "allocate", "reuse")

Counts = Counter[str]
"""What one measurement counted, with its instructions."""


def prices_from(transcript: Transcript) -> Prices:
    """CPU instructions for one more of each count.

    The price of a byte, and of a page that is mapped or unmapped, is the slope between the smallest and the
    largest size that was measured; a TLB operation is what unmapping a page costs more than mapping it. The
    price of anything else is what one of it cost, less the price of what was counted along with it: for an
    object, to create and destroy it. Where two of them only ever come together, as an allocation with its
    free, each gets half.
    """
    measured = _measurements(transcript.of_type("calibration"))
    prices = {count: _slope(measured, operation, count) for operation, count in _BYTE_COUNTS.items()}
    mapping, unmapping = (_slope(measured, operation, "pages") for operation in ("map", "unmap"))
    prices |= {"pages": mapping, "tlb": unmapping - mapping}
    for operation in _OPERATIONS:
        prices |= _new_prices(operation, _of(measured, operation)[0], prices)
    return Prices(prices)


def _measurements(records: Iterable[Record]) -> Mapping[tuple[str, int], Counts]:
    """The measurements by operation and size, each put together from its lines."""
    measured: dict[tuple[str, int], Counts] = {}
    for record in records:
        counts = measured.setdefault((record.text("operation"), record.number("size")), Counter())
        for key in ("instructions", *COUNTS):
            counts[key] += record.number(key, default=0)
    return measured


def _of(measured: Mapping[tuple[str, int], Counts], operation: str) -> list[Counts]:
    """The measurements of one operation, the smallest size first."""
    found = [counts for (name, _), counts in sorted(measured.items()) if name == operation]
    if not found:
        raise ConsoleError(f"the calibration programs did not measure {operation!r}")
    return found


def _slope(measured: Mapping[tuple[str, int], Counts], operation: str, count: str) -> float:
    found = _of(measured, operation)
    smallest, largest = found[0], found[-1]
    more = largest[count] - smallest[count]
    if more <= 0:
        raise ConsoleError(f"the calibration measured {operation!r} at one size only")
    return (largest["instructions"] - smallest["instructions"]) / more


def _new_prices(operation: str, counts: Counts, prices: Mapping[str, float]) -> dict[str, float]:
    """The prices of the counts of a measurement that have none yet."""
    rest = counts["instructions"] - sum(counts[count] * price for count, price in prices.items())
    new = [count for count in COUNTS if counts[count] and count not in prices]
    if not new:
        raise ConsoleError(f"the calibration of {operation!r} counted nothing of its own")
    return {count: rest / len(new) / counts[count] for count in new}
