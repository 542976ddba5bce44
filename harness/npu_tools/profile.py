"""Where the cycles of a network go: its operations in order, with the cost of each.

Every figure is an estimate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from harness.errors import FirmwareFault, UsageError
from harness.models.compiled import CompiledModel
from harness.npu_tools.bound import Bound, bound_of
from harness.npu_tools.disassembly import operation_name
from harness.npu_tools.layers import Layer, Layers, NamedModel
from harness.sim.npu import NpuConfig, cycles, parse_payload
from harness.sim.npu.cycles.staging import with_origins
from harness.sim.npu.program import Step, prepare
from harness.sim.npu.stream import Command

SCHEMA = 1  #: of `Profile.to_json`


@dataclass(frozen=True)
class Operator:
    """One operation of the NPU with those chained to it, or one DMA transfer.

    The terms say how many NPU cycles each part is busy; they overlap in time.
    """

    kinds: tuple[str, ...]  #: such as ("CONV",), or ("CONV", "ELEMENTWISE ADD") for a chain
    offsets: tuple[int, ...]  #: of the commands that start them, bytes from the start of the stream
    layer: Layer | None  #: a transfer's is the one whose weights and scales it brings
    shape: tuple[int, int, int] | None  #: height, width, depth of what is written; None for a transfer
    macs: int  #: products of the convolution or matrix product
    terms: dict[str, int]  #: by `TERMS`
    traffic: cycles.Traffic
    start: int  #: cycles from the start of the stream
    end: int
    added: int  #: how far it moves the end of all work so far: what it accounts for in the total
    bound: Bound

    @property
    def kind(self) -> str:
        """What it is."""
        return " + ".join(self.kinds)

    def to_json(self, macs: int) -> dict[str, Any]:
        """Everything, as JSON has it; `macs` are those of the NPU."""
        return {
            "kinds": list(self.kinds),
            "offsets": list(self.offsets),
            "layer": None if self.layer is None else asdict(self.layer),
            "ofm_shape": None if self.shape is None else list(self.shape),
            "macs": self.macs,
            "cycles": {
                "added": self.added,
                "start": self.start,
                "end": self.end,
                **self.terms,
            },
            "bytes": asdict(self.traffic),
            "utilisation_percent": round(utilisation_percent([self], self.end - self.start, macs), 2),
            "bound": self.bound,
        }


TERMS = ("mac", "weight_decoder", "output_stage", "memory", "issue")
"""What the estimate says each part of the NPU needs: fields of `KernelCycles` and `CycleEstimate`."""


@dataclass(frozen=True)
class Profile:
    """A network's operations in the order of its stream."""

    model: CompiledModel
    memory: cycles.VelaProfile
    operators: tuple[Operator, ...]
    estimate: cycles.CycleEstimate  #: of the whole network

    @property
    def cycles_by_bound(self) -> dict[Bound, int]:
        """The total by what decides the time, the largest part first."""
        sums: Counter[Bound] = Counter()
        for operator in self.operators:
            sums[operator.bound] += operator.added
        return {bound: added for bound, added in sums.most_common() if added}

    def to_json(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        model, total = self.model, self.estimate.total
        return {
            "schema": SCHEMA,
            "source": "estimate",
            "model": {"name": model.name, "sha256": model.source_sha256},
            "npu": {"macs": model.macs},
            "memory": asdict(self.memory),
            "vela": {"version": model.vela_version, "options": list(model.vela_options)},
            "total": {
                "macs": sum(operator.macs for operator in self.operators),
                "cycles": {"total": total, **_terms(self.estimate)},
                "cycles_by_bound": self.cycles_by_bound,
                "bytes": asdict(self.estimate.traffic),
                "utilisation_percent": round(utilisation_percent(self.operators, total, model.macs), 2),
            },
            "operators": [operator.to_json(model.macs) for operator in self.operators],
        }


def profile(model: NamedModel, memory: cycles.VelaProfile) -> Profile:
    """Estimate each operation of a network.

    Raises FirmwareFault when the NPU would not run the stream to its end, UsageError when the stream writes
    to a memory that cannot be written, or jumps by what it computes.
    """
    compiled = model.compiled
    program = prepare(parse_payload(compiled.command_stream).stream, NpuConfig(compiled.macs))
    if program.fork is not None:
        raise UsageError(
            f"{compiled.name} jumps by a result at stream offset {program.fork.jump.offset:#x}: how long it "
            "takes depends on its inputs",
            hint="harness npu run shows the cycles of one inference",
        )
    if program.fault is not None:
        raise FirmwareFault(f"{compiled.name} on the NPU model: {program.fault}")
    work = list(with_origins(step.operation.work(memory.regions) for step in program.steps))
    try:
        operators = tuple(_operators(model, memory, program.steps, work))
        return Profile(compiled, memory, operators, cycles.estimate(work, compiled.macs, memory.memories))
    except cycles.ProfileError as error:
        raise UsageError(f"{compiled.name} does not fit these memories: {error}") from error


def utilisation_percent(operators: Iterable[Operator], elapsed: int, macs: int) -> float:
    """Products of `operators`, in percent of those that `macs` MACs could make in `elapsed` cycles."""
    return 100 * sum(operator.macs for operator in operators) / (elapsed * macs) if elapsed else 0.0


def _operators(
    model: NamedModel, memory: cycles.VelaProfile, steps: Sequence[Step], work: Sequence[cycles.Work]
) -> Iterator[Operator]:
    """One operator for each slot of the timetable."""
    total = 0
    for slot in cycles.timetable(work, model.compiled.macs, memory.memories):
        added = max(0, slot.end - total)
        total += added
        if slot.kernel is None:
            yield _transfer(slot, added, steps[slot.first].command, _reader(model.layers, slot, steps, work))
        else:
            items = zip(steps[slot.first : slot.last + 1], work[slot.first : slot.last + 1], strict=True)
            chain = [(step.command, item) for step, item in items if isinstance(item, cycles.KernelWork)]
            yield _kernels(model, memory, slot.kernel, slot, added, chain)


def _transfer(slot: cycles.Slot, added: int, command: Command, layer: Layer | None) -> Operator:
    return Operator(
        kinds=(operation_name(command),),
        offsets=(command.offset,),
        layer=layer,
        shape=None,
        macs=0,
        terms=dict.fromkeys(TERMS, 0) | {"memory": slot.memory},
        traffic=slot.traffic,
        start=slot.start,
        end=slot.end,
        added=added,
        bound=Bound.DMA if added else Bound.HIDDEN,
    )


def _kernels(
    model: NamedModel,
    memory: cycles.VelaProfile,
    kernel: cycles.KernelCycles,
    slot: cycles.Slot,
    added: int,
    chain: Sequence[tuple[Command, cycles.KernelWork]],
) -> Operator:
    commands, work = zip(*chain, strict=True)
    offsets = tuple(command.offset for command in commands)
    bound = bound_of(work, kernel, model.compiled.macs, memory.memories)
    return Operator(
        kinds=tuple(map(operation_name, commands)),
        offsets=offsets,
        layer=next((model.layers[offset] for offset in offsets if offset in model.layers), None),
        shape=_size(work[-1].ofm),
        macs=sum(map(_products, work)),
        terms=_terms(kernel),
        traffic=slot.traffic,
        start=slot.start,
        end=slot.end,
        added=added,
        bound=bound if added else Bound.HIDDEN,
    )


def _reader(
    layers: Layers, slot: cycles.Slot, steps: Sequence[Step], work: Sequence[cycles.Work]
) -> Layer | None:
    """The layer of the first later operation whose weights and scales a transfer brings; None without any."""
    copy = work[slot.first]
    if not isinstance(copy, cycles.DmaWork) or copy.place is None:
        return None
    for step, item in zip(steps[slot.first :], work[slot.first :], strict=True):
        if isinstance(item, cycles.KernelWork) and item.weights is not None:
            place = item.weights.scale_place
            inside = 0 <= place.offset - copy.place.offset < copy.size
            if place.region == copy.place.region and inside:
                return layers.get(step.command.offset)
    return None


def _terms(estimate: cycles.KernelCycles | cycles.CycleEstimate) -> dict[str, int]:
    return {term: getattr(estimate, term) for term in TERMS}


def _size(feature_map: cycles.FeatureMap) -> tuple[int, int, int]:
    return feature_map.height, feature_map.width, feature_map.depth


def _products(work: cycles.KernelWork) -> int:
    outputs = prod(_size(work.ofm)) * prod(work.kernel)
    if work.unit is cycles.Unit.CONV:
        return outputs * work.ifms[0].depth
    return outputs if work.unit is cycles.Unit.DEPTHWISE else 0
