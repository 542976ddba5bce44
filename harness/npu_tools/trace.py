"""A profile as a timeline for Perfetto and chrome://tracing.

Trace Event Format: an object whose `traceEvents` are complete events (`ph` is X) with `name`, `cat`, `ts`,
`dur`, `pid`, `tid` and `args`, and metadata (`ph` is M) that names the process and its tracks; times are in
microseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.npu_tools.profile import Operator, Profile

CYCLES_PER_MICROSECOND = 1000  #: at 1 GHz

TRACKS = {"operation": 1, "MAC": 2, "AO": 3, "WD": 4, "memory": 5, "DMA": 6}
"""The tracks from top to bottom: the whole operation, the units it keeps busy, and DMA beside it.

AO is the output stage, WD the weight decoder, as in the names of the NPU's own events.
"""

_TERMS = {"MAC": "mac", "AO": "output_stage", "WD": "weight_decoder", "memory": "memory"}
_PROCESS = 1

Event = dict[str, Any]


def to_trace(profile: Profile) -> dict[str, Any]:
    """The timeline, ready to be written as JSON.

    A unit's event begins with its operation and lasts as long as the unit is busy: when it pauses is not part
    of the estimate.
    """
    model = profile.model
    title = f"{model.name} on Ethos-U85-{model.macs}, estimate"
    events = [_metadata("process_name", title, 0)]
    events += [_metadata("thread_name", track, number) for track, number in TRACKS.items()]
    for operator in profile.operators:
        events += _events(operator, model.macs)
    return {"displayTimeUnit": "ns", "traceEvents": events}


def _events(operator: Operator, macs: int) -> Iterator[Event]:
    track = "DMA" if operator.shape is None else "operation"
    yield _event(operator, track, operator.end - operator.start, operator.to_json(macs))
    if track == "operation":
        busy = {unit: operator.terms[term] for unit, term in _TERMS.items()}
        yield from (_event(operator, unit, spent, {}) for unit, spent in busy.items() if spent)


def _event(operator: Operator, track: str, spent: int, args: dict[str, Any]) -> Event:
    layer = operator.layer
    return {
        "name": operator.kind if layer is None else f"{operator.kind}: {layer.short_name}",
        "cat": track,
        "ph": "X",
        "ts": operator.start / CYCLES_PER_MICROSECOND,
        "dur": spent / CYCLES_PER_MICROSECOND,
        "pid": _PROCESS,
        "tid": TRACKS[track],
        "args": args,
    }


def _metadata(kind: str, name: str, track: int) -> Event:
    return {"name": kind, "ph": "M", "pid": _PROCESS, "tid": track, "args": {"name": name}}
