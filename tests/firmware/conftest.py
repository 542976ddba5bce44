"""Running the firmware in the simulator, on a model small enough to be written by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from harness.boards.board import Board
from harness.boards.config import BoardConfig, load_board
from harness.build.firmware_tree import Edit, FirmwareTree
from harness.build.image import build_image
from harness.build.toolchain import find_toolchain
from harness.console.protocol import Transcript, parse_console
from harness.models.compiled import Bytes, CompiledModel, Tensor
from harness.models.inputs import InputSet
from harness.plan import DRIVER_MODES, Plan, PlannedModel, plan_comparison
from harness.results.assembly import assemble
from harness.results.run_record import RunRecord

CONFIG_256_MACS = 0x20000118
ARCHITECTURE = 0x20007000
WEIGHTS, SCRATCH, INPUT, OUTPUT = 0, 1, 3, 4

# Commands of the Ethos-U85 by number: Vela 5.2, regor/architecture/ethosu85/ethos_u85_interface.hpp.
STOP = 0xFFFF0000
DMA_START, DMA_WAIT, SOURCE_REGION, DESTINATION_REGION = 16, 17, 304, 305
SOURCE, DESTINATION, LENGTH = 48, 49, 50


def dma(source: tuple[int, int], destination: tuple[int, int], size: int) -> list[int]:
    """Command words that copy bytes between two places, each a region and an offset."""
    with_payload = 1 << 14
    return [
        SOURCE_REGION | source[0] << 16,
        DESTINATION_REGION | destination[0] << 16,
        *(SOURCE | with_payload, source[1]),
        *(DESTINATION | with_payload, destination[1]),
        *(LENGTH | with_payload, size),
        DMA_START,
        DMA_WAIT,
    ]


def cop2(commands: Sequence[int], config: int = CONFIG_256_MACS) -> bytes:
    """The driver payload of a command stream, with the layout that Vela gives it."""
    stream = struct.pack(f"<{len(commands)}I", *commands)
    metadata = struct.pack("<4sIIIIIQI", b"VEUM", 1, 20, config, ARCHITECTURE, 2, 0, 0xFFFFFFFF)
    entry = struct.pack("<I", len(metadata)) + metadata + stream
    actions = struct.pack("<II", 1, len(entry)) + entry
    return struct.pack("<4sIQ", b"COP2", 1, len(actions)) + actions


def cop1(commands: Sequence[int]) -> bytes:
    """The payload that Vela makes for a microcontroller's runtime; its stream starts at a multiple of 16."""
    optimizer_config, nop, command_stream = 1, 5, 2
    head = [optimizer_config, CONFIG_256_MACS, ARCHITECTURE, nop, nop, nop]
    words = [*head, command_stream | len(commands) << 16, *commands]
    return b"COP1" + struct.pack(f"<{len(words)}I", *words)


def tensor(name: str, region: int, offset: int, size: int) -> Tensor:
    return Tensor(name, (size,), "uint8", region, Bytes(offset), Bytes(size))


def hand_written(
    name: str, commands: Sequence[int], inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...]
) -> CompiledModel:
    """A network of these commands, with 64 bytes of weights and 16 of scratch."""
    return CompiledModel(
        name=name,
        source_sha256="",
        macs=256,
        command_stream=cop2(commands),
        weights=bytes(range(64)),
        scratch_size=Bytes(16),
        scratch_fast_size=Bytes(0),
        inputs=inputs,
        outputs=outputs,
        vela_version="",
        vela_options=(),
        tflite=None,
    )


def copying_model(size: int) -> CompiledModel:
    """A network whose output is its input."""
    commands = [*dma((INPUT, 0), (OUTPUT, 0), size), STOP]
    return hand_written(
        "copy", commands, (tensor("input", INPUT, 0, size),), (tensor("copy", OUTPUT, 0, size),)
    )


def revealing_model() -> CompiledModel:
    """A network whose outputs are its input, its weights, and what its scratch held before.

    No compiler would read the scratch before it is written: here it makes leftovers visible.
    """
    commands = [
        *dma((INPUT, 0), (OUTPUT, 0), 100),
        *dma((WEIGHTS, 0), (OUTPUT, 112), 64),
        *dma((SCRATCH, 0), (OUTPUT, 176), 16),
        *dma((INPUT, 0), (SCRATCH, 0), 16),
        STOP,
    ]
    outputs = (
        tensor("input", OUTPUT, 0, 100),
        tensor("weights", OUTPUT, 112, 64),
        tensor("scratch", OUTPUT, 176, 16),
    )
    return hand_written("reveal", commands, (tensor("input", INPUT, 0, 100),), outputs)


def model_in_scratch() -> CompiledModel:
    """A network with input and outputs in scratch memory: its input, and what the scratch held before."""
    commands = [
        *dma((SCRATCH, 128), (SCRATCH, 256), 100),
        *dma((SCRATCH, 0), (SCRATCH, 512), 16),
        *dma((SCRATCH, 128), (SCRATCH, 0), 16),
        STOP,
    ]
    outputs = (tensor("input", SCRATCH, 256, 100), tensor("scratch", SCRATCH, 512, 16))
    model = hand_written("inside", commands, (tensor("input", SCRATCH, 128, 100),), outputs)
    return replace(model, command_stream=cop1(commands), scratch_size=Bytes(640))


def with_inputs(model: CompiledModel) -> PlannedModel:
    """The model with the input sets A (1, 2, 3, …) and B (…, 3, 2, 1)."""
    size = model.inputs[0].size
    rising = bytes(1 + i % 255 for i in range(size))
    return PlannedModel(model, (InputSet("A", (rising,)), InputSet("B", (rising[::-1],))))


@dataclass(frozen=True)
class Firmware:
    """The firmware, built and run on a simulated board."""

    folder: Path
    board: BoardConfig

    def speak(
        self, plan: Plan, *edits: Edit, macs: int = 256, parameters: dict[str, bool | int | str] | None = None
    ) -> Transcript:
        """Run a plan, with edits to the firmware, and return its records."""
        image = build_image(plan, self.board, find_toolchain(), FirmwareTree(edits=edits))
        plan = plan.with_fresh_nonce()
        elf = image.stamped(plan.nonce, self.folder / "image.elf")
        run = Board(self.board, macs, parameters or {}).run(elf)
        return parse_console(run.console, plan.nonce, image.build)

    def run(
        self, plan: Plan, *edits: Edit, macs: int = 256, parameters: dict[str, bool | int | str] | None = None
    ) -> RunRecord:
        """As `speak`, held against the plan."""
        return assemble(self.speak(plan, *edits, macs=macs, parameters=parameters), plan)


@pytest.fixture(scope="session")
def firmware(tmp_path_factory: pytest.TempPathFactory, board_name: str) -> Firmware:
    return Firmware(tmp_path_factory.mktemp("firmware"), load_board(board_name))


@pytest.fixture(scope="session")
def revealing() -> PlannedModel:
    return with_inputs(revealing_model())


@pytest.fixture(scope="session")
def copying() -> PlannedModel:
    """A copy of 4 KiB."""
    return with_inputs(copying_model(4096))


@pytest.fixture(scope="session")
def small_copy() -> PlannedModel:
    """A copy of 1000 bytes."""
    return with_inputs(copying_model(1000))


@pytest.fixture(scope="session")
def parse_error(revealing: PlannedModel) -> PlannedModel:
    """A network whose stream begins with a word that is no command."""
    return with_inputs(replace(revealing.compiled, command_stream=cop2([0x3FF, STOP])))


@pytest.fixture(scope="session")
def idle(revealing: PlannedModel) -> PlannedModel:
    """A network that does nothing, and so writes no output."""
    return with_inputs(replace(revealing.compiled, name="idle", command_stream=cop2([STOP])))


@pytest.fixture(scope="session")
def in_scratch() -> PlannedModel:
    """A network whose input and outputs are parts of its scratch memory."""
    return with_inputs(model_in_scratch())


@pytest.fixture(scope="session")
def idle_in_scratch(in_scratch: PlannedModel) -> PlannedModel:
    """The same, but it does nothing, and so writes no output."""
    return with_inputs(replace(in_scratch.compiled, name="idle", command_stream=cop1([STOP])))


@pytest.fixture(scope="session")
def both_lifetimes(revealing: PlannedModel) -> Plan:
    """The inputs A, B, A in both lifetimes."""
    return plan_comparison(revealing, DRIVER_MODES, (0, 1, 0))


@pytest.fixture(scope="session")
def sound(firmware: Firmware, both_lifetimes: Plan) -> RunRecord:
    """What `both_lifetimes` leads to when nothing is wrong."""
    return firmware.run(both_lifetimes)


@pytest.fixture(scope="session")
def timeless():
    """A function that takes from a run what depends on when in a tick of the timer its jobs start.

    Records take longer or shorter to print with their nonce and checksums, so two runs differ in that.
    """

    def strip(run: RunRecord) -> RunRecord:
        cells = (
            replace(cell, inferences=tuple(replace(one, elapsed_ns=0) for one in cell.inferences))
            for cell in run.cells
        )
        return replace(run, cells=tuple(cells))

    return strip
