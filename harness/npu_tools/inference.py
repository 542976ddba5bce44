"""A network run on the NPU model alone: no firmware, no processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import FirmwareFault, UsageError
from harness.models.compiled import CompiledModel, Tensor
from harness.sim.npu import BusFault, NpuConfig, execute, parse_payload
from harness.sim.npu.cycles import ProfileError, VelaProfile
from harness.sim.npu.timing import estimate_program

WINDOW = 1 << 32  #: bytes of address space for each region, more than any network uses


@dataclass(frozen=True)
class Inference:
    """What came out."""

    outputs: tuple[bytes, ...]
    cycles: int  #: NPU cycles by estimate


class _Regions:
    """The regions, so far apart that an access beyond the end of one meets no other."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.bases = [region * WINDOW for region in range(len(sizes))]
        self._content: list[NDArray[np.uint8]] = [np.zeros(size, np.uint8) for size in sizes]

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """The bytes at an address, as the NPU sees them.  Raises BusFault outside all regions."""
        region, offset = divmod(address, WINDOW)
        if region >= len(self._content) or offset + size > len(self._content[region]):
            raise BusFault(address, size)
        return self._content[region][offset : offset + size]

    def tensor(self, tensor: Tensor) -> NDArray[np.uint8]:
        """The bytes of a network input or output."""
        return self.view(self.bases[tensor.region] + tensor.offset, tensor.size)


def infer(compiled: CompiledModel, inputs: Sequence[bytes], memory: VelaProfile) -> Inference:
    """Run a network once on `inputs`, one per network input; its variables hold what they start from.

    Raises FirmwareFault when the NPU stops before the end of the stream, UsageError when the stream writes to
    a memory that cannot be written.
    """
    regions = _Regions(
        (
            len(compiled.weights),
            compiled.scratch_size,
            compiled.scratch_fast_size,
            _end(compiled.inputs),
            _end(compiled.outputs),
        )
    )
    regions.view(regions.bases[0], len(compiled.weights))[:] = np.frombuffer(compiled.weights, np.uint8)
    for tensor, data in zip(compiled.inputs, inputs, strict=True):
        regions.tensor(tensor)[:] = np.frombuffer(data, np.uint8)
    for variable in compiled.variables:
        regions.tensor(variable)[:] = np.frombuffer(variable.initial, np.uint8)
    stream = parse_payload(compiled.command_stream).stream
    execution = execute(stream, NpuConfig(compiled.macs), regions, regions.bases)
    if execution.fault is not None:
        raise FirmwareFault(f"{compiled.name} on the NPU model: {execution.fault}")
    try:
        cycles = estimate_program(execution.program, compiled.macs, memory).total
    except ProfileError as error:
        raise UsageError(f"{compiled.name} does not fit these memories: {error}") from error
    return Inference(tuple(regions.tensor(tensor).tobytes() for tensor in compiled.outputs), cycles)


def _end(tensors: Sequence[Tensor]) -> int:
    return max((tensor.offset + tensor.size for tensor in tensors), default=0)
