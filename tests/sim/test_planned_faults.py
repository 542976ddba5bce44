"""Faults that the command line plans: what the program meets, and what is said at the end."""

from __future__ import annotations

import pytest

# Data abort from the current level, 32-bit instruction, a write, external.
EXTERNAL_ABORT = 0x25 << 26 | 1 << 25 | 1 << 6 | 0b010000
THIRD_BYTE = """
  report_traps
  put_byte '\\n'
  put_byte '\\n'
  load x12, UART
  mov w11, #'x'
  trap: str w11, [x12]
  put_byte '?'
  after: finish
"""
COPY = "npu_copy 0xa0000000, 0xa1000000, 64"


@pytest.fixture
def stderr(simulator):
    """Run a program to its end, and return what was said on standard error."""

    def run(program: str, **parameters: object) -> str:
        names = {name.replace("__", "."): value for name, value in parameters.items()}
        settings = [word for name, value in names.items() for word in ("-C", f"host.{name}={value}")]
        result = simulator.run(program, *settings)
        assert result.exit_code == 0, result.stderr
        return result.stderr

    return run


def test_the_chosen_byte_is_refused_by_an_external_abort_and_later_ones_are_sent(simulator):
    run = simulator.run(THIRD_BYTE, "-C", "host.uart0.fault_after=3")
    _, syndrome, address, offset, _ = run.numbers
    assert (syndrome, address, offset) == (EXTERNAL_ABORT, 0x1A51_0000, 0)
    assert not {"x", "?"} & set(run.uart)


def test_no_byte_is_refused_unless_asked(execute):
    assert execute(THIRD_BYTE).uart == "\n\nx?\x04"


@pytest.mark.parametrize(("byte", "happened"), [(3, "yes"), (500, "no")])
def test_the_end_says_whether_the_byte_was_refused(stderr, byte, happened):
    said = stderr(THIRD_BYTE, uart0__fault_after=byte)
    assert said == f"harness-sim: uart0-fault byte={byte} happened={happened}\n"


@pytest.mark.parametrize(("job", "happened"), [(0, "yes"), (1, "no")])
def test_the_end_says_whether_the_job_failed(stderr, job, happened):
    said = stderr(f"{COPY}; finish", ethosu__fault="early", ethosu__fault_job=job)
    assert said == f"harness-sim: npu-fault kind=early job={job} happened={happened}\n"


def test_a_late_job_is_late_by_the_microseconds_asked_for(execute, simulator):
    program = f"mrs x6, cntvct_el0; {COPY}; mrs x7, cntvct_el0; sub x7, x7, x6; put_hex x7; finish"
    (usual,) = execute(program).numbers
    late = {"fault": "late", "fault_job": 0, "fault_delay_us": 50}
    settings = [word for name, value in late.items() for word in ("-C", f"host.ethosu.{name}={value}")]
    (ticks,) = simulator.run(program, *settings).numbers
    microseconds = (ticks - usual) / 100
    assert 50 <= microseconds < 54
