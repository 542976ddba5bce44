"""Rendering: a plan and a board become C tables, assembler data, a linker script and a platform header."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2

from harness.boards.config import BoardConfig, Memory
from harness.data_files import data_folder
from harness.errors import BuildError, ModelError, UsageError
from harness.models.compiled import INPUT_REGION, OUTPUT_REGION, CompiledModel, Tensor
from harness.plan import Cell, FailingStage, Job, Plan, PlannedModel, Program, TempAllocator

NONCE_LENGTH = 16
NONCE_PLACEHOLDER = "@nonce@".center(NONCE_LENGTH, "-")  #: not hexadecimal, so never mistaken for a nonce

POOL_ROUNDING = 16  #: bytes; each buffer of a batch starts at a multiple of it
UART_WINDOW = 0x1000  #: bytes of a PL011's registers
NPU_WINDOW = 0x4000  #: bytes of an Ethos-U85's registers
STACK_SIZE = 0x8000  #: bytes; the deepest call chain, a record within a cell, needs about 1 KiB
MAX_ADDRESS = 1 << 39  #: the firmware's MMU tables map 39-bit addresses

# A slot holds some six blocks at a time; what comes on top lets a driver that leaks be told of its leaks.
BLOCKS_OF_SLOT = 16
BLOCKS_TO_LEAK = 128

PAGE = 4096  #: bytes; inputs and outputs are mapped by the page
WORD = 4  #: bytes
COP1_NOP = (5).to_bytes(WORD, "little")
STREAM_START = 28  #: bytes of a payload before its metadata, whose length is the last of them

_LIFETIMES = {"per-inference": "PLAN_PER_INFERENCE", "persistent": "PLAN_PERSISTENT"}
_TEMPS = {TempAllocator.MALLOC: "TEMP_MALLOC", TempAllocator.CACHING: "TEMP_CACHING"}
_STAGES = {FailingStage.INIT: "PLAN_INITIALISE", FailingStage.INFER: "PLAN_INFER"}
_PROGRAMS = {
    Program.CELLS: "run_cells",
    Program.CALIBRATE: "calibrate",
}


@dataclass(frozen=True)
class Blob:
    """Bytes that go into the image as they are, under a symbol."""

    symbol: str
    data: bytes

    @property
    def file(self) -> str:
        """Its file's name: changed bytes are a new file, as compilers' caches do not look into `.incbin`."""
        return f"blobs/{hashlib.sha256(self.data).hexdigest()}.bin"


@dataclass(frozen=True)
class Rendered:
    """The generated part of an image's sources."""

    files: Mapping[str, str]  #: name to text: plan.c, blobs.S, capacity.h, platform.h, linker.ld
    blobs: tuple[Blob, ...]


@dataclass(frozen=True)
class _Buffers:
    """The buffers of a model's inputs or outputs, in the order in which the compiler has placed them."""

    sizes: tuple[int, ...]
    numbers: tuple[int, ...]  #: for each tensor, in the model's order, that of its buffer

    @staticmethod
    def of(tensors: Sequence[Tensor]) -> _Buffers:
        placed = _as_placed(tensors)
        return _Buffers(
            tuple(tensor.size for tensor in placed), tuple(placed.index(tensor) for tensor in tensors)
        )


@dataclass(frozen=True)
class _ModelTable:
    """What plan.c says of one model."""

    name: str
    macs: int
    command_stream: str
    command_stream_size: int
    weights: str
    weights_size: int
    scratch_size: int
    scratch_fast_size: int
    input_sizes: tuple[int, ...]
    output_sizes: tuple[int, ...]
    io_in_scratch: bool
    input_buffers: _Buffers
    output_buffers: _Buffers
    input_offsets: tuple[int, ...]
    output_offsets: tuple[int, ...]
    input_sets: tuple[tuple[str, tuple[str, ...]], ...]  #: label, and a symbol for each input tensor
    variable_sizes: tuple[int, ...]
    variable_offsets: tuple[int, ...]
    initial_state: str


@dataclass(frozen=True)
class _CellTable:
    """What plan.c says of one cell."""

    mode: str
    driver: str
    io: str
    temp: str
    models: tuple[int, ...]
    jobs: tuple[Job, ...]


@dataclass(frozen=True)
class _FailureTable:
    """What plan.c says of one failure."""

    stage: str
    step: str
    slot: int
    occurrence: int
    call: int  #: from 1


@dataclass(frozen=True)
class _Room:
    """How much the largest cell, or model, needs."""

    output_bytes: int
    slots: int
    input_sets: int
    state_bytes: int
    largest_state_bytes: int


def render(plan: Plan, board: BoardConfig) -> Rendered:
    """The generated sources of a plan's image on a board.

    Raises UsageError for a memory map that cannot hold an image, and ModelError for tensors that the driver
    does not place where the compiled model expects them. The plan's nonce leaves no trace.
    """
    blobs: list[Blob] = []
    models = tuple(_model_table(index, plan, blobs) for index in range(len(plan.models)))
    room = _room(plan, models)
    return Rendered(
        files={
            "blobs.S": _render("blobs.S.j2", blobs=blobs),
            "capacity.h": _render("capacity.h.j2", pool_blocks=BLOCKS_TO_LEAK + BLOCKS_OF_SLOT * room.slots),
            "linker.ld": _render(
                "linker.ld.j2", board=board, image_room=image_room(board.memory), stack_size=STACK_SIZE
            ),
            "plan.c": _render(
                "plan.c.j2",
                blobs=blobs,
                models=models,
                cells=tuple(_cell_table(cell, plan.models) for cell in plan.cells),
                failures=tuple(
                    _FailureTable(_STAGES[each.stage], each.step, each.slot, each.occurrence, each.call + 1)
                    for each in plan.failures
                ),
                room=room,
                program=_PROGRAMS[plan.program],
                plan=plan,
            ),
            "platform.h": _render("platform.h.j2", board=board, uart_size=UART_WINDOW, npu_size=NPU_WINDOW),
        },
        blobs=tuple(blobs),
    )


def _room(plan: Plan, models: Sequence[_ModelTable]) -> _Room:
    return _Room(
        output_bytes=max((sum(map(_rounded, model.output_sizes)) for model in models), default=0),
        slots=max((len(cell.models) for cell in plan.cells), default=0),
        input_sets=max(
            (sum(len(models[model].input_sets) for model in cell.models) for cell in plan.cells), default=0
        ),
        state_bytes=max(
            (sum(sum(models[model].variable_sizes) for model in cell.models) for cell in plan.cells),
            default=0,
        ),
        largest_state_bytes=max((sum(model.variable_sizes) for model in models), default=0),
    )


def render_identity(build: str) -> str:
    """The source file that holds the build's digest and the place of the nonce."""
    return _render("identity.c.j2", build=build, nonce_placeholder=NONCE_PLACEHOLDER)


def image_room(memory: Memory) -> int:
    """Bytes from the load address on that an image may take: up to the DMA pool or the end of the RAM.

    Raises UsageError when the memory map contradicts itself.
    """
    ram_end = memory.ram_base + memory.ram_size
    pool_end = memory.dma_pool_base + memory.dma_pool_size
    if ram_end > MAX_ADDRESS:
        raise UsageError(f"the RAM ends at {ram_end:#x}, beyond the 39 address bits that the firmware maps")
    if not memory.ram_base <= memory.dma_pool_base <= pool_end <= ram_end:
        raise UsageError(f"the DMA pool at {memory.dma_pool_base:#x} does not lie within the RAM")
    if memory.dma_pool_base % PAGE or memory.dma_pool_size % PAGE:
        raise UsageError(f"the DMA pool at {memory.dma_pool_base:#x} is not a number of whole pages")
    if not memory.ram_base <= memory.load_address < ram_end:
        raise UsageError(f"the load address {memory.load_address:#x} does not lie within the RAM")
    if memory.dma_pool_base <= memory.load_address < pool_end:
        raise UsageError(f"the load address {memory.load_address:#x} lies within the DMA pool")
    end = memory.dma_pool_base if memory.load_address < memory.dma_pool_base else ram_end
    return end - memory.load_address


def _model_table(index: int, plan: Plan, blobs: list[Blob]) -> _ModelTable:
    """The table of one model; its bytes are added to `blobs`."""
    planned = plan.models[index]
    compiled = planned.compiled
    stream = compiled.command_stream
    if plan.misalign_stream:
        stream = misaligned(stream)
    _check_layout(compiled)

    def add(role: str, data: bytes) -> str:
        blobs.append(Blob(f"model_{index}_{role}", data))
        return blobs[-1].symbol

    state = b"".join(variable.initial for variable in compiled.variables)
    for inputs in planned.inputs:
        given, needed = [len(data) for data in inputs.tensors], [tensor.size for tensor in compiled.inputs]
        if given != needed:
            raise ModelError(f"{compiled.name} takes inputs of {needed} bytes, not {given} ({inputs.label})")
    return _ModelTable(
        name=compiled.name,
        macs=compiled.macs,
        command_stream=add("command_stream", stream),
        command_stream_size=len(stream),
        weights=add("weights", compiled.weights) if compiled.weights else "NULL",
        weights_size=len(compiled.weights),
        scratch_size=compiled.scratch_size,
        scratch_fast_size=compiled.scratch_fast_size,
        input_sizes=tuple(tensor.size for tensor in compiled.inputs),
        output_sizes=tuple(tensor.size for tensor in compiled.outputs),
        io_in_scratch=compiled.io_is_in_scratch,
        input_buffers=_Buffers.of(compiled.inputs),
        output_buffers=_Buffers.of(compiled.outputs),
        input_offsets=tuple(tensor.offset for tensor in compiled.inputs),
        output_offsets=tuple(tensor.offset for tensor in compiled.outputs),
        input_sets=tuple(
            (
                inputs.label,
                tuple(add(f"input_{number}_{i}", data) for i, data in enumerate(inputs.tensors)),
            )
            for number, inputs in enumerate(planned.inputs)
        ),
        variable_sizes=tuple(variable.size for variable in compiled.variables),
        variable_offsets=tuple(variable.offset for variable in compiled.variables),
        initial_state=add("initial_state", state) if state else "NULL",
    )


def _check_layout(compiled: CompiledModel) -> None:
    """Inputs and outputs must lie where the runner puts them: in scratch, or in buffers of their own.

    The CPU touches scratch memory only where inputs and outputs lie in it, so variables need them there.
    """
    for kind, tensors in (("input", compiled.inputs), ("output", compiled.outputs)):
        if not tensors:
            raise ModelError(f"{compiled.name} has no {kind}, so nothing could be fed or compared")
    if compiled.variables and not compiled.io_is_in_scratch:
        raise ModelError(
            f"{compiled.name} keeps variables between inferences, and its inputs or outputs do not lie in "
            "scratch memory with them"
        )
    if compiled.io_is_in_scratch:
        for tensor in (*compiled.inputs, *compiled.outputs, *compiled.variables):
            if tensor.offset + tensor.size > compiled.scratch_size:
                raise ModelError(
                    f"{compiled.name}: tensor {tensor.name!r} of {tensor.size} bytes lies at offset "
                    f"{tensor.offset} of a scratch memory of {compiled.scratch_size} bytes"
                )
    else:
        _check_batch(compiled.name, compiled.inputs, INPUT_REGION)
        _check_batch(compiled.name, compiled.outputs, OUTPUT_REGION)


def _check_batch(model: str, tensors: Sequence[Tensor], region: int) -> None:
    """A batch of buffers is one allocation, in which each starts behind the one before, rounded up to 16."""
    offset = 0
    for tensor in _as_placed(tensors):
        if (tensor.region, tensor.offset) != (region, offset):
            raise ModelError(
                f"{model}: tensor {tensor.name!r} lies at offset {tensor.offset} of region {tensor.region}, "
                f"where the driver puts it at offset {offset} of region {region}"
            )
        offset += _rounded(tensor.size)


def _as_placed(tensors: Sequence[Tensor]) -> list[Tensor]:
    return sorted(tensors, key=lambda tensor: tensor.offset)


def misaligned(payload: bytes) -> bytes:
    """A payload whose command stream begins one word later.

    In COP1 a NOP more precedes it. In COP2 the metadata before it has one word more, and the words that count
    what follows grow with it: those of the payload, of its one entry, and of the metadata (Vela 5.2,
    regor/tflite/custom_operator_ethosu.hpp).
    """
    if payload[:4] == b"COP1":
        return payload[:4] + COP1_NOP + payload[4:]
    words = list(struct.unpack_from("<7I", payload))
    start = STREAM_START + words[6]
    for counting in (2, 5, 6):
        words[counting] += WORD
    return struct.pack("<7I", *words) + payload[STREAM_START:start] + bytes(WORD) + payload[start:]


def _cell_table(cell: Cell, models: Sequence[PlannedModel]) -> _CellTable:
    for job in cell.jobs:
        if job.slot >= len(cell.models):
            raise UsageError(f"a cell runs {job}, but has only {len(cell.models)} slots")
        input_sets = len(models[cell.models[job.slot]].inputs)
        if job.input >= input_sets:
            raise UsageError(f"a cell runs {job}, but its model has only {input_sets} input sets")
    return _CellTable(
        mode=str(cell.mode),
        driver=_LIFETIMES[cell.mode.driver],
        io=_LIFETIMES[cell.mode.io],
        temp=_TEMPS[cell.mode.temp],
        models=cell.models,
        jobs=cell.jobs,
    )


def _rounded(size: int) -> int:
    return -(-size // POOL_ROUNDING) * POOL_ROUNDING


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(data_folder("templates")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701  the output is C, not HTML
    )
    environment.filters["hex"] = "0x{:08x}".format
    environment.filters["comment"] = _comment_text
    return environment


def _comment_text(text: str) -> str:
    """A text of the user's, made fit for a C comment."""
    return text.replace("*/", "* /").encode("ascii", "backslashreplace").decode().replace("\n", " ")


def _render(template: str, **values: object) -> str:
    try:
        return _templates().get_template(template).render(values)
    except jinja2.TemplateError as error:
        raise BuildError(f"templates/{template}: {error}") from error
