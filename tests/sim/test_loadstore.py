"""The decoder of faulting accesses agrees with what Unicorn does when the same instruction succeeds."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from elftools.elf.elffile import ELFFile
from unicorn import UC_ARCH_ARM64, UC_HOOK_MEM_READ, UC_HOOK_MEM_WRITE, UC_MEM_WRITE, UC_MODE_ARM, Uc
from unicorn.arm64_const import UC_ARM64_REG_SP, UC_ARM64_REG_X0

from harness.sim.loadstore import decode_access

BASE, STACK, INDEX, NEGATIVE = 0x9000_1000, 0x9000_8000, 0x18, 0xFFFF_FFF8
CODE = 0x8820_0000

INSTRUCTIONS = """
ldr x9, [x1]
ldr w9, [x1, #4092]
ldrh w9, [x1, #2]
ldrsb x9, [x1, #7]
ldrsw x9, [x1, #8]
str x9, [x1, #4096]
strb wzr, [sp, #9]
ldr q1, [x1, #4080]
str q1, [x1, #16]
str d1, [x1, #16]
ldr b1, [x1, #3]
ldur x9, [x1, #-17]
stur w9, [x1, #-4]
ldr x9, [x1], #8
str x9, [x1, #-16]!
str q1, [sp, #-32]!
ldtr x9, [x1, #8]
ldr x9, [x1, x2]
ldr x9, [x1, x2, lsl #3]
ldr w9, [x1, w3, sxtw]
ldrh w9, [x1, w3, sxtw #1]
strb w9, [x1, w3, sxtw]
ldr x9, [x1, w2, uxtw #3]
str q1, [x1, x2, lsl #4]
ldp x9, x10, [x1, #-512]
stp w9, w10, [x1, #252]
ldpsw x9, x10, [x1, #8]
ldp q1, q2, [x1, #32]
stp d1, d2, [x1], #16
stp x29, x30, [sp, #-16]!
ldnp x9, x10, [x1, #16]
ldr x9, literal
ldr w9, literal
ldrsw x9, literal
ldr q1, literal
ldxr x9, [x1]
ldar w9, [x1]
stlrb w9, [x1]
ldaxrh w9, [x1]
stlr x9, [sp]
ld1 {v1.16b}, [x1]
st1 {v1.16b, v2.16b}, [x1]
ld2 {v1.4s, v2.4s}, [x1], #32
st1 {v1.s}[1], [x1]
""".strip().splitlines()


@dataclass
class Registers:
    """A register file with fixed contents."""

    pc: int

    def general(self, number: int, *, stack: bool = False) -> int:
        values = {1: BASE, 2: INDEX, 3: NEGATIVE, 31: STACK if stack else 0}
        return values[number]


@pytest.fixture(scope="module")
def words(assembler) -> list[int]:
    body = "\n".join(INSTRUCTIONS)
    elf = assembler.assemble(f"{body}\n b .\n .balign 16\n literal: .quad 0, 0\n")
    with elf.open("rb") as file:
        code = next(ELFFile(file).iter_segments("PT_LOAD")).data()
    return [int.from_bytes(code[4 * n : 4 * n + 4], "little") for n in range(len(INSTRUCTIONS))]


@pytest.mark.parametrize("index", range(len(INSTRUCTIONS)), ids=INSTRUCTIONS)
def test_address_size_and_direction_are_unicorns(words, index):
    pc = CODE + 4 * index
    first, total, write = executed(words[index], pc)
    access = decode_access(words[index], Registers(pc))
    assert access is not None
    assert (access.address, access.is_write) == (first, write)
    is_structure = words[index] & 0xBE00_0000 == 0x0C00_0000  # whose size the decoder leaves at one byte
    assert access.size == (1 if is_structure else total)


def test_a_wrong_offset_would_be_noticed(words):
    index = INSTRUCTIONS.index("ldr w9, [x1, #4092]")
    shifted = words[index] + (1 << 10)
    address, _, _ = executed(words[index], CODE)
    assert decode_access(shifted, Registers(CODE)).address == address + 4


@pytest.mark.parametrize("word", [0xD503_201F, 0x9100_0421, 0x1400_0000, 0x0000_0000, 0xD503_3FDF])
def test_what_touches_no_memory_is_no_access(word):
    assert decode_access(word, Registers(CODE)) is None


def executed(word: int, pc: int) -> tuple[int, int, bool]:
    """Run one instruction; return its lowest address, its bytes and whether it writes."""
    engine = Uc(UC_ARCH_ARM64, UC_MODE_ARM)
    engine.mem_map(CODE, 0x10000)
    engine.mem_map(0x9000_0000, 0x10000)
    engine.mem_write(pc, word.to_bytes(4, "little"))
    for number, value in ((1, BASE), (2, INDEX), (3, NEGATIVE)):
        engine.reg_write(UC_ARM64_REG_X0 + number, value)
    engine.reg_write(UC_ARM64_REG_SP, STACK)
    seen: list[tuple[int, int, bool]] = []
    engine.hook_add(
        UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE,
        lambda _uc, kind, address, size, _value, _data: seen.append((address, size, kind == UC_MEM_WRITE)),
    )
    engine.emu_start(pc, pc + 4)
    return min(seen)[0], sum(size for _, size, _ in seen), seen[0][2]
