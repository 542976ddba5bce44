"""Defects put in on purpose, each of which must be caught, by the check or error that is meant for it."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from pathlib import Path

import pytest

from harness.build.elf import read_elf
from harness.build.firmware_tree import Edit, FirmwareTree
from harness.build.image import FirmwareImage, build_image
from harness.console.protocol import parse_console
from harness.errors import BoardError, ConsoleError
from harness.examination import SEQUENCE, run_model, run_plan
from harness.models.catalog import load_model
from harness.models.compiled import CompiledModel
from harness.models.inputs import standard_inputs
from harness.models.reference import reference_outputs
from harness.models.vela import compile_model
from harness.plan import DRIVER_MODES, Plan, PlannedModel, plan_comparison
from harness.results.assembly import assemble
from harness.results.equivalence import Comparison, Reference, compare
from harness.results.run_record import RunRecord
from harness.settings import Settings, resolve_settings

CLOCK_HZ = 1_000_000_000


@pytest.fixture(scope="module")
def settings(board_name: str) -> Settings:
    return resolve_settings(board=board_name)


@pytest.fixture(scope="module")
def compiled(settings: Settings) -> CompiledModel:
    source = load_model("ds_cnn")
    return compile_model(source, settings.compile_options(source))


@pytest.fixture(scope="module")
def plan(compiled: CompiledModel) -> Plan:
    return plan_comparison(PlannedModel(compiled, standard_inputs(compiled)), DRIVER_MODES, SEQUENCE)


@pytest.fixture(scope="module")
def reference(compiled: CompiledModel) -> Reference:
    inputs = standard_inputs(compiled)
    result = reference_outputs(compiled, inputs)
    assert result.digests is not None
    return Reference(result.oracle, dict(zip((each.label for each in inputs), result.digests, strict=True)))


def checks(run: RunRecord, reference: Reference) -> set[str]:
    return {finding.check for finding in compare(run, reference, CLOCK_HZ).findings}


LIFETIME, STEPS, DEVICE = "runner/lifetime.c", "runner/steps.c", "ethosu/ethosu_device.c"
NO_REWIND = Edit(
    LIFETIME,
    '    {"rewind_inputs", PHASE_WRITE_INPUTS, step_rewind_inputs, DRIVER_PERSISTENT | IO_IN_BUFFERS},\n',
    "",
)
NOT_ENABLED = Edit(DEVICE, "    device_write(device, NPU_PMCNTENSET, PMCNTEN_CYCLES);\n", "")

WRITE = "ethosu_buffer_write(batch, execution->model->input_buffers[index], staging, size)"
FIRMWARE_DEFECTS = {
    "a persistent buffer written without its rewind": ((NO_REWIND,), "status"),
    "inputs written only once": (
        (
            NO_REWIND,
            Edit(
                STEPS,
                f"    error = {WRITE};\n",
                f"    error = batch->buffers[index].position != 0 ? ETHOSU_OK : {WRITE};\n",
            ),
        ),
        "outputs-modes",
    ),
    "a cycle counter not reset between inferences": (
        (Edit(DEVICE, "PMCR_COUNT_ENABLE | PMCR_CYCLE_RESET", "PMCR_COUNT_ENABLE"),),
        "npu-cycles",
    ),
    "a cycle counter read before the end": (
        (
            Edit(
                DEVICE,
                "    uint32_t status = device_read(device, NPU_STATUS);\n\n    while",
                "    *cycles = read_cycles(device);\n"
                "    uint32_t status = device_read(device, NPU_STATUS);\n\n    while",
            ),
            Edit(
                DEVICE,
                "    *cycles = read_cycles(device);\n    return *cycles == 0",
                "    return *cycles == 0",
            ),
        ),
        "npu-cycles-time",
    ),
    "a cycle counter never enabled": ((NOT_ENABLED,), "status"),
    "a cycle counter never enabled, by a driver that does not look": (
        (NOT_ENABLED, Edit(DEVICE, "*cycles == 0 ? ETHOSU_NO_CYCLES : ETHOSU_OK", "ETHOSU_OK")),
        "npu-cycles-zero",
    ),
    "a buffer that is not freed": (
        (Edit(STEPS, "    ethosu_batch_destroy(&execution->scratch);\n", ""),),
        "leak",
    ),
    "a result copied before the cache is invalidated": (
        (
            Edit(
                "ethosu/ethosu_memory.c",
                "device->counts.invalidated += cache_invalidate(from, size);\n    memcpy(to, from, size);",
                "memcpy(to, from, size);\n    device->counts.invalidated += cache_invalidate(from, size);",
            ),
        ),
        "outputs-reference",
    ),
}


@pytest.mark.parametrize("defect", FIRMWARE_DEFECTS)
def test_a_defect_of_the_firmware_is_caught(
    defect: str, settings: Settings, compiled: CompiledModel, reference: Reference
) -> None:
    edits, check = FIRMWARE_DEFECTS[defect]
    defective = dataclasses.replace(settings, firmware=FirmwareTree(edits=edits))
    run = run_model(compiled, standard_inputs(compiled), SEQUENCE, defective)
    assert check in checks(run, reference)


def run_image(elf: Path, image: FirmwareImage, plan: Plan, settings: Settings) -> RunRecord:
    console = settings.board_with(256).run(elf).console
    return assemble(parse_console(console, plan.nonce, image.build), plan)


def test_one_weight_byte_flipped_in_the_image_is_caught(
    settings: Settings, plan: Plan, reference: Reference, tmp_path: Path
) -> None:
    image = build_image(plan, settings.board, settings.toolchain)
    elf = image.stamped(plan.nonce, tmp_path / "image.elf")
    content = bytearray(elf.read_bytes())
    weights = plan.models[0].compiled.weights
    place = read_elf(elf).file_offset("model_0_weights")
    assert content[place : place + len(weights)] == weights
    content[place + len(weights) // 2] ^= 0x10
    elf.write_bytes(content)
    assert "outputs-reference" in checks(run_image(elf, image, plan, settings), reference)


def test_an_image_that_holds_older_weights_is_caught(
    settings: Settings, compiled: CompiledModel, plan: Plan, tmp_path: Path
) -> None:
    newer = bytearray(compiled.weights)
    newer[100] ^= 1
    new_plan = dataclasses.replace(
        plan,
        models=(
            dataclasses.replace(plan.models[0], compiled=dataclasses.replace(compiled, weights=bytes(newer))),
        ),
    )
    older = build_image(plan, settings.board, settings.toolchain)
    newest = build_image(new_plan, settings.board, settings.toolchain)
    elf = older.stamped(plan.nonce, tmp_path / "older.elf")
    with pytest.raises(ConsoleError, match=f"the board ran image {older.build}, not {newest.build}"):
        run_image(elf, newest, new_plan, settings)


def test_a_stream_with_an_unknown_opcode_is_an_npu_fault_in_every_mode(
    settings: Settings, compiled: CompiledModel
) -> None:
    stream = bytearray(compiled.command_stream)
    middle = len(stream) // 2 & ~3
    stream[middle : middle + 4] = (0x03FE).to_bytes(4, "little")
    spoiled = dataclasses.replace(compiled, command_stream=bytes(stream))
    run = run_model(spoiled, standard_inputs(compiled), SEQUENCE, settings)
    comparison: Comparison = compare(run, Reference("none", None), CLOCK_HZ)
    assert comparison.faulted
    assert {inference.status for cell in run.cells for inference in cell.inferences} == {"npu-fault"}
    assert {fault.kind for fault in run.faults} == {"npu"}
    assert {cell.live_objects for cell in run.cells} == {0}


def test_a_stream_for_another_mac_count_is_refused_before_it_runs(
    settings: Settings, compiled: CompiledModel, plan: Plan
) -> None:
    other = dataclasses.replace(settings, parameters={"host.ethosu.num_macs": "512"})
    run = assemble(run_plan(plan, other), plan)
    assert run.faults[0].kind == "refused"
    assert run.faults[0].details == {"want": "20000118", "have": "20001119"}
    assert {cell.status for cell in run.cells} == {"refused"}


CONSOLE_DEFECTS = {
    "a simulator killed in the middle": ("head -c 2000; kill -9 $$", BoardError, "killed by signal 9"),
    "a record with a bad CRC": ("sed 's/status=ok/status=ko/'", ConsoleError, "wrong CRC"),
    "a record that is lost": ("sed '7d'", ConsoleError, "came where record 6 was due"),
    "a foreign nonce": (
        f"{shlex.quote(sys.executable)} -c {{script}}",
        ConsoleError,
        "belongs to another run",
    ),
    "one output byte flipped": ("sed 's/ b64=./ b64=A/'", ConsoleError, "wrong CRC"),
    "silence": ("cat > /dev/null", ConsoleError, "holds no record"),
}
# Gives the run another nonce, and its records the CRCs that go with it.
FORGE = """
import re, sys, zlib
nonce = ''
for line in sys.stdin:
    forged = re.sub('nonce=[0-9a-f]{4}', 'nonce=ffff', line.rstrip())
    text = forged[:forged.rindex(' *')] if ' *' in forged else forged
    found = re.search('nonce=([0-9a-f]+)', text)
    nonce = found[1] if found else nonce
    print(f'{text} *{zlib.crc32(text.encode(), zlib.crc32(nonce.encode())):08x}')
"""


@pytest.mark.parametrize("defect", CONSOLE_DEFECTS)
def test_a_defect_between_board_and_harness_is_caught(
    defect: str, settings: Settings, plan: Plan, tmp_path: Path
) -> None:
    filter_, error, said = CONSOLE_DEFECTS[defect]
    model = tmp_path / "model"
    filter_ = filter_.format(script=shlex.quote(FORGE)) if "{script}" in filter_ else filter_
    model.write_text(f'#!/bin/sh\n{shlex.quote(sys.executable)} -m harness.sim "$@" | {filter_}\n')
    model.chmod(0o755)
    board = settings.board.model_copy(update={"executable": str(model)})
    filtered = dataclasses.replace(settings, board=board)
    with pytest.raises(error, match=said):
        run_plan(plan, filtered)
