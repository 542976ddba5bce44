"""The seam between core and time: how many instructions have retired, and when the core stops.

Unicorn reports a basic block when it is entered, so the count runs ahead inside a block; `retired_before`
corrects it with the program counter. A block is stopped at its entry, before it is counted, and is reported
again when the core resumes. This module is the only one that knows how instructions are counted.
"""

from __future__ import annotations

from collections.abc import Callable

from unicorn import UC_HOOK_BLOCK
from unicorn.unicorn_py3.unicorn import HOOK_CODE_CFUNC, Uc

from harness.sim.hooks import add_hook

INSTRUCTION = 4  # bytes
NO_LIMIT = 1 << 62


class InstructionCounter:
    """Counts the instructions that `engine` retires, and stops it at the first block after a limit."""

    def __init__(self, engine: Uc) -> None:
        self._bytes = 0  # of every block entered so far; an instruction is four
        self._end = 0  # address after the block entered last
        self._limit = NO_LIMIT
        self.stopped = False  #: the limit was met since the last `set_limit`
        self._hook = HOOK_CODE_CFUNC(self._entered(engine))
        add_hook(engine, UC_HOOK_BLOCK, self._hook)

    @property
    def retired(self) -> int:
        """Instructions up to the end of the current block."""
        return self._bytes // INSTRUCTION

    def retired_before(self, pc: int) -> int:
        """Instructions before the one at `pc`, which lies in the current block."""
        return (self._bytes - (self._end - pc)) // INSTRUCTION

    def set_limit(self, instructions: int) -> None:
        """Stop the core at the first block after `instructions`."""
        self._limit = instructions * INSTRUCTION
        self.stopped = False

    def leave_block(self, pc: int) -> None:
        """Take back the instructions from `pc` on: an exception keeps the rest of the block from running."""
        self._bytes -= self._end - pc
        self._end = pc

    def _entered(self, engine: Uc) -> Callable[[int, int, int, int], None]:
        stop = engine.emu_stop

        def entered(_engine: int, address: int, size: int, _key: int) -> None:
            if self._bytes >= self._limit:
                self.stopped = True
                stop()
                return
            self._bytes += size
            self._end = address + size

        return entered
