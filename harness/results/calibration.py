"""What one object and one byte cost, from the records of the two calibration programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.console.protocol import Record, Transcript
from harness.errors import ConsoleError
from harness.results.cost import Prices

_BYTE_COUNTS = {"copy": "copied", "zero": "zeroed", "clean": "cleaned", "invalidate": "invalidated"}
_OBJECT_COUNTS = {"network": "networks", "buffer": "buffers"}


def prices_from(transcripts: Iterable[Transcript]) -> Prices:
    """CPU instructions for one more of each count.

    A byte's price is the slope between the smallest and the largest size that was measured. An object's price
    is what creating and destroying a minimal one cost, less the price of the bytes that were moved for it.
    """
    records = [record for transcript in transcripts for record in transcript.of_type("calibration")]
    bytes_ = {
        count: _slope(_measured(records, operation), count) for operation, count in _BYTE_COUNTS.items()
    }
    objects = {
        count: _without_bytes(_measured(records, operation)[0], bytes_)
        for operation, count in _OBJECT_COUNTS.items()
    }
    return Prices({**objects, **bytes_})


def _measured(records: Iterable[Record], operation: str) -> list[Record]:
    found = sorted(
        (record for record in records if record.text("operation") == operation),
        key=lambda record: record.number("size"),
    )
    if not found:
        raise ConsoleError(f"the calibration programs did not measure {operation!r}")
    return found


def _slope(measured: list[Record], count: str) -> float:
    smallest, largest = measured[0], measured[-1]
    more = largest.number(count, default=0) - smallest.number(count, default=0)
    if more <= 0:
        raise ConsoleError(f"the calibration measured {smallest.text('operation')!r} at one size only")
    return (largest.number("instructions") - smallest.number("instructions")) / more


def _without_bytes(record: Record, prices: Mapping[str, float]) -> float:
    moved = sum(record.number(count, default=0) * price for count, price in prices.items())
    return record.number("instructions") - moved
