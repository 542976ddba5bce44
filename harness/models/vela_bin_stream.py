"""The `vela_bin_stream`: the blocks in which ExecuTorch keeps what Vela compiled for its Ethos-U delegate.

Layout: ExecuTorch's Arm backend, arm_vela.py (its writer) and runtime/VelaBinStream.cpp (its reader). A block
is a header of 32 bytes and data padded to a multiple of 16; a block without data opens the stream, another
ends it.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from harness.errors import ModelError
from harness.models.compiled import NPU_SRAM_REGION, Bytes
from harness.models.payload import used_regions
from harness.models.placement import Placement
from harness.models.vela_raw import RawNetwork

_HEADER = struct.Struct("<16sIB11s")  #: name, bytes of data, whether the data is elsewhere, reserved
_ALIGNMENT = 16
_FIRST, _LAST = "vela_bin_stream", "vela_end_stream"
_CONTENTS = ("cmd_data", "weight_data", "scratch_size", "inputs", "outputs")
_STATE = frozenset({"persistent_size", "persistent_init"})
_TENSOR = struct.Struct("<6i3i")  #: shape, with leading ones; bytes of an element, offset, region


def read_vela_bin_stream(name: str, data: bytes) -> RawNetwork:
    """The network in the delegate data of the model `name`.

    Raises ModelError that names the block for a damaged stream, one whose blocks are elsewhere, and one that
    keeps state between inferences.
    """
    blocks = _read_blocks(name, data)
    for missing in (block for block in _CONTENTS if block not in blocks):
        raise ModelError(f"{name}: its {_FIRST} has no block {missing}; it needs {', '.join(_CONTENTS)}")
    if len(blocks["scratch_size"]) != 4:
        raise ModelError(f"{name}: its block scratch_size has {len(blocks['scratch_size'])} bytes, not 4")
    return RawNetwork(
        command_stream=blocks["cmd_data"],
        weights=_weights(blocks["weight_data"]),
        scratch_size=Bytes(int.from_bytes(blocks["scratch_size"], "little")),
        scratch_fast_size=_npu_sram_size(name, blocks["cmd_data"]),
        inputs=_placements(name, "inputs", blocks["inputs"]),
        outputs=_placements(name, "outputs", blocks["outputs"]),
    )


def _read_blocks(name: str, data: bytes) -> Mapping[str, bytes]:
    """The data of each block between the first and the last, by the block's name."""
    blocks: dict[str, bytes] = {}
    position = 0
    block = ""
    while block != _LAST:
        block, content, end = _read_block(name, data, position)
        if (position == 0) != (block == _FIRST):
            raise ModelError(
                f"{name}: its delegate data has the block {block!r} at byte {position}; {_FIRST} "
                "comes first, and once"
            )
        if block in blocks:
            raise ModelError(f"{name}: its {_FIRST} has the block {block} twice")
        blocks[block] = content
        position = end
    if position != len(data):
        raise ModelError(f"{name}: {len(data) - position} bytes follow the end of its {_FIRST}")
    return blocks


def _read_block(name: str, data: bytes, position: int) -> tuple[str, bytes, int]:
    """Name and data of the block at `position`, and where the next one starts."""
    if len(data) - position < _HEADER.size:
        raise ModelError(f"{name}: its {_FIRST} ends after {len(data)} bytes without {_LAST}")
    padded_name, size, external, _ = _HEADER.unpack_from(data, position)
    block = padded_name.rstrip(b"\0").decode("ascii", "backslashreplace")
    if block in _STATE:
        raise ModelError(
            f"{name} keeps state between inferences in its block {block}, whose layout is not known"
        )
    if block not in (_FIRST, *_CONTENTS, _LAST):
        allowed = ", ".join((_FIRST, *_CONTENTS, _LAST))
        raise ModelError(f"{name}: its delegate data has an unknown block {block!r}; allowed: {allowed}")
    if external:
        raise ModelError(
            f"{name}: the data of its block {block} is stored outside the delegate (external {external})",
            hint="export the model without external block placements",
        )
    start = position + _HEADER.size
    end = start + -(-size // _ALIGNMENT) * _ALIGNMENT
    if end > len(data):
        raise ModelError(f"{name}: its block {block} has {size} bytes, and only {len(data) - start} follow")
    return block, data[start : start + size], end


def _npu_sram_size(name: str, payload: bytes) -> Bytes:
    """What the command stream uses of the NPU's own SRAM: the file does not say."""
    used = (each for each in used_regions(name, payload) if each.region == NPU_SRAM_REGION)
    return Bytes(max((each.offset + each.size for each in used), default=0))


def _weights(data: bytes) -> bytes:
    # numpy has no empty byte string, so Vela's raw output, which is copied here, has one NUL instead.
    return b"" if data == b"\0" else data


def _placements(name: str, block: str, data: bytes) -> tuple[Placement, ...]:
    count = int.from_bytes(data[:4], "little")
    if len(data) != 4 + count * _TENSOR.size:
        raise ModelError(f"{name}: its block {block} has {len(data)} bytes for {count} tensors")
    placements = []
    for *shape, element_size, offset, region in _TENSOR.iter_unpack(data[4:]):
        # An offset of -1 marks a tensor that the compiler gave no place.
        if min(shape) < 1 or element_size < 1 or offset < 0:
            raise ModelError(
                f"{name}: its block {block} has a tensor of shape {shape} "
                f"with elements of {element_size} bytes at offset {offset}"
            )
        placements.append(Placement(tuple(shape), element_size, region, Bytes(offset)))
    return tuple(placements)
