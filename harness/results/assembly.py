"""From records to a run record, held against the plan that was to be run.

Whatever is missing, doubled or not in the plan is a ConsoleError: a run that says less than it should is
never taken for one that passed.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from harness.console.protocol import Record, Transcript
from harness.errors import ConsoleError
from harness.plan import Cell, Plan, mode_of
from harness.results.run_record import (
    COUNTS,
    PHASES,
    CellRecord,
    Fault,
    Inference,
    Instructions,
    NpuCycles,
    RunRecord,
    Stage,
)

_BASE_KEYS = frozenset({"cell", "stage", "index", "total"})
_FAULT_KEYS = frozenset({"cell", "index", "kind"})


def assemble(transcript: Transcript, plan: Plan) -> RunRecord:
    """The run record of a plan's transcript. Raises ConsoleError where it does not follow the plan."""
    hello, clock, *body, bye = transcript.records
    if clock.type != "clock":
        raise ConsoleError(f"console line {clock.line}: record {clock.type!r} where 'clock' was due")
    if hello.number("cells") != len(plan.cells):
        raise ConsoleError(f"the image has {hello.number('cells')} cells, its plan {len(plan.cells)}")
    status = bye.text("status")
    faults = _faults(record for record in body if record.type == "fault")
    cells = tuple(_cells(body, plan, tick_ns=1_000_000_000 / clock.number("timer_hz")))
    if len(cells) != len(plan.cells) and not faults:
        raise ConsoleError(f"the run reported {len(cells)} of {len(plan.cells)} cells, and no fault")
    if status == "ok" and faults:
        raise ConsoleError(f"the run ended with status ok although it reported a fault: {faults[0]}")
    return RunRecord(
        build=hello.text("build"),
        npu_id=hello.number("npu_id", base=16),
        npu_config=hello.number("npu_config", base=16),
        window=Instructions(clock.number("window")),
        status=status,
        cells=cells,
        faults=faults,
        noise=transcript.noise,
    )


@dataclass
class _StageSum:
    """Phases and counts of one stage, added up over its lines."""

    phases: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PHASES, 0))
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    total: int | None = None

    def add_phases(self, record: Record) -> None:
        if "total" in record.fields:
            self.total = record.number("total")
        _add(self.phases, record)

    def finish(self, where: str) -> Stage:
        if self.total is None:
            raise ConsoleError(f"{where}: no total of its phases was reported")
        if self.total != sum(self.phases.values()):
            raise ConsoleError(f"{where}: its phases sum to {sum(self.phases.values())}, not to {self.total}")
        return Stage({name: Instructions(value) for name, value in self.phases.items()}, self.counts)


def _add(sums: dict[str, int], record: Record) -> None:
    for key in record.fields:
        if key in _BASE_KEYS:
            continue
        if key not in sums:
            raise ConsoleError(f"console line {record.line}: unknown key {key!r} in record {record.type!r}")
        sums[key] += record.number(key)


def _cells(body: list[Record], plan: Plan, tick_ns: float) -> Iterator[CellRecord]:
    """Group the records between `cell` and `end`; a cell cut short by a fault is left out."""
    opened: Record | None = None
    inside: list[Record] = []
    position = 0
    for record in body:
        if record.type == "cell":
            opened, inside = record, []
        elif record.type == "end" and opened is not None:
            if position >= len(plan.cells):
                raise ConsoleError(f"console line {record.line}: more cells than the plan has")
            yield _cell(opened, inside, record, plan, position, tick_ns)
            opened, position = None, position + 1
        elif opened is not None:
            inside.append(record)
        elif record.type not in ("fault", "calibration"):
            raise ConsoleError(f"console line {record.line}: record {record.type!r} outside a cell")


def _cell(
    opened: Record, inside: list[Record], end: Record, plan: Plan, position: int, tick_ns: float
) -> CellRecord:
    planned = plan.cells[position]
    mode = mode_of(opened.fields)
    if (opened.number("model"), mode) != (planned.model, planned.mode):
        raise ConsoleError(
            f"console line {opened.line}: cell of model {opened.text('model')} in {mode} is not the plan's"
        )
    stages = _stages(inside)
    ends = [record for record in inside if record.type == "infer"]
    status = end.text("status")
    if status == "ok" and len(ends) != len(planned.sequence):
        raise ConsoleError(
            f"console line {end.line}: {len(ends)} of {len(planned.sequence)} inferences were reported"
        )
    return CellRecord(
        model=planned.model,
        mode=mode,
        status=status,
        init=_finished(stages, "init", 0, opened),
        inferences=tuple(
            _inference(
                record, index, planned, plan, inside, _finished(stages, "infer", index, opened), tick_ns
            )
            for index, record in enumerate(ends)
        ),
        destroy=_finished(stages, "destroy", 0, opened),
        live_objects=end.number("live_objects"),
        pool_used=end.number("pool_used"),
        pool_peak=end.number("pool_peak"),
    )


def _stages(inside: list[Record]) -> dict[tuple[str, int], _StageSum]:
    stages: dict[tuple[str, int], _StageSum] = {}
    for record in inside:
        if record.type in ("phases", "counts"):
            stage = stages.setdefault((record.text("stage"), record.number("index")), _StageSum())
            if record.type == "phases":
                stage.add_phases(record)
            else:
                _add(stage.counts, record)
    return stages


def _finished(stages: dict[tuple[str, int], _StageSum], name: str, index: int, opened: Record) -> Stage:
    where = f"cell {opened.text('cell')}, {name} {index}"
    if (name, index) not in stages:
        raise ConsoleError(f"{where}: its cost was not reported")
    return stages[name, index].finish(where)


def _inference(
    record: Record,
    position: int,
    planned: Cell,
    plan: Plan,
    inside: list[Record],
    stage: Stage,
    tick_ns: float,
) -> Inference:
    expected_input = planned.sequence[position] if position < len(planned.sequence) else None
    if record.number("index") != position or record.number("input") != expected_input:
        raise ConsoleError(f"console line {record.line}: inference {record.text('index')} is not the plan's")
    model = plan.models[planned.model]
    status = record.text("status")
    outputs: tuple[bytes, ...] = ()
    if status == "ok":
        chunks = [part for part in inside if part.type == "data" and part.number("index") == position]
        outputs = tuple(
            _output([part for part in chunks if part.number("output") == number], tensor.size, record)
            for number, tensor in enumerate(model.compiled.outputs)
        )
    return Inference(
        index=position,
        input=model.inputs[record.number("input")].label,
        status=status,
        npu_cycles=NpuCycles(record.number("npu_cycles")),
        elapsed_ns=round(record.number("ticks") * tick_ns),
        stage=stage,
        outputs=outputs,
    )


def _output(chunks: list[Record], size: int, inference: Record) -> bytes:
    collected = bytearray()
    for chunk in chunks:
        if chunk.number("offset") != len(collected):
            raise ConsoleError(f"console line {chunk.line}: output data has a gap at offset {len(collected)}")
        try:
            collected += base64.b64decode(chunk.text("b64"), validate=True)
        except binascii.Error:
            raise ConsoleError(f"console line {chunk.line}: output data is not base64") from None
    if len(collected) != size:
        raise ConsoleError(
            f"console line {inference.line}: an output has {len(collected)} bytes, its tensor {size}"
        )
    return bytes(collected)


def _faults(records: Iterable[Record]) -> tuple[Fault, ...]:
    """One fault for each place and kind, its details gathered from all of its lines."""
    details: dict[tuple[str, str, str], dict[str, str]] = {}
    for record in records:
        place = (record.text("cell"), record.text("index"), record.text("kind"))
        more = {key: value for key, value in record.fields.items() if key not in _FAULT_KEYS}
        details.setdefault(place, {}).update(more)
    return tuple(
        Fault(_position(cell), _position(index), kind, found)
        for (cell, index, kind), found in details.items()
    )


def _position(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
