"""From records to a run record, held against the plan that was to be run.

Whatever is missing, doubled or not in the plan is a ConsoleError: a run that says less than it should is
never taken for one that passed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.console.protocol import Record, Transcript
from harness.errors import ConsoleError
from harness.models.compiled import CompiledModel
from harness.plan import Cell, Job, Plan, PlannedModel, mode_of
from harness.results.outputs import OutputBook
from harness.results.run_record import (
    CellRecord,
    Fault,
    Inference,
    Instructions,
    Leak,
    NpuCycles,
    Place,
    RunRecord,
    Stage,
)
from harness.results.stages import Stages

_FAULT_KEYS = frozenset({"cell", "slot", "index", "kind"})
_LEAST_RECORDS = 3  #: hello, clock and bye
_BETWEEN_CELLS = ("fault", "calibration", "places")


def assemble(transcript: Transcript, plan: Plan) -> RunRecord:
    """The run record of a plan's transcript. Raises ConsoleError where it does not follow the plan."""
    if len(transcript.records) < _LEAST_RECORDS:
        raise ConsoleError(f"the run spoke {len(transcript.records)} records, and not even its clock")
    hello, clock, *body, bye = transcript.records
    if clock.type != "clock":
        raise ConsoleError(f"console line {clock.line}: record {clock.type!r} where 'clock' was due")
    if hello.number("cells") != len(plan.cells):
        raise ConsoleError(f"the image has {hello.number('cells')} cells, its plan {len(plan.cells)}")
    status = bye.text("status")
    faults = _faults(body, plan)
    tick_ns = 1_000_000_000 / clock.number("timer_hz")
    talks = _talks(body, plan)
    if len(talks) != len(plan.cells) and not faults:
        raise ConsoleError(f"the run reported {len(talks)} of {len(plan.cells)} cells, and no fault")
    if status == "ok" and faults:
        raise ConsoleError(f"the run ended with status ok although it reported a fault: {faults[0]}")
    return RunRecord(
        build=hello.text("build"),
        npu_id=hello.number("npu_id", base=16),
        npu_config=hello.number("npu_config", base=16),
        window=Instructions(clock.number("window")),
        status=status,
        cells=tuple(record for talk in talks for record in _cell(talk, plan, tick_ns)),
        faults=faults,
        noise=transcript.noise,
    )


@dataclass(frozen=True)
class _Talk:
    """What was said of one cell."""

    planned: Cell
    position: int  #: of the cell in the plan
    opened: Record
    inside: tuple[Record, ...]
    end: Record

    def of_slot(self, slot: int, record_type: str) -> list[Record]:
        return [each for each in self.inside if each.type == record_type and each.number("slot") == slot]


def _talks(body: Iterable[Record], plan: Plan) -> list[_Talk]:
    """Group the records between `cell` and `end`; a cell cut short by a fault is left out."""
    talks: list[_Talk] = []
    opened: Record | None = None
    inside: list[Record] = []
    for record in body:
        if record.type == "cell":
            opened, inside = record, []
        elif record.type == "end" and opened is not None:
            position = len(talks)
            if position >= len(plan.cells):
                raise ConsoleError(f"console line {record.line}: more cells than the plan has")
            talks.append(_Talk(plan.cells[position], position, opened, tuple(inside), record))
            opened = None
        elif opened is not None:
            inside.append(record)
        elif record.type not in _BETWEEN_CELLS:
            raise ConsoleError(f"console line {record.line}: record {record.type!r} outside a cell")
    return talks


def _cell(talk: _Talk, plan: Plan, tick_ns: float) -> Iterator[CellRecord]:
    """The record of each slot of a cell."""
    planned, opened = talk.planned, talk.opened
    mode = mode_of({axis: opened.text(axis) for axis in ("driver", "io", "temp")})
    if (opened.number("slots"), mode) != (len(planned.models), planned.mode):
        raise ConsoleError(
            f"console line {opened.line}: cell of {opened.text('slots')} models in {mode} is not the plan's"
        )
    stages = Stages(opened.text("cell"), talk.inside)
    slots = [_Slot(talk, slot, plan, stages) for slot in range(len(planned.models))]
    shared = _shared(slots)
    for slot in slots:
        yield CellRecord(
            model=slot.planned_model,
            mode=mode,
            status=slot.closed.text("status"),
            init=slot.init,
            inferences=slot.inferences(tick_ns),
            destroy=slot.destroy,
            live_objects=talk.end.number("live_objects"),
            pool_used=talk.end.number("pool_used"),
            heap_used=talk.end.number("heap_used"),
            **shared,
            cell=talk.position,
            slot=slot.number,
            leaks=slot.leaks(),
            places=slot.places(),
        )


def _shared(slots: Sequence[_Slot]) -> dict[str, int]:
    """The numbers of a cell that all of its slots share."""
    stages = [stage for slot in slots for stage in slot.all_stages()]
    held = [slots[-1].init.memory, *(stage.memory for slot in slots for stage in slot.infer_stages())]
    return {
        "pool_peak": max(stage.memory.pool_peak for stage in stages),
        "pool_held": max(memory.pool_used for memory in held),
        "heap_peak": max(stage.memory.heap_peak for stage in stages),
        "temp_held": max(memory.temp_used for memory in held),
        "temp_peak": max(stage.memory.temp_peak for stage in stages),
    }


class _Slot:
    """What was said of one loaded model of a cell."""

    def __init__(self, talk: _Talk, number: int, plan: Plan, stages: Stages) -> None:
        self.number = number
        self.planned_model = talk.planned.models[number]
        self._talk = talk
        self._model: PlannedModel = plan.models[self.planned_model]
        self._jobs = [(i, job) for i, job in enumerate(talk.planned.jobs) if job.slot == number]
        self._infers = talk.of_slot(number, "infer")
        self.closed = self._closed()
        self.init = stages.finished(number, "init")
        self.destroy = stages.finished(number, "destroy")
        self._infer_stages = list(self._read_infer_stages(stages))

    def _read_infer_stages(self, stages: Stages) -> Iterator[Stage]:
        last: Stage | None = None
        for record in self._infers:
            if record.text("cost") != "same":
                last = stages.finished(self.number, "infer", record.number("index"))
            elif last is None:
                raise ConsoleError(
                    f"console line {record.line}: the first cost of a slot is said to be the same"
                )
            yield last

    def _closed(self) -> Record:
        closing = self._talk.of_slot(self.number, "slot")
        if len(closing) != 1 or closing[0].number("model") != self.planned_model:
            raise ConsoleError(
                f"console line {self._talk.end.line}: slot {self.number} of cell {self._talk.position} "
                f"did not end as one of model {self.planned_model}"
            )
        if closing[0].text("status") == "ok" and len(self._infers) != len(self._jobs):
            raise ConsoleError(
                f"console line {closing[0].line}: {len(self._infers)} of {len(self._jobs)} inferences "
                "were reported"
            )
        return closing[0]

    def infer_stages(self) -> Sequence[Stage]:
        return self._infer_stages

    def all_stages(self) -> Sequence[Stage]:
        return [self.init, *self._infer_stages, self.destroy]

    def inferences(self, tick_ns: float) -> tuple[Inference, ...]:
        sizes = [tensor.size for tensor in self._model.compiled.outputs]
        book = OutputBook(sizes, self._talk.inside)
        if len(self._infers) > len(self._jobs):
            raise ConsoleError(f"console line {self._infers[-1].line}: more inferences than the plan has")
        return tuple(
            self._inference(record, *planned, stage, book, tick_ns)
            for record, planned, stage in zip(self._infers, self._jobs, self._infer_stages, strict=False)
        )

    def _inference(
        self, record: Record, index: int, job: Job, stage: Stage, book: OutputBook, tick_ns: float
    ) -> Inference:
        if (record.number("index"), record.number("input")) != (index, job.input):
            raise ConsoleError(
                f"console line {record.line}: inference {record.text('index')} is not the plan's"
            )
        status = record.text("status")
        return Inference(
            index=index,
            input=self._model.inputs[job.input].label,
            status=status,
            npu_cycles=NpuCycles(record.number("npu_cycles")),
            elapsed_ns=round(record.number("ticks") * tick_ns),
            stage=stage,
            outputs=book.outputs(record) if status == "ok" else (),
        )

    def leaks(self) -> tuple[Leak, ...]:
        return tuple(
            Leak(record.text("kind"), record.number("size"), record.text("step"))
            for record in self._talk.of_slot(self.number, "leak")
        )

    def places(self) -> tuple[Place, ...]:
        """Where each thing lay, and from which inference on, as often as that changed."""
        found: dict[tuple[str, int], Place] = {}
        for record in self._talk.of_slot(self.number, "places"):
            for place in _places(record, self._model.compiled):
                found.setdefault((place.name, place.address), place)
        return tuple(sorted(found.values(), key=lambda place: (place.address, place.name)))


def _places(record: Record, compiled: CompiledModel) -> Iterator[Place]:
    sizes = {
        "stream": len(compiled.command_stream),
        "weights": len(compiled.weights),
        "scratch": compiled.scratch_size,
        "inputs": max(tensor.offset + tensor.size for tensor in compiled.inputs),
        "outputs": max(tensor.offset + tensor.size for tensor in compiled.outputs),
    }
    for name, size in sizes.items():
        if address := record.number(name, base=16, default=0):
            yield Place(name, address, size, _position(record.text("index")))


def _faults(body: Sequence[Record], plan: Plan) -> tuple[Fault, ...]:
    """One fault for each place and kind, its details gathered from all of its lines."""
    details: dict[tuple[str, str, str, str], dict[str, str]] = {}
    for record in body:
        if record.type == "fault":
            key = (record.text("cell"), record.text("slot"), record.text("index"), record.text("kind"))
            more = {key: value for key, value in record.fields.items() if key not in _FAULT_KEYS}
            details.setdefault(key, {}).update(more)
    faults = (
        Fault(_position(cell), _position(index), kind, found, _position(slot))
        for (cell, slot, index, kind), found in details.items()
    )
    return tuple(_located(fault, body, plan) for fault in faults)


def _located(fault: Fault, body: Sequence[Record], plan: Plan) -> Fault:
    """The fault with the mode and model of its cell, and what its address is in."""
    if fault.cell is None or fault.cell >= len(plan.cells):
        return fault
    cell = plan.cells[fault.cell]
    if fault.slot is None or fault.slot >= len(cell.models):
        return replace(fault, mode=cell.mode)
    model = cell.models[fault.slot]
    place = _place_of(fault, body, plan.models[model].compiled)
    return replace(fault, mode=cell.mode, model=model, place=place)


def _place_of(fault: Fault, body: Sequence[Record], compiled: CompiledModel) -> str:
    """What the address of an exception is in: its slot's places, as they were last reported, say it."""
    if "far" not in fault.details:
        return ""
    address = int(fault.details["far"], 16)
    slot = str(fault.cell), str(fault.slot)
    for record in reversed(body):
        if record.type == "places" and (record.text("cell"), record.text("slot")) == slot:
            for place in _places(record, compiled):
                if 0 <= address - place.address < place.size:
                    return f"{place.name}+{address - place.address:#x}"
    return ""


def _position(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
