"""The seam between core and time: how many instructions have retired, and when the core stops.

Unicorn reports a basic block when it is entered, so the count runs ahead inside a block; `retired_before`
corrects it with the program counter. A block is stopped at its entry, before it is counted, and is reported
again when the core resumes. This module is the only one that knows how instructions are counted.
"""

from __future__ import annotations

import ctypes

from unicorn import UC_HOOK_BLOCK
from unicorn.unicorn_py3.unicorn import Uc

from harness.sim.hooks import add_hook, library_function
from harness.sim.native import native_hooks

INSTRUCTION = 4  # bytes
NO_LIMIT = 1 << 62


class _BlockCounter(ctypes.Structure):
    """struct block_counter of hooks.c."""

    _fields_ = [
        ("bytes", ctypes.c_uint64),
        ("end", ctypes.c_uint64),
        ("limit", ctypes.c_uint64),
        ("is_stopped", ctypes.c_uint64),
        ("stop", ctypes.c_void_p),
    ]


class InstructionCounter:
    """Counts the instructions that `engine` retires, and stops it at the first block after a limit."""

    def __init__(self, engine: Uc) -> None:
        self._blocks = _BlockCounter(limit=NO_LIMIT, stop=library_function("uc_emu_stop"))
        add_hook(engine, UC_HOOK_BLOCK, native_hooks().count_block, state=self._blocks)

    @property
    def retired(self) -> int:
        """Instructions up to the end of the current block."""
        return int(self._blocks.bytes) // INSTRUCTION

    @property
    def stopped(self) -> bool:
        """Whether the limit was met since the last `set_limit`."""
        return bool(self._blocks.is_stopped)

    def retired_before(self, pc: int) -> int:
        """Instructions before the one at `pc`, which lies in the current block."""
        return int(self._blocks.bytes - (self._blocks.end - pc)) // INSTRUCTION

    def set_limit(self, instructions: int) -> None:
        """Stop the core at the first block after `instructions`."""
        self._blocks.limit = max(instructions, 0) * INSTRUCTION
        self._blocks.is_stopped = 0

    def leave_block(self, pc: int) -> None:
        """Take back the instructions from `pc` on: an exception keeps the rest of the block from running."""
        self._blocks.bytes -= self._blocks.end - pc
        self._blocks.end = pc
