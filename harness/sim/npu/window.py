"""The kernel window: which input elements each output element of a convolution or pooling sees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.sim.npu.faults import CommandError
from harness.sim.npu.feature_map import MAX_ELEMENTS, Number
from harness.sim.npu.opcodes import Upscale
from harness.sim.npu.registers import Registers

Pair = tuple[int, int]  #: (vertical, horizontal)

MAX_KERNEL = 256 * 256
"""Largest kernel: what the compiler accepts (Vela 5.2, regor/tflite/tflite_supported_operators.cpp)."""

MAX_STEPS = 1 << 33
"""Most input elements that the windows of one operation are made of, each counted as often as it is seen.

It keeps a corrupted stream from running for hours.
"""

_SAMPLES: dict[Upscale, tuple[Pair, ...]] = {
    Upscale.NONE: ((0, 0),),
    Upscale.NEAREST: ((0, 0), (0, 1), (1, 0), (1, 1)),
    Upscale.ZEROS: ((0, 0),),
}
"""Where an input element appears in its square of upscaled elements."""


@dataclass(frozen=True)
class Window:
    """Kernel, stride, dilation and padding, and the input that follows from them and the OFM's size.

    The stream does not say how large the IFM is: its height is (OFM height - 1) * stride + kernel - padding.
    """

    ofm: Pair
    kernel: Pair  #: elements, without dilation
    stride: Pair
    dilation: Pair
    before: Pair  #: padding at the top and at the left
    padded: Pair  #: input size with padding on all sides
    inside: Pair  #: input size without padding, after upscaling
    upscale: Upscale

    @property
    def ifm(self) -> Pair:
        """Input size in memory."""
        if self.upscale is Upscale.NONE:
            return self.inside
        return -(-self.inside[0] // 2), -(-self.inside[1] // 2)

    def pad(self, ifm: NDArray[Number], fill: int, zero_point: int = 0) -> NDArray[Number]:
        """Return the padded and upscaled input.

        Padding holds `fill`, elements that upscaling puts between others hold the zero point.
        """
        if self.padded == self.inside and self.upscale is Upscale.NONE:
            return ifm
        padded = np.full((*self.padded, ifm.shape[2]), fill, ifm.dtype)
        (top, left), (height, width) = self.before, self.inside
        inside = padded[top : top + height, left : left + width]
        if self.upscale is Upscale.ZEROS:
            inside[...] = zero_point
        for y, x in _SAMPLES[self.upscale]:
            step = 1 if self.upscale is Upscale.NONE else 2
            target = inside[y::step, x::step]
            target[...] = ifm[: target.shape[0], : target.shape[1]]
        return padded

    def windows(self, padded: NDArray[Any]) -> NDArray[Any]:
        """Return a view [ofm height, ofm width, kernel height, kernel width, depth]."""
        if self.kernel == self.stride == (1, 1):
            return padded.reshape(*self.ofm, 1, 1, -1)
        sy, sx, sc = padded.strides
        return np.ndarray(
            (*self.ofm, *self.kernel, padded.shape[2]),
            padded.dtype,
            padded.data,
            strides=(
                sy * self.stride[0],
                sx * self.stride[1],
                sy * self.dilation[0],
                sx * self.dilation[1],
                sc,
            ),
        )

    @cached_property
    def valid(self) -> NDArray[np.int64]:
        """How many elements of each window are not padding: [ofm height, ofm width, 1]."""
        return self._valid_along(0)[:, None, None] * self._valid_along(1)[None, :, None]

    def _valid_along(self, axis: int) -> NDArray[np.int64]:
        first = np.arange(self.ofm[axis]) * self.stride[axis] - self.before[axis]
        # Kernel elements i with 0 <= first + i * dilation < inside: from one rounded-up quotient to another.
        begin, end = -(first // self.dilation[axis]), -((first - self.inside[axis]) // self.dilation[axis])
        count: NDArray[np.int64] = np.clip(end, 0, self.kernel[axis]) - np.clip(begin, 0, self.kernel[axis])
        return count


def window_from_registers(registers: Registers, ofm: Pair, ifm_depth: int) -> Window:
    """Read KERNEL_*, IFM_PAD_* and IFM_UPSCALE.  Raises CommandError for an impossible combination."""
    dilation = (
        registers.value("KERNEL_STRIDE", "dilation_y") + 1,
        registers.value("KERNEL_STRIDE", "dilation_x") + 1,
    )
    extent = (registers.value("KERNEL_HEIGHT_M1") + 1, registers.value("KERNEL_WIDTH_M1") + 1)
    if any((size - 1) % step for size, step in zip(extent, dilation, strict=True)):
        raise CommandError(f"a kernel of {extent} does not fit a dilation of {dilation}")
    stride = (
        1 + registers.value("KERNEL_STRIDE", "y_low") + 2 * registers.value("KERNEL_STRIDE", "y_high"),
        1 + registers.value("KERNEL_STRIDE", "x_low") + 2 * registers.value("KERNEL_STRIDE", "x_high"),
    )
    before = (registers.value("IFM_PAD_TOP"), registers.value("IFM_PAD_LEFT"))
    after = (registers.value("IFM_PAD_BOTTOM"), registers.value("IFM_PAD_RIGHT"))
    padded = ((ofm[0] - 1) * stride[0] + extent[0], (ofm[1] - 1) * stride[1] + extent[1])
    inside = (padded[0] - before[0] - after[0], padded[1] - before[1] - after[1])
    if min(inside) < 0:  # 0 is what the compiler makes of a part of a kernel that sees nothing but padding
        raise CommandError(f"padding leaves an input of {inside}")
    if padded[0] * padded[1] * ifm_depth > MAX_ELEMENTS:
        raise CommandError(f"a padded input of {(*padded, ifm_depth)} is larger than {MAX_ELEMENTS} elements")
    kernel = ((extent[0] - 1) // dilation[0] + 1, (extent[1] - 1) // dilation[1] + 1)
    if math.prod(kernel) > MAX_KERNEL or math.prod((*ofm, *kernel, ifm_depth)) > MAX_STEPS:
        raise CommandError(f"a kernel of {kernel} on an output of {ofm} takes too long")
    upscale = registers.enum(Upscale, "IFM_UPSCALE")
    return Window(ofm, kernel, stride, dilation, before, padded, inside, upscale)
