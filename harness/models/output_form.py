"""Which of Vela's outputs a network is taken from, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from harness.models.optimised import read_optimised
from harness.models.tflite_file import TfliteGraph, read_tflite
from harness.models.vela_raw import RawNetwork, read_raw


@dataclass(frozen=True)
class OutputForm:
    """What Vela is told to write."""

    name: str
    options: tuple[str, ...]
    suffix: str  #: of the file, behind the stem of the network's own
    read: Callable[[str, bytes], RawNetwork]  #: from the network's name and the file's bytes


def _read_optimised_file(name: str, data: bytes) -> RawNetwork:
    return read_optimised(name, read_tflite(name, data))


DIRECT_DRIVE = OutputForm(
    name="raw output",
    options=("--cop-format", "COP2", "--separate-io-regions", "--output-format", "raw"),
    suffix="_vela.npz",
    read=read_raw,
)
"""Inputs and outputs in regions of their own, as the driver has buffers for them."""

STATEFUL = OutputForm(
    name="optimised .tflite",
    options=("--cop-format", "COP2", "--output-format", "tflite"),
    suffix="_vela.tflite",
    read=_read_optimised_file,
)
"""Everything in scratch memory, and variables with their names and quantisations.

With separate regions Vela 5.2 reads variables from the region of inputs and writes them to that of outputs,
so that no inference finds what another has left; and raw output has no zero points that can be read without
unpickling, and they are what variables start from.
"""


def output_form(graph: TfliteGraph) -> OutputForm:
    """The form for a network."""
    return STATEFUL if graph.keeps_state else DIRECT_DRIVE
