"""Vela's raw output is read exactly, without unpickling anything."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from harness.errors import ModelError
from harness.models.vela_raw import read_raw


def raw_file(**changes: Any) -> bytes:
    """A raw output with one input and one output, as Vela 5.2 writes it, with some arrays changed."""
    arrays = {
        "cmd_data": np.void(b"stream"),
        "weight_data": np.bytes_(b"weights\0\0"),
        "scratch_size": np.int64(48),
        "scratch_fast_size": np.int64(16),
        "variable_shape": np.array([]),
    }
    for kind, region in (("input", 3), ("output", 4)):
        arrays |= {
            f"{kind}_shape": np.array([[1, 1, 1, 2, 3, 4]]),
            f"{kind}_elem_size": np.array([2]),
            f"{kind}_region": np.array([region]),
            f"{kind}_offset": np.array([32]),
        }
    buffer = io.BytesIO()
    np.savez(buffer, **(arrays | changes))
    return buffer.getvalue()


def test_sizes_and_places_are_read() -> None:
    raw = read_raw("net", raw_file())
    (place,) = raw.inputs
    assert (raw.scratch_size, raw.scratch_fast_size) == (48, 16)
    assert (place.shape, place.element_size, place.region, place.offset) == ((1, 1, 1, 2, 3, 4), 2, 3, 32)
    assert place.size == 48


def test_trailing_zero_bytes_belong_to_the_weights() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, weights=np.array(b"weights\0\0", dtype="S9"))
    stored = np.load(io.BytesIO(buffer.getvalue()))["weights"]
    assert stored.item() == b"weights"  # what makes this test worth having
    assert (
        read_raw("net", raw_file(weight_data=np.array(b"weights\0\0", dtype="S9"))).weights == b"weights\0\0"
    )


def test_one_zero_byte_means_no_weights() -> None:
    assert read_raw("net", raw_file(weight_data=np.array(b"\0", dtype="S1"))).weights == b""


def test_offsets_that_came_as_floats_are_whole_numbers() -> None:
    (place,) = read_raw("net", raw_file(input_offset=np.array([2.0**40]))).inputs
    assert place.offset == 1 << 40


def test_an_input_without_a_place_is_refused() -> None:
    offsets = np.array([0, 2**64 - 1], dtype=object).astype(np.float64)
    two = {
        "input_shape": np.ones((2, 6), dtype=int),
        "input_elem_size": np.array([1, 1]),
        "input_region": np.array([3, 3]),
    }
    with pytest.raises(ModelError, match="net: the compiled network does not use its input 1"):
        read_raw("net", raw_file(**two, input_offset=offsets))


def test_variables_between_inferences_are_refused() -> None:
    with pytest.raises(ModelError, match="net keeps variables between inferences"):
        read_raw("net", raw_file(variable_shape=np.ones((1, 6), dtype=int)))


def test_a_pickled_stream_is_refused() -> None:
    with pytest.raises(ModelError, match="allow_pickle=False"):
        read_raw("net", raw_file(cmd_data=np.array({"an": "object"}, dtype=object)))


def test_a_file_of_other_arrays_is_refused() -> None:
    buffer = io.BytesIO()
    np.savez(buffer, something=np.zeros(3))
    with pytest.raises(ModelError, match="net is not Vela's raw output: variable_shape"):
        read_raw("net", buffer.getvalue())


def test_a_damaged_archive_is_refused() -> None:
    with pytest.raises(ModelError, match="net cannot be read as Vela's raw output"):
        read_raw("net", raw_file()[:-200])


def test_a_damaged_array_is_refused() -> None:
    damaged = raw_file().replace(b"weights", b"weighty")
    with pytest.raises(ModelError, match="net cannot be read as Vela's raw output"):
        read_raw("net", damaged)
