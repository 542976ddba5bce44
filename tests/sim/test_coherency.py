"""Missing cache maintenance is named, and maintenance that suffices is not."""

from __future__ import annotations

import re

import pytest

SOURCE, TARGET = 0xA000_0000, 0xA100_0000
FINDING = re.compile(r"harness-sim: coherency (?P<kind>\S+) (?P<fields>.*)")
ADDRESSES = f"load x3, {SOURCE}; load x4, {TARGET}"


def copy(length: int = 64) -> str:
    return f"npu_copy {SOURCE}, {TARGET}, {length}"


@pytest.fixture
def check(simulator):
    """Run a program, and return what it sent and the findings, each a dictionary."""

    def run(program: str, *arguments: str) -> tuple[list[int], list[dict[str, str]]]:
        result = simulator.run(f"{ADDRESSES}\n{program}\nfinish", "-C", "host.cache_check=1", *arguments)
        assert result.exit_code == 0, result.stderr
        found = [FINDING.fullmatch(line) for line in result.stderr.splitlines()]
        fields = [dict(field.split("=") for field in match["fields"].split()) for match in found]
        return result.numbers, [{"kind": m["kind"], **f} for m, f in zip(found, fields, strict=True)]

    return run


def test_bytes_that_the_npu_reads_before_they_are_cleaned_are_named(check):
    program = f"add x6, x3, #8; here: str x3, [x6]; {copy()}; adr x5, here; put_hex x5"
    (here,), findings = check(program)
    assert findings == [
        {
            "kind": "npu-read-dirty",
            "address": hex(SOURCE + 8),
            "bytes": "8",
            "pc": hex(here),
            "job": "0",
            "at": "0x20",
            "op": "OP_DMA_START",
        }
    ]


def test_bytes_that_the_cpu_reads_before_they_are_invalidated_are_named(check):
    program = f"{copy()}; {copy()}; here: ldr w5, [x4, #4]; adr x5, here; put_hex x5"
    (here,), findings = check(program)
    stale = {"kind": "cpu-read-stale", "address": hex(TARGET + 4), "bytes": "4", "pc": hex(here), "job": "1"}
    assert findings == [stale]


def test_a_dirty_line_that_the_npu_writes_to_is_named(check):
    _, (finding,) = check(f"str x4, [x4, #48]; {copy(32)}")
    assert (finding["kind"], finding["address"], finding["bytes"]) == (
        "npu-write-dirty",
        hex(TARGET + 48),
        "8",
    )


def test_the_npu_may_read_what_it_wrote_to_a_dirty_line(check):
    program = f"str x4, [x4, #8]; {copy(32)}; npu_copy {TARGET}, {TARGET + 4096}, 32"
    assert [finding["kind"] for finding in check(program)[1]] == ["npu-write-dirty"]


def test_what_the_cpu_stores_after_the_npu_is_dirty_again(check):
    program = f"{copy(32)}; str x4, [x4, #8]; npu_copy {TARGET}, {TARGET + 4096}, 32"
    assert [finding["kind"] for finding in check(program)[1]] == ["npu-read-dirty"]


@pytest.mark.parametrize("operation", ["cvac", "civac", "ivac"])
def test_a_line_that_is_cleaned_or_dropped_is_not_dirty(check, operation):
    program = f"str x3, [x3]; str x4, [x4]; dc {operation}, x3; dc {operation}, x4; {copy()}"
    assert check(program)[1] == []


@pytest.mark.parametrize("operation", ["ivac", "civac"])
def test_a_line_that_is_invalidated_is_not_stale(check, operation):
    assert check(f"{copy()}; dc {operation}, x4; ldr x5, [x4]")[1] == []


def test_a_clean_leaves_a_line_stale(check):
    assert [finding["kind"] for finding in check(f"{copy()}; dc cvac, x4; ldr x5, [x4]")[1]] == [
        "cpu-read-stale"
    ]


def test_what_the_cpu_wrote_over_is_not_stale(check):
    assert check(f"{copy()}; str x3, [x4, #8]; ldr x5, [x4, #8]")[1] == []


def test_an_invalidation_before_the_npu_writes_does_not_help(check):
    assert len(check(f"dc ivac, x4; {copy()}; ldr x5, [x4]")[1]) == 1


def test_bytes_beside_those_of_the_npu_may_be_read_and_be_dirty(check):
    assert check(f"str x3, [x3, #40]; {copy(32)}; ldr x5, [x4, #40]")[1] == []


def test_the_lines_of_one_loop_are_one_finding(check):
    program = f"mov x6, x3; mov x7, #32; 4: str x3, [x6], #8; subs x7, x7, #1; b.ne 4b; {copy(1024)}"
    _, (finding,) = check(program)
    assert (finding["address"], finding["bytes"]) == (hex(SOURCE), "256")


def test_lines_apart_and_stores_apart_are_findings_apart(check):
    program = "str x3, [x3]; str x3, [x3, #64]; mov x7, #2; add x6, x3, #512; 4: str x3, [x6], #128"
    _, findings = check(f"{program}; subs x7, x7, #1; b.ne 4b; {copy(1024)}")
    assert [int(finding["address"], 16) - SOURCE for finding in findings] == [0, 64, 512, 640]


def test_a_finding_that_comes_again_is_told_once(check):
    program = f"mov x7, #3; 4: str x3, [x3]; {copy()}; ldr x5, [x4]; subs x7, x7, #1; b.ne 4b"
    findings = check(program)[1]
    assert [(finding["kind"], finding["job"]) for finding in findings] == [
        ("cpu-read-stale", "0"),
        ("npu-read-dirty", "0"),
    ]


def test_npu_sram_is_never_dirty_or_stale(check):
    program = "load x3, 0x2400000; str x3, [x3]; npu_copy 0x2400000, 0x2500000, 64; ldr x5, [x3]"
    assert check(program)[1] == []


def test_a_store_through_another_virtual_address_counts(check):
    # The tables map 0x40000000 and 0x80000000 to the same GiB, DRAM_BASE, as blocks.
    mmu = """
      load x6, 0x90000000
      load x5, 0x80000701
      str x5, [x6, #8]
      str x5, [x6, #16]
      mov x5, #0x401
      str x5, [x6]
      msr ttbr0_el1, x6
      load x5, 0x100000019
      msr tcr_el1, x5
      isb
      mrs x5, sctlr_el1
      orr x5, x5, #1
      msr sctlr_el1, x5
      isb
      load x6, 0x60000000
    """
    program = "str x6, [x6]; {} npu_copy 0xa0000000, 0xa1000000, 64"
    assert [f["address"] for f in check(mmu + program.format(""))[1]] == [hex(SOURCE)]
    assert check(mmu + program.format("dc cvac, x6;"))[1] == []


def test_zeroing_a_block_makes_it_dirty(check):
    _, (finding,) = check(f"dc zva, x3; {copy()}")
    assert finding["bytes"] == "64"


def test_a_run_that_is_stopped_tells_its_findings_too(check):
    assert len(check(f"str x3, [x3]; {copy()}; b .", "--simlimit", "0.001")[1]) == 1


@pytest.mark.parametrize(("on", "rows"), [(1, ["1 findings"]), (0, [])])
def test_statistics_count_the_findings_of_a_check(simulator, on, rows):
    program = f"{ADDRESSES}; str x3, [x3]; {copy()}; finish"
    printed = simulator.run(program, "-C", f"host.cache_check={on}", "--stat").stdout
    assert re.findall(r"host\.cache_check *: (.*)", printed) == rows


def test_nothing_is_told_unless_asked(execute):
    execute(f"{ADDRESSES}; str x3, [x3]; {copy()}; ldr x5, [x4]; finish")


def test_checking_does_not_change_what_the_program_sees(simulator):
    reads = "ldr x5, [x4]; put_hex x5; mrs x5, cntvct_el0; put_hex x5"
    program = f"{ADDRESSES}; str x3, [x3]; {copy()}; {reads}; finish"
    plain, checked = (simulator.run(program, "-C", f"host.cache_check={on}").numbers for on in (0, 1))
    assert plain == checked
