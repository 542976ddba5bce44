"""The timeline that Perfetto opens."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from harness.npu_tools.trace import TRACKS, to_trace

TOLERANCE = 1e-9  #: microseconds; a cycle is 1e-3


@pytest.fixture
def events(profiled):
    """The complete events, having been written to JSON and read again."""
    trace = json.loads(json.dumps(to_trace(profiled("resnet8", "Dedicated_Sram"))))
    return [event for event in trace["traceEvents"] if event["ph"] == "X"]


def test_every_event_has_the_fields_of_the_format(events):
    for event in events:
        assert {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"} == set(event)
        assert isinstance(event["name"], str)
        assert event["ts"] >= 0
        assert event["dur"] > 0
        assert event["tid"] in TRACKS.values()


def test_process_and_tracks_have_names(profiled):
    trace = to_trace(profiled("ds_cnn"))
    metadata = [event for event in trace["traceEvents"] if event["ph"] == "M"]
    tracks = {e["args"]["name"]: e["tid"] for e in metadata if e["name"] == "thread_name"}
    assert tracks == TRACKS
    assert [e["args"]["name"] for e in metadata if e["name"] == "process_name"] == [
        "ds_cnn on Ethos-U85-256, estimate"
    ]


def overlapping(events) -> list[tuple[str, str]]:
    """Neighbours on a track of which the later one begins before the earlier one ends."""
    tracks = [[event for event in events if event["tid"] == number] for number in TRACKS.values()]
    return [
        (before["name"], after["name"])
        for track in tracks
        for before, after in pairwise(track)
        if before["ts"] + before["dur"] > after["ts"] + TOLERANCE
    ]


def test_events_of_one_track_follow_each_other(events):
    assert overlapping(events) == []


def test_an_event_that_begins_too_early_would_be_noticed(events):
    operations = [event for event in events if event["tid"] == TRACKS["operation"]]
    operations[3]["ts"] -= 0.001
    assert overlapping(events) == [(operations[2]["name"], operations[3]["name"])]


def test_a_unit_is_busy_only_within_an_operation(events):
    operations = {e["ts"]: e["dur"] for e in events if e["tid"] == TRACKS["operation"]}
    units = [e for e in events if e["cat"] in ("MAC", "AO", "WD", "memory")]
    assert units
    for unit in units:
        assert unit["dur"] <= operations[unit["ts"]] + TOLERANCE


def test_the_timeline_ends_with_the_network_at_a_thousand_cycles_a_microsecond(events, profiled):
    end = max(event["ts"] + event["dur"] for event in events)
    assert end == pytest.approx(profiled("resnet8", "Dedicated_Sram").estimate.total / 1000)
