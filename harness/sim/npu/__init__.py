"""A model of the Arm Ethos-U85 NPU: its registers, and the arithmetic of the command streams it runs.

Its arithmetic agrees with TensorFlow Lite Micro on networks that the Vela compiler prepared; it has been
compared with no Arm hardware and no Arm model.  Cycle counts are estimates.
"""

from __future__ import annotations

from harness.sim.npu.config import MAC_COUNTS, NpuConfig
from harness.sim.npu.device import EthosU85
from harness.sim.npu.faults import BusFault, FaultKind, NpuFault
from harness.sim.npu.interpreter import Execution, execute
from harness.sim.npu.memory import Memory
from harness.sim.npu.payload import Payload, PayloadError, parse_payload

__all__ = [
    "MAC_COUNTS",
    "BusFault",
    "EthosU85",
    "Execution",
    "FaultKind",
    "Memory",
    "NpuConfig",
    "NpuFault",
    "Payload",
    "PayloadError",
    "execute",
    "parse_payload",
]
