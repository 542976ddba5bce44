"""A model of the Arm Ethos-U85 NPU: its registers, and the arithmetic of the command streams it runs.

Its arithmetic agrees with TensorFlow Lite Micro and with Arm's TOSA reference model on networks that the Vela
compiler prepared; it has been compared with no Arm hardware and no Arm model of the NPU.  Cycle counts are
estimates.

Whatever the model cannot compute stops the NPU with a parse error, and `EthosU85.last_fault` says what it is:
jumps that depend on a result of several elements; poolings started from IFM2 but in mode NONE; the storage
TILE3X1; kernels cut into 4x4; AVERAGE pooling with a scale, or in parts.  No public source tells how AVERAGE
pooling and the built-in TANH and SIGMOID round (here as in TensorFlow Lite), what a logical shift takes for
the top of an element (here as in TOSA), nor what becomes of a 32-bit result that overflows (here it
saturates).
"""

from __future__ import annotations

from harness.sim.npu.config import MAC_COUNTS, NpuConfig
from harness.sim.npu.device import EthosU85
from harness.sim.npu.faults import BusFault, CommandError, FaultKind, NpuFault
from harness.sim.npu.interpreter import Execution, execute
from harness.sim.npu.memory import Memory
from harness.sim.npu.payload import Payload, PayloadError, parse_payload
from harness.sim.npu.watch import Access, Job, JobWatch, Watch

__all__ = [
    "MAC_COUNTS",
    "Access",
    "BusFault",
    "CommandError",
    "EthosU85",
    "Execution",
    "FaultKind",
    "Job",
    "JobWatch",
    "Memory",
    "NpuConfig",
    "NpuFault",
    "Payload",
    "PayloadError",
    "Watch",
    "execute",
    "parse_payload",
]
