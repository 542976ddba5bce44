"""Rendering: the same plan gives the same sources, and what cannot be right is refused."""

from __future__ import annotations

import struct
from dataclasses import replace

import jinja2
import pytest

from harness.boards.config import load_board
from harness.build import render as rendering
from harness.build.render import image_room, misaligned, render
from harness.errors import BuildError, ModelError, UsageError
from harness.models.compiled import Bytes
from harness.plan import (
    ALL_MODES,
    PER_INFERENCE,
    Cell,
    FailingStage,
    Failure,
    Job,
    Plan,
    Program,
    Scratch,
    Zeroing,
    plan_loaded,
)


@pytest.fixture
def board(board_name):
    return load_board(board_name)


def moved(board, **addresses):
    return board.model_copy(update={"memory": board.memory.model_copy(update=addresses)})


def with_model(plan, **changes):
    planned = plan.models[0]
    return replace(plan, models=(replace(planned, compiled=replace(planned.compiled, **changes)),))


def test_two_renderings_are_equal(plan, board):
    assert render(plan, board) == render(plan, board)


def test_the_nonce_leaves_no_trace(plan, board):
    assert render(plan.with_fresh_nonce(), board) == render(plan, board)


def test_every_file_names_its_template(plan, board):
    for name, text in render(plan, board).files.items():
        assert f"generated from templates/{name}.j2" in text.split("*/")[0]


def test_addresses_come_from_the_board(plan, board):
    load_address = board.memory.ram_base + 0x30000
    files = render(plan, moved(board, load_address=load_address, npu_sram_base=0x3000000)).files
    assert f"ORIGIN = {load_address:#x}" in files["linker.ld"]
    assert "NPU_SRAM_BASE UINT64_C(0x03000000)" in files["platform.h"]


def test_blobs_are_named_by_their_content(plan, board):
    before = {blob.symbol: blob.file for blob in render(plan, board).blobs}
    after = {blob.symbol: blob.file for blob in render(with_model(plan, weights=b"other"), board).blobs}
    assert {symbol for symbol in before if before[symbol] != after[symbol]} == {"model_0_weights"}


def test_a_model_name_cannot_end_the_comment_that_holds_it(plan, board):
    assert "two * / inputs" in render(plan, board).files["plan.c"]


def test_a_calibration_has_no_models_and_no_cells(board):
    text = render(Plan((), (), Program.CALIBRATE), board).files["plan.c"]
    assert ".program = calibrate," in text
    assert ".cells = NULL" in text


def test_an_undefined_name_in_a_template_is_a_build_error(plan, board, monkeypatch):
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(dict.fromkeys(("blobs.S.j2", "linker.ld.j2"), "{{ no_such_name }}")),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701  as in the product: the output is C
    )
    monkeypatch.setattr(rendering, "_templates", lambda: environment)
    with pytest.raises(BuildError, match=r"blobs\.S\.j2: 'no_such_name' is undefined"):
        render(plan, board)


def test_a_tensor_where_the_driver_puts_none_is_a_model_error(plan, board):
    left, right = plan.models[0].compiled.inputs
    elsewhere = replace(right, offset=Bytes(32))
    with pytest.raises(ModelError, match=r"'right' lies at offset 32 of region 3.*at offset 16"):
        render(with_model(plan, inputs=(left, elsewhere)), board)


def test_inputs_in_the_scratch_are_a_model_error(plan, board):
    left, right = plan.models[0].compiled.inputs
    with pytest.raises(ModelError, match="region 1"):
        render(with_model(plan, inputs=(replace(left, region=1), right)), board)


def test_an_input_of_the_wrong_size_is_a_model_error(plan, board):
    left, right = plan.models[0].compiled.inputs
    smaller = with_model(plan, inputs=(replace(left, size=Bytes(4)), right))
    with pytest.raises(ModelError, match=r"takes inputs of \[4, 3\] bytes, not \[5, 3\]"):
        render(smaller, board)


def test_an_input_set_that_does_not_exist_is_a_usage_error(plan, board):
    with pytest.raises(UsageError, match="only 2"):
        render(replace(plan, cells=(Cell(PER_INFERENCE, (0,), (Job(0, 0), Job(0, 2))),)), board)


def test_a_job_of_a_slot_that_is_not_loaded_is_a_usage_error(plan, board):
    with pytest.raises(UsageError, match="only 1 slots"):
        render(replace(plan, cells=(Cell(PER_INFERENCE, (0,), (Job(1, 0),)),)), board)


def test_options_of_the_plan_are_data_in_the_plan(plan, board):
    text = render(
        replace(
            plan,
            scratch=Scratch.TEMP,
            zeroing=Zeroing.NONE,
            poison=False,
            temp_limit=4096,
            failures=(Failure(FailingStage.INIT, "weights", slot=2, occurrence=1, call=1),),
        ),
        board,
    ).files["plan.c"]
    for line in (
        ".scratch_is_temporary = true",
        ".zero_on_destroy = false",
        ".poison = false",
        ".temp_limit = 4096",
        '{PLAN_INITIALISE, "weights", 2, 1, 2}',
    ):
        assert line in text


def test_the_image_has_room_for_the_largest_cell(plan, board):
    loaded = plan_loaded([plan.models[0]] * 3, ALL_MODES, (0, 1))
    text = render(loaded, board).files["plan.c"]
    assert "static struct execution slots[3];" in text
    assert "static struct plan_reported reported[6];" in text
    assert text.count(".command_stream =") == 1


def test_a_misaligned_payload_is_whole_but_for_where_its_stream_starts():
    metadata, stream = bytes(range(32)), b"stream!!"
    entry = struct.pack("<I", len(metadata)) + metadata + stream
    payload = struct.pack("<4sIQII", b"COP2", 1, len(entry) + 8, 1, len(entry)) + entry
    moved = misaligned(payload)
    magic, _, size, _, entry_size, metadata_size = struct.unpack_from("<4sIQIII", moved)
    assert (magic, size, entry_size, metadata_size) == (b"COP2", len(moved) - 16, len(moved) - 24, 36)
    assert moved[28 + metadata_size :] == stream


def test_the_image_has_room_up_to_the_dma_pool(board):
    assert image_room(board.memory) == board.memory.dma_pool_base - board.memory.load_address


def test_an_image_in_the_dma_pool_is_a_usage_error(board):
    with pytest.raises(UsageError, match="lies within the DMA pool"):
        image_room(moved(board, load_address=board.memory.dma_pool_base).memory)


@pytest.mark.parametrize(
    ("addresses", "message"),
    [
        ({"load_address": 0x10000000}, "load address 0x10000000 does not lie within the RAM"),
        ({"dma_pool_base": 0x10000000}, "DMA pool at 0x10000000 does not lie within the RAM"),
        ({"ram_size": 1 << 39}, "39 address bits"),
        ({"dma_pool_size": 0x1800}, "not a number of whole pages"),
    ],
)
def test_a_contradictory_memory_map_is_a_usage_error(board, addresses, message):
    with pytest.raises(UsageError, match=message):
        image_room(moved(board, **addresses).memory)
