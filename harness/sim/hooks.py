"""Hooks given to Unicorn's library directly, without the wrappers of its Python binding.

The binding wraps every callback twice and builds an object for the operands of every instruction. The hooks
that are called most are not even Python: hooks.c has them, each with a state that it is given the address of.
The version of Unicorn whose interface this is, is pinned. A callback may not raise: nothing can pass through
native code.
"""

from __future__ import annotations

import ctypes
from typing import Any

from unicorn import UC_HOOK_INSN
from unicorn.unicorn_py3.arch.types import uc_hook_h
from unicorn.unicorn_py3.unicorn import Uc, UcError, uclib

EVERYWHERE = 1, 0  # a range that ends before it begins


class Operands(ctypes.Structure):
    """What an instruction hook is told: uc_arm64_cp_reg of Unicorn's include/unicorn/arm64.h."""

    _fields_ = [
        ("crn", ctypes.c_uint32),
        ("crm", ctypes.c_uint32),
        ("op0", ctypes.c_uint32),
        ("op1", ctypes.c_uint32),
        ("op2", ctypes.c_uint32),
        ("value", ctypes.c_uint64),
    ]


# engine, register that is read or written, address of the Operands, state → whether Unicorn shall do nothing
INSTRUCTION_CALLBACK = ctypes.CFUNCTYPE(
    ctypes.c_uint32, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p
)


def library_function(name: str) -> ctypes.c_void_p:
    """The address of a function of Unicorn's library, for a hook's state."""
    return ctypes.cast(uclib[name], ctypes.c_void_p)


def add_hook(
    engine: Uc,
    kind: int,
    callback: Any,
    between: tuple[int, int] = EVERYWHERE,
    state: ctypes.Structure | None = None,
) -> None:
    """Register a C callback of the type that `kind` (UC_HOOK_...) asks for; the caller keeps all alive.

    It is called for addresses from the first of `between` to the last; for data they are physical. Its last
    argument is the address of `state`.
    """
    _add(engine, kind, callback, between, state)


def add_instruction_hook(
    engine: Uc, instruction: int, callback: Any, state: ctypes.Structure | None = None
) -> None:
    """Register an INSTRUCTION_CALLBACK for UC_ARM64_INS_...; the caller keeps all alive."""
    _add(engine, UC_HOOK_INSN, callback, EVERYWHERE, state, ctypes.c_int(instruction))


def _add(
    engine: Uc,
    kind: int,
    callback: Any,
    between: tuple[int, int],
    state: ctypes.Structure | None,
    *further: ctypes.c_int,
) -> None:
    handle = uc_hook_h()
    first, last = map(ctypes.c_uint64, between)
    user = None if state is None else ctypes.addressof(state)
    status = uclib.uc_hook_add(
        engine._uch, ctypes.byref(handle), kind, callback, ctypes.c_void_p(user), first, last, *further
    )
    if status:
        raise UcError(status)
