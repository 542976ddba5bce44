"""Writes an ExecuTorch program whose method is one call of the Ethos-U delegate, after schema/program.fbs."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence

import flatbuffers
import numpy as np

from harness.models.vela_raw import RawNetwork

SCALAR_TYPES = {1: 1, 2: 2, 4: 3}  # bytes of an element: Char, Short, Int
Offset = int
Build = Callable[[flatbuffers.Builder], Offset]


def vela_bin_stream(network: RawNetwork) -> bytes:
    """The delegate's data."""

    def tensors(placements: Sequence[object]) -> bytes:
        rows = [struct.pack("<9i", *p.shape, p.element_size, p.offset, p.region) for p in placements]
        return struct.pack("<i", len(rows)) + b"".join(rows)

    blocks = {
        "vela_bin_stream": b"",
        "cmd_data": network.command_stream,
        "weight_data": network.weights,
        "scratch_size": struct.pack("<I", network.scratch_size),
        "inputs": tensors(network.inputs),
        "outputs": tensors(network.outputs),
        "vela_end_stream": b"",
    }
    return b"".join(block(name, data) for name, data in blocks.items())


def block(name: str, data: bytes, external: int = 0) -> bytes:
    """One block: 32 bytes of header, and the data up to a multiple of 16."""
    header = struct.pack("<16sIB11s", name.encode(), len(data), external, b"")
    return header + data + bytes(-len(data) % 16)


def write_pte(
    network: RawNetwork,
    *,
    delegate: str = "EthosUBackend",
    data: bytes | None = None,
    kernels: Sequence[str] = (),
    constants: Sequence[str] = (),
    methods: Sequence[str] = ("forward",),
) -> bytes:
    """The file.

    `data` takes the place of the delegate's; `kernels` are operators called beside it; `constants` are
    methods that compute nothing; each of `methods` calls the delegate.
    """
    builder = flatbuffers.Builder(1024)
    places = [*network.inputs, *network.outputs]
    values = _tables(builder, [_table({0: ("B", 5), 1: (_tensor(place),)}) for place in places])
    count = len(network.inputs)
    calls = [_table({0: ("B", 1), 1: (_table({0: ("i", i)}),)}) for i in range(len(kernels))]
    arguments = range(len(places))
    calls.append(_table({0: ("B", 2), 1: (_table({1: (_numbers(arguments),)}),)}))
    chain = _table({2: (lambda b: _tables(b, calls),)})
    processed = vela_bin_stream(network) if data is None else data
    parts = {
        2: values,
        3: (_numbers(range(count)),),
        4: (_numbers(range(count, len(places))),),
        5: (lambda b: _tables(b, [chain]),),
        6: (lambda b: _tables(b, [_table({0: (_text(name),), 1: (_text("out"),)}) for name in kernels]),),
        7: (lambda b: _tables(b, [_table({0: (_text(delegate),), 1: (_table({0: ("B", 0)}),)})]),),
    }
    plans = [_table({0: (_text(name),), 5: (lambda b: _tables(b, [_table({})]),)}) for name in constants]
    plans += [_table({0: (_text(name),), **parts}) for name in methods]
    inline = _table({0: (lambda b: b.CreateByteVector(processed),)})
    program = _table({1: (lambda b: _tables(b, plans),), 3: (lambda b: _tables(b, [inline]),)})
    builder.Finish(program(builder), b"ET12")
    return bytes(builder.Output())


def _tensor(place: object) -> Build:
    return _table({0: ("b", SCALAR_TYPES[place.element_size]), 2: (_numbers(place.shape),)})


def _numbers(values: Sequence[int]) -> Build:
    return lambda builder: builder.CreateNumpyVector(np.array(values, np.int32))


def _text(text: str) -> Build:
    return lambda builder: builder.CreateString(text)


def _tables(builder: flatbuffers.Builder, tables: Sequence[Build]) -> Offset:
    offsets = [build(builder) for build in tables]
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return builder.EndVector()


_ABSENT = 127  # no field has this value, so that none is left out
_SCALARS = {"B": "PrependUint8Slot", "b": "PrependInt8Slot", "i": "PrependInt32Slot"}


def _table(fields: Mapping[int, object]) -> Build:
    """A table: a field is an offset, a function that builds one, or a form and a number."""

    def build(builder: flatbuffers.Builder) -> Offset:
        offsets = {
            field: value if isinstance(value, int) else value[0](builder)
            for field, value in fields.items()
            if isinstance(value, int) or len(value) == 1
        }
        builder.StartObject(max(fields, default=-1) + 1)
        for field, value in fields.items():
            if field in offsets:
                builder.PrependUOffsetTRelativeSlot(field, offsets[field], 0)
            else:
                getattr(builder, _SCALARS[value[0]])(field, value[1], _ABSENT)
        return builder.EndObject()

    return build
