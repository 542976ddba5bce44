"""Where the cycles of a network go: its operations in order, with the cost of each.

Every figure is an estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import prod
from typing import Any

from harness.errors import FirmwareFault, UsageError
from harness.models.compiled import CompiledModel
from harness.npu_tools.bound import Bound, bound_of
from harness.npu_tools.disassembly import operation_name
from harness.npu_tools.layers import Layer, NamedModel
from harness.sim.npu import NpuConfig, cycles, parse_payload
from harness.sim.npu.cycles.staging import with_origins
from harness.sim.npu.program import Step, prepare

SCHEMA = 1  #: of `Profile.to_json`


@dataclass(frozen=True)
class Operator:
    """One operation of the NPU with those chained to it, or one DMA transfer.

    The terms say how many NPU cycles each part is busy; they overlap in time.
    """

    kinds: tuple[str, ...]  #: such as ("CONV",), or ("CONV", "ELEMENTWISE ADD") for a chain
    offsets: tuple[int, ...]  #: of the commands that start them, bytes from the start of the stream
    layer: Layer | None
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
                "bytes": asdict(self.estimate.traffic),
                "utilisation_percent": round(utilisation_percent(self.operators, total, model.macs), 2),
            },
            "operators": [operator.to_json(model.macs) for operator in self.operators],
        }


def profile(model: NamedModel, memory: cycles.VelaProfile) -> Profile:
    """Estimate each operation of a network.

    Raises FirmwareFault when the NPU would not run the stream to its end, UsageError when the stream writes
    to a memory that cannot be written.
    """
    compiled = model.compiled
    program = prepare(parse_payload(compiled.command_stream).stream, NpuConfig(compiled.macs))
    if program.fault is not None:
        raise FirmwareFault(f"{compiled.name} on the NPU model: {program.fault}")
    work = list(with_origins(step.operation.work(memory.regions) for step in program.steps))
    try:
        operators = _operators(model, memory, program.steps, work)
        return Profile(compiled, memory, operators, cycles.estimate(work, compiled.macs, memory.memories))
    except cycles.ProfileError as error:
        raise UsageError(f"{compiled.name} does not fit these memories: {error}") from error


def utilisation_percent(operators: Iterable[Operator], elapsed: int, macs: int) -> float:
    """Products of `operators`, in percent of those that `macs` MACs could make in `elapsed` cycles."""
    return 100 * sum(operator.macs for operator in operators) / (elapsed * macs) if elapsed else 0.0


def _operators(
    model: NamedModel, memory: cycles.VelaProfile, steps: Sequence[Step], work: Sequence[cycles.Work]
) -> tuple[Operator, ...]:
    macs = model.compiled.macs
    operators = []
    total = 0
    for slot in cycles.timetable(work, macs, memory.memories):
        positions = [p for p in range(slot.first, slot.last + 1) if not isinstance(work[p], _WAITS)]
        commands = [steps[position].command for position in positions]
        chain = [item for item in work[slot.first : slot.last + 1] if isinstance(item, cycles.KernelWork)]
        added = max(0, slot.end - total)
        total += added
        known = [model.layers[command.offset] for command in commands if command.offset in model.layers]
        operators.append(
            Operator(
                kinds=tuple(map(operation_name, commands)),
                offsets=tuple(command.offset for command in commands),
                layer=known[0] if known else None,
                shape=_size(chain[-1].ofm) if chain else None,
                macs=sum(map(_products, chain)),
                terms=dict.fromkeys(TERMS, 0) | {"memory": slot.memory}
                if slot.kernel is None
                else _terms(slot.kernel),
                traffic=slot.traffic,
                start=slot.start,
                end=slot.end,
                added=added,
                bound=_bound(slot, chain, added, macs, memory),
            )
        )
    return tuple(operators)


_WAITS = (cycles.KernelWait, cycles.DmaWait)


def _bound(
    slot: cycles.Slot,
    chain: Sequence[cycles.KernelWork],
    added: int,
    macs: int,
    memory: cycles.VelaProfile,
) -> Bound:
    if not added:
        return Bound.HIDDEN
    return Bound.DMA if slot.kernel is None else bound_of(chain, slot.kernel, macs, memory.memories)


def _terms(estimate: cycles.KernelCycles | cycles.CycleEstimate) -> dict[str, int]:
    return {term: getattr(estimate, term) for term in TERMS}


def _size(feature_map: cycles.FeatureMap) -> tuple[int, int, int]:
    return feature_map.height, feature_map.width, feature_map.depth


def _products(work: cycles.KernelWork) -> int:
    outputs = prod(_size(work.ofm)) * prod(work.kernel)
    if work.unit is cycles.Unit.CONV:
        return outputs * work.ifms[0].depth
    return outputs if work.unit is cycles.Unit.DEPTHWISE else 0
