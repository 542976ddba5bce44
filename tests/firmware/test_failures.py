"""Faults, refusals and timeouts: named, recorded, and nothing is left behind."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.build.firmware_tree import Edit
from harness.errors import ConsoleError
from harness.plan import DRIVER_MODES, DRIVER_PERSISTENT, PER_INFERENCE, Cell, Job, Plan, plan_comparison


@pytest.fixture(params=DRIVER_MODES, ids=str)
def mode(request):
    return request.param


def test_a_stream_for_another_mac_count_is_refused_before_it_runs(firmware, both_lifetimes):
    run = firmware.run(both_lifetimes, macs=512)
    per_inference, persistent = run.cells
    assert [i.status for i in per_inference.inferences] == ["refused"] * 3
    assert (persistent.status, persistent.inferences) == ("refused", ())
    assert run.faults[0].details == {"want": "20000118", "have": "20001119"}
    assert all((cell.live_objects, cell.pool_used) == (0, 0) for cell in run.cells)


def test_an_npu_fault_is_reported_with_its_status(firmware, parse_error, mode):
    run = firmware.run(plan_comparison(parse_error, [mode], (0, 1)))
    (cell,) = run.cells
    assert [i.status for i in cell.inferences] == ["npu-fault", "npu-fault"]
    parse_error_bit = 1 << 4
    assert int(run.faults[0].details["status"], 16) & parse_error_bit
    assert (cell.live_objects, cell.pool_used) == (0, 0)


def test_the_inference_after_a_fault_is_right(firmware, parse_error, revealing, mode):
    cells = (Cell(mode, (0,), (Job(0, 0),)), Cell(mode, (1,), (Job(0, 1),)))
    faulty, after = firmware.run(Plan((parse_error, revealing), cells)).cells
    assert (faulty.status, after.status) == ("npu-fault", "ok")
    assert after.inferences[0].outputs[0] == revealing.inputs[1].tensors[0]


def test_a_timeout_stops_the_npu_and_leaves_nothing(firmware, both_lifetimes):
    run = firmware.run(replace(both_lifetimes, inference_timeout_ms=0))
    for cell in run.cells:
        assert [i.status for i in cell.inferences] == ["timeout"] * 3
        assert (cell.live_objects, cell.pool_used) == (0, 0)
    assert run.faults[0].kind == "timeout"


def test_a_payload_that_is_cut_short_is_a_driver_error(firmware, revealing):
    compiled = replace(revealing.compiled, command_stream=revealing.compiled.command_stream[:-4])
    run = firmware.run(plan_comparison(replace(revealing, compiled=compiled), [DRIVER_PERSISTENT], (0,)))
    assert run.cells[0].status == "driver-error"
    assert run.faults[0].details == {"error": "bad-stream", "where": "network"}


def test_a_pool_that_is_too_small_fails_the_cell_and_is_rolled_back(firmware, both_lifetimes):
    small = Edit("runner/main.c", ".pool_size = DMA_POOL_SIZE", ".pool_size = 256")
    run = firmware.run(both_lifetimes, small)
    for cell in run.cells:
        assert cell.status == "driver-error"
        assert (cell.live_objects, cell.pool_used) == (0, 0)
    assert run.faults[0].details["error"] == "out-of-memory"


def test_an_npu_that_is_none_is_reported_after_hello(firmware, both_lifetimes):
    blind = Edit(
        "ethosu/ethosu_device_state.c",
        "device->config = mmio_read(device->base + NPU_CONFIG)",
        "device->config = 0",
    )
    hello, fault, bye = firmware.speak(both_lifetimes, blind).records
    assert (hello.type, fault.text("error"), bye.text("status")) == ("hello", "no-npu", "fault")


def test_an_instruction_counter_that_stands_still_is_reported(firmware, both_lifetimes):
    off = Edit("runner/main.c", "    counters_enable();\n", "")
    _, fault, _ = firmware.speak(both_lifetimes, off).records
    assert fault.text("error") == "no-instruction-counter"


INFERENCE_BEGINS = "    report_inside_inference(index);\n"


def exception(firmware, plan, statement):
    """Run with a statement at the start of every inference; the exception record that it leads to."""
    defect = Edit("runner/cell.c", INFERENCE_BEGINS, INFERENCE_BEGINS + statement)
    run = firmware.run(plan, defect)
    assert run.status == "fault"
    (fault,) = run.faults
    assert (fault.kind, fault.cell, fault.slot, fault.index) == ("exception", 0, 0, 0)
    return fault


def exception_class(fault):
    return int(fault.details["esr"], 16) >> 26


UNDEFINED, INSTRUCTION_ABORT, DATA_ABORT = 0x00, 0x21, 0x25


def test_an_undefined_instruction_is_an_exception_record(firmware, both_lifetimes):
    fault = exception(firmware, both_lifetimes, '    __asm__ volatile("udf #0");\n')
    assert exception_class(fault) == UNDEFINED
    assert fault.details["el"] == "1"


def test_an_unmapped_address_is_an_exception_record_with_the_address(firmware, both_lifetimes):
    fault = exception(firmware, both_lifetimes, "    *(volatile int *)0x123456789cUL = 1;\n")
    assert exception_class(fault) == DATA_ABORT
    assert fault.details["far"] == "123456789c"


def test_code_and_constants_cannot_be_written(firmware, both_lifetimes):
    fault = exception(firmware, both_lifetimes, "    *(volatile char *)identity_build = 1;\n")
    permission_fault_at_level_3 = 0x0F
    assert exception_class(fault) == DATA_ABORT
    assert int(fault.details["esr"], 16) & 0x3F == permission_fault_at_level_3


def test_data_cannot_be_executed(firmware, both_lifetimes):
    fault = exception(firmware, both_lifetimes, "    ((void (*)(void))plan.outputs)();\n")
    assert exception_class(fault) == INSTRUCTION_ABORT


def test_a_stack_overflow_is_an_exception_record(firmware, both_lifetimes):
    push_for_ever = '    __asm__ volatile("1: stp xzr, xzr, [sp, #-16]!\\n b 1b");\n'
    assert exception_class(exception(firmware, both_lifetimes, push_for_ever)) == DATA_ABORT


def test_long_exception_registers_do_not_break_the_line_limit(firmware, both_lifetimes):
    defect = Edit(
        "runner/cell.c",
        INFERENCE_BEGINS,
        INFERENCE_BEGINS + "    *(volatile int *)0xdeadbeefdeadbeecUL = 1;\n",
    )
    faults = list(firmware.speak(both_lifetimes, defect).of_type("fault"))
    assert {key for fault in faults for key in fault.fields} >= {"esr", "elr", "far", "spsr", "el", "vector"}


def test_an_exception_before_main_is_the_first_record(firmware, both_lifetimes):
    early = Edit("platform/mmu.c", "    map(UART_BASE,", "    __builtin_trap();\n    map(UART_BASE,")
    with pytest.raises(ConsoleError, match="the first record is 'fault', not 'hello'") as caught:
        firmware.speak(both_lifetimes, early)
    breakpoint_class = "esr=f2"
    assert any("kind=exception" in line and breakpoint_class in line for line in caught.value.evidence)


def test_other_cells_run_after_a_refused_one(firmware, revealing):
    refused = replace(revealing, compiled=replace(revealing.compiled, command_stream=b"COP9" + bytes(96)))
    cells = (Cell(DRIVER_PERSISTENT, (0,), (Job(0, 0),)), Cell(PER_INFERENCE, (1,), (Job(0, 0),)))
    run = firmware.run(Plan((refused, revealing), cells))
    assert [cell.status for cell in run.cells] == ["driver-error", "ok"]


@pytest.mark.parametrize("byte", [3010, 3060])
def test_an_exception_in_the_middle_of_a_record_is_still_a_fault_with_its_place(
    firmware, both_lifetimes, byte
):
    """The console refuses a byte: what was being said is lost, what went wrong is not."""
    run = firmware.run(both_lifetimes, parameters={"host.uart0.fault_after": byte})
    (fault,) = run.faults
    assert (fault.kind, fault.mode, fault.model) == ("exception", PER_INFERENCE, 0)
    assert fault.index is not None
    assert any(line.startswith("@h1 ") for line in run.noise)
