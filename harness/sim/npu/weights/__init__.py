"""Weight and scale streams: bytes in memory to numbers the MAC array multiplies by."""

from __future__ import annotations

from harness.sim.npu.weights.decode import decode_weights
from harness.sim.npu.weights.layout import Traversal, WeightError, WeightLayout
from harness.sim.npu.weights.scales import ScaleTable, decode_scales

__all__ = ["ScaleTable", "Traversal", "WeightError", "WeightLayout", "decode_scales", "decode_weights"]
