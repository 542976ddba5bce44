"""Vela's raw output: the .npz file that holds a command stream, its weights and the places of its tensors.

Written by Vela 5.2, rawdata_writer.py; the regions come from regor/compiler/raw_writer.cpp.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from harness.errors import ModelError
from harness.models.compiled import Bytes, Variable
from harness.models.placement import Placement

_UNPLACED = 1 << 63  #: offsets from here on mark a tensor the compiler gave no place (it writes 2^64 - 1)


@dataclass(frozen=True)
class RawNetwork:
    """All the file says but the quantisations, which are pickled objects and therefore never loaded.

    So it has no variables: what they start from depends on their quantisation.
    """

    command_stream: bytes
    weights: bytes
    scratch_size: Bytes
    scratch_fast_size: Bytes
    inputs: tuple[Placement, ...]
    outputs: tuple[Placement, ...]
    variables: tuple[Variable, ...] = ()


def read_raw(name: str, data: bytes) -> RawNetwork:
    """Reads the .npz file; `name` is for messages. Raises ModelError that says what is missing or damaged."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _read_arrays(name, arrays)
    except KeyError as error:
        raise ModelError(f"{name} is not Vela's raw output: {error.args[0]}") from error
    except (ValueError, TypeError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise ModelError(f"{name} cannot be read as Vela's raw output: {error}") from error


def _read_arrays(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> RawNetwork:
    variables = arrays["variable_shape"]
    if variables.size and variables.ndim == 2:
        raise ModelError(
            f"{name} keeps variables between inferences, and raw output does not say what they start from",
            hint="give the .tflite file it was compiled from, or have Vela write --output-format=tflite",
        )
    return RawNetwork(
        command_stream=arrays["cmd_data"].tobytes(),
        weights=_weights(arrays["weight_data"]),
        scratch_size=Bytes(int(arrays["scratch_size"])),
        scratch_fast_size=Bytes(int(arrays["scratch_fast_size"])),
        inputs=_placements(name, arrays, "input"),
        outputs=_placements(name, arrays, "output"),
    )


def _weights(array: npt.NDArray[Any]) -> bytes:
    # numpy drops trailing zero bytes from a byte string's `.item()`, not from `.tobytes()`. It has no empty
    # byte string, so an empty blob is stored as one NUL; a real one is a multiple of 16 bytes.
    data = array.tobytes()
    return b"" if data == b"\0" else data


def _placements(name: str, arrays: Mapping[str, npt.NDArray[Any]], kind: str) -> tuple[Placement, ...]:
    columns = (arrays[f"{kind}_{column}"] for column in ("shape", "elem_size", "region", "offset"))
    placements = []
    for index, (shape, element_size, region, offset) in enumerate(zip(*columns, strict=True)):
        # One unplaced tensor turns the whole column into float64, which holds all real offsets exactly.
        if offset >= _UNPLACED:
            raise ModelError(f"{name}: the compiled network does not use its {kind} {index}")
        placements.append(
            Placement(
                shape=tuple(int(dimension) for dimension in shape),
                element_size=int(element_size),
                region=int(region),
                offset=Bytes(int(offset)),
            )
        )
    return tuple(placements)
