"""Prices: what the calibration's measurements leave for one more of each thing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from harness.console.protocol import Record, Transcript
from harness.errors import ConsoleError
from harness.results.calibration import prices_from
from harness.results.run_record import COUNTS

COST = {
    "copied": 0.25,
    "zeroed": 0.125,
    "cleaned": 0.0625,
    "invalidated": 0.0625,
    "pages": 16,
    "tlb": 4,
    "memories": 300,
    "maps": 70,
    "unmaps": 60,
    "networks": 250,
    "buffers": 120,
    "inferences": 0,
    "driver_maps": 20,
    "driver_unmaps": 20,
    "allocations": 90,
    "frees": 90,
    "reused": 110,
}
MEASURED: Mapping[str, Mapping[str, int]] = {
    "memory": {"memories": 1, "zeroed": 16, "cleaned": 64},
    "network": {"networks": 1, "memories": 1, "copied": 64, "cleaned": 128},
    "buffer": {"buffers": 1, "memories": 1, "zeroed": 16, "cleaned": 64},
    "on_demand_buffer": {
        "buffers": 1,
        "memories": 1,
        "driver_maps": 1,
        "driver_unmaps": 1,
        "pages": 2,
        "tlb": 1,
        "zeroed": 4096,
        "cleaned": 4096,
    },
    "allocate": {"allocations": 1, "frees": 1},
    "reuse": {"reused": 1},
}
SIZED = {
    "copy": "copied",
    "zero": "zeroed",
    "clean": "cleaned",
    "invalidate": "invalidated",
    "map": "maps",
    "unmap": "unmaps",
}


def measurement(operation: str, size: int, counts: Mapping[str, int]) -> list[Record]:
    """A measurement of what COST says, in one line for each key, as long ones may come."""
    instructions = round(sum(COST[count] * number for count, number in counts.items()))
    fields = {"instructions": instructions, **counts}
    common = {"operation": operation, "size": str(size)}
    words = " ".join(f"{key}={value}" for key, value in common.items())
    return [Record(0, "calibration", f"{words} {key}={value}", 1) for key, value in fields.items()]


def sized(operation: str, size: int) -> Mapping[str, int]:
    pages = size // 4096
    if operation == "map":
        return {"maps": 1, "pages": pages}
    if operation == "unmap":
        return {"unmaps": 1, "pages": pages, "tlb": pages}
    return {SIZED[operation]: size}


@pytest.fixture
def records() -> list[Record]:
    return [
        *(each for name, counts in MEASURED.items() for each in measurement(name, 16, counts)),
        *(
            each
            for name in SIZED
            for size in (4096, 16384, 65536)
            for each in measurement(name, size, sized(name, size))
        ),
    ]


def test_the_prices_are_what_the_measurements_were_made_of(records: list[Record]) -> None:
    prices = prices_from(Transcript(tuple(records), "")).instructions
    assert prices == pytest.approx({count: COST[count] for count in COUNTS if count != "inferences"})


@pytest.mark.parametrize("operation", [*MEASURED, *SIZED])
def test_a_measurement_that_is_missing_is_an_error(records: list[Record], operation: str) -> None:
    left = tuple(record for record in records if record.text("operation") != operation)
    with pytest.raises(ConsoleError, match=f"did not measure '{operation}'"):
        prices_from(Transcript(left, ""))


def test_a_slope_needs_two_sizes(records: list[Record]) -> None:
    left = tuple(record for record in records if record.text("operation") != "copy")
    once = measurement("copy", 4096, {"copied": 4096})
    with pytest.raises(ConsoleError, match="'copy' at one size only"):
        prices_from(Transcript((*left, *once), ""))
