"""The first difference is placed in its tensor: element, region, bytes around it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.models.compiled import Bytes, Tensor
from harness.results.difference import CONTEXT_BYTES, first_output_difference, locate
from harness.results.report import Report

FLOATS = Tensor("f", (2, 2), "float32", 4, Bytes(0), Bytes(16))


def test_equal_outputs_have_no_difference(sound: Report) -> None:
    model = sound.models[0]
    assert first_output_difference(model.run, model.compiled) is None


def test_a_seeded_difference_is_placed(make, modes) -> None:
    model = make.spoilt("ds_cnn")
    found = first_output_difference(model.run, model.compiled)
    assert found is not None
    assert (found.before, found.after, found.after_index, found.input) == (modes[0], modes[-1], 1, "B")
    assert found.region.element == (1, 1, 1)
    assert found.region.bounds == ((1, 1), (1, 2), (1, 2))
    assert (found.region.elements, found.region.total, found.region.offset) == (2, 24, 17)


def test_a_repeat_that_differs_is_found_within_one_mode(make, modes) -> None:
    model = make.model("ds_cnn", modes=modes[:1])
    cell = model.run.cells[0]
    stale = replace(cell.inferences[2], outputs=(bytes(24),))
    run = replace(model.run, cells=(replace(cell, inferences=(*cell.inferences[:2], stale)),))
    found = first_output_difference(run, model.compiled)
    assert found is not None
    assert (found.before_index, found.after_index, found.after) == (0, 2, modes[0])


def test_an_inference_that_failed_is_not_held_against_others(make, modes) -> None:
    model = make.model("ds_cnn", modes=modes[:1])
    cell = model.run.cells[0]
    failed = replace(cell.inferences[2], status="timeout", outputs=())
    run = replace(model.run, cells=(replace(cell, inferences=(*cell.inferences[:2], failed)),))
    assert first_output_difference(run, model.compiled) is None


def test_bytes_are_compared_not_values() -> None:
    zeros = np.zeros(4, np.float32)
    region = locate(FLOATS, zeros.tobytes(), np.array([0, -0.0, 0, 0], np.float32).tobytes())
    assert (region.element, region.elements, region.offset) == ((0, 1), 1, 7)


@given(st.binary(min_size=40, max_size=40), st.integers(0, 39), st.integers(1, 255))
def test_the_bytes_shown_are_those_around_the_difference(data: bytes, offset: int, flip: int) -> None:
    tensor = Tensor("t", (40,), "int8", 4, Bytes(0), Bytes(40))
    other = bytearray(data)
    other[offset] ^= flip
    region = locate(tensor, data, bytes(other))
    end = region.context_offset + len(region.context)
    assert region.offset == offset
    assert bytes(shown.before for shown in region.context) == data[region.context_offset : end]
    assert bytes(shown.after for shown in region.context) == other[region.context_offset : end]
    assert region.context_offset == max(0, offset - CONTEXT_BYTES)
    assert end == min(40, offset + CONTEXT_BYTES + 1)
