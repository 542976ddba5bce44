"""The program `harness-sim`: its options, its exit codes, its ends."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import resource
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from harness.sim.main import main
from harness.sim.npu import MAC_COUNTS
from harness.sim.parameters import TABLE

HELLO = """
  adr x1, text
  next: ldrb w11, [x1], #1
  cbz w11, done
  load x12, UART
  str w11, [x12]
  b next
  done: finish
  text: .asciz "hello\\n"
  .balign 4
"""
ENDLESS = "put_byte '>'; b ."


def test_a_program_says_hello_and_ends_with_eot(simulator):
    done = subprocess.run(simulator.command(HELLO), capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"hello\n\x04", b"")


@pytest.mark.parametrize("option", ["--version", "--list-params", "--help"])
def test_questions_are_answered_without_core_or_numpy(option):
    probe = f"""
import sys
from harness.sim.main import main
try:
    main([{option!r}])
except SystemExit as leave:
    assert not leave.code
assert not {{"unicorn", "numpy", "elftools"}} & set(sys.modules), "heavy imports"
"""
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_listing_shows_every_parameter_as_an_fvp_would(capfd):
    assert main(["-l"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.partition("=")[0] for line in lines] == sorted(TABLE)
    macs = next(line for line in lines if line.startswith("host.ethosu.num_macs"))
    assert macs.startswith("host.ethosu.num_macs=256 ")
    assert "# (int, init-time) default = '256' : " in macs


def test_every_npu_can_be_chosen():
    assert TABLE["host.ethosu.num_macs"][1].choices == MAC_COUNTS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-C", "host.ethosu.num_mac=256"], "did you mean 'host.ethosu.num_macs'?"),
        (
            ["-C", "host.ethosu.num_macs=200"],
            "host.ethosu.num_macs=200: allowed are 128, 256, 512, 1024, 2048",
        ),
        (["-C", "host.cache_model=maybe"], "a boolean is"),
        (["-C", "host.cpu.entry_el=4"], "allowed are 1 to 3"),
        (["-C", "host.ethosu.fault=slow"], "allowed are none, status-error, bus-error, hang, late, early"),
        (["-C", "host.ethosu.fault=hang"], "host.ethosu.fault and host.ethosu.fault_job need each other"),
        (["-C", "host.ethosu.fault_job=0"], "host.ethosu.fault and host.ethosu.fault_job need each other"),
        (["-C", "host.ethosu.fault_job=-2"], "allowed are -1 to"),
        (["-C", "host.cpu.entry_caches=1"], "host.cpu.entry_caches needs host.cpu.entry_el=2"),
        (["-C", "host.cache_check=1", "-C", "host.cache_model=0"], "host.cache_check needs host.cache_model"),
        (["-C", "nonsense"], "not of the form NAME=VALUE"),
        (["--bogus"], "unrecognized arguments: --bogus"),
        (["--data", "file"], "not of the form FILE@ADDRESS"),
        (["--data", "board.flash0=file@0"], "there is no memory 'board.flash0'"),
        (["--simlimit", "-1"], "above zero"),
        (["a.elf", "-a", "b.elf"], "two applications"),
        (["/does/not/exist.elf"], "cannot read '/does/not/exist.elf': No such file or directory"),
        ([__file__], "is not an ELF file"),
        ([sys.executable], "is not an AArch64 program"),
        ([], "no application"),
        (
            ["-C", "host.uart0.out_file=/does/not/exist", __file__],
            "/does/not/exist: No such file or directory",
        ),
        (["-C", "host.memory.sram_base=0x80001000", __file__], "overlap"),
        (["-C", "host.memory.dram_size=0x1001", __file__], "whole 4096-byte pages"),
    ],
)
def test_what_cannot_be_started_is_one_line_and_exit_1(capfd, arguments, message):
    assert main(arguments) == 1
    captured = capfd.readouterr()
    assert message in captured.err
    assert captured.err.startswith("Error: ")
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_an_application_outside_the_memory_is_not_started(simulator):
    run = simulator.run("finish", "-C", "host.memory.dram_size=0x1000")
    assert run.exit_code == 1
    assert "application: no RAM at 0x88200000" in run.stderr


def test_a_truncated_application_is_not_started(simulator, tmp_path, capfd):
    whole = simulator.assembler.assemble(HELLO).read_bytes()
    start = whole.index(b"hello\n")
    (tmp_path / "half.elf").write_bytes(whole[:start])
    assert main([str(tmp_path / "half.elf")]) == 1
    assert capfd.readouterr().err.startswith("Error: ")


def test_data_is_loaded_where_it_was_asked_for(execute, tmp_path):
    data = tmp_path / "data"
    data.write_bytes((0x0123_4567_89AB_CDEF).to_bytes(8, "little"))
    program = (
        "load x1, 0xa0000000; ldr x5, [x1]; put_hex x5; load x1, 0x2400008; ldr x5, [x1]; put_hex x5; finish"
    )
    numbers = execute(program, "--data", f"board.dram={data}@0xa0000000", "-d", f"{data}@0x2400008").numbers
    assert numbers == [0x0123_4567_89AB_CDEF] * 2


def test_devices_can_be_moved(execute):
    program = HELLO.replace("UART", "0x1c000000").replace(
        "finish", "mov w11, #4; load x12, 0x1c000000; str w11, [x12]; b ."
    )
    assert execute(program, "-C", "host.memory.uart0_base=0x1c000000").uart == "hello\n\x04"


def test_untouched_memory_holds_the_fill_and_the_image_does_not(execute):
    program = """
      load x1, 0x80000000; ldr x5, [x1]; put_hex x5
      load x1, 0xfffffff8; ldr x5, [x1]; put_hex x5
      load x1, 0x2400000; ldr x5, [x1]; put_hex x5
      adr x1, zeros; ldr x5, [x1]; put_hex x5
      finish
      zeros: .quad 0
    """
    fill = 0x5A5A_5A5A_5A5A_5A5A
    assert execute(program, "-C", "host.memory.fill=0x5a").numbers == [fill, fill, fill, 0]


@pytest.mark.parametrize(
    ("option", "reason"), [("--simlimit", "Simulated time"), ("--timelimit", "CPU time")]
)
def test_a_limit_ends_an_endless_program_with_an_fvps_words(simulator, option, reason):
    run = simulator.run(ENDLESS, option, "0.0001" if option == "--simlimit" else "0.2")
    assert run.exit_code == 0
    assert run.stdout == f"Info: Simulation is stopping. Reason: {reason} has been exceeded.\n"


def test_the_simulated_limit_stops_at_the_same_instruction_every_time(simulator):
    runs = [simulator.run(ENDLESS, "--simlimit", "0.0001234", "--stat").stdout for _ in range(2)]
    assert re.findall(r"(\d+) Inst", "".join(runs)) == ["123400"] * 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_endless_program_within_a_second(simulator, number):
    others = cpu_seconds_of_children()
    with subprocess.Popen(
        [*simulator.command(ENDLESS), "--stat"], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.read(1) == ">"  # a line that is never finished is seen too
        before = cpu_seconds(process.pid)
        process.send_signal(number)
        output = process.stdout.read()
        assert process.wait(timeout=60) == 128 + number
    # The core never sleeps, so on a machine of its own it takes as long as it computes.
    assert cpu_seconds_of_children() - others - before < 1
    assert "Simulation stopped by user" in output
    assert "MIPS" in output


def cpu_seconds(pid: int) -> float:
    """Return the processor time that a running process has used, proc(5)."""
    ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def cpu_seconds_of_children() -> float:
    """Return the processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_a_signal_ends_a_program_whose_console_nobody_reads(simulator):
    flood = "load x12, UART; mov w11, #10; 1: str w11, [x12]; b 1b"
    reader, writer = os.pipe()
    capacity = fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    with subprocess.Popen(simulator.command(flood), stdout=writer) as process:
        deadline = time.monotonic() + 30
        while unread(reader) < capacity:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.terminate()
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
    os.close(reader)
    os.close(writer)


def unread(descriptor: int) -> int:
    """Return the bytes that wait in a pipe."""
    return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4)))[0]


def test_a_reader_that_leaves_is_a_named_end(simulator):
    flood = "load x12, UART; mov w11, #10; 1: str w11, [x12]; b 1b"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(simulator.command(flood), **pipes) as process:
        process.stdout.read(1)
        process.stdout.close()
        assert b"Error: the console cannot be written: Broken pipe" in process.stderr.read()
        assert process.wait(timeout=30) == 3


def test_a_terminal_shows_each_line_at_once(simulator):
    master, slave = pty.openpty()
    with subprocess.Popen(simulator.command(HELLO.replace("finish", "b .")), stdout=slave) as process:
        os.close(slave)
        text = b""
        while b"\n" not in text:
            text += os.read(master, 100)
        process.kill()
    os.close(master)
    assert text == b"hello\r\n"


def test_the_uart_can_go_to_a_file(simulator, tmp_path, capfd):
    file = tmp_path / "log"
    settings = ["-C", f"host.uart0.out_file={file}", "-C", "host.uart0.shutdown_on_eot=true", "-q"]
    assert main([*settings, "-a", str(simulator.assembler.assemble(HELLO))]) == 0
    assert file.read_bytes() == b"hello\n\x04"
    assert capfd.readouterr().out == ""


def test_eot_is_an_ordinary_byte_without_shutdown_on_eot(simulator):
    run = simulator.run(HELLO, "-C", "host.uart0.shutdown_on_eot=0", "--simlimit", "0.001")
    assert "Simulated time has been exceeded" in run.stdout
