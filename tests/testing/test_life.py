"""How a run ends: by signals, limits, and what goes wrong."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from harness.testing import Symptom

NORMAL, SECURE, ENCLAVE = "host_terminal_0", "host_terminal_1", "secenc_terminal"


def test_sigint_ends_it_gracefully_with_statistics(booted):
    running = booted(options=["--stat"])
    running.process.send_signal(signal.SIGINT)
    assert running.finish() == 0
    text = running.stdout.decode()
    assert "Info: /OSCI/SystemC: Simulation stopped by user." in text
    assert "--- FVP_Corstone_1000_A320 statistics: ---" in text
    assert "Simulated time                          : " in text


def test_sigterm_kills_it_without_a_word(booted):
    running = booted(options=["--stat"])
    running.process.terminate()
    assert running.finish() == -signal.SIGTERM
    assert b"Simulat" not in running.stdout


def test_a_signal_ends_a_program_that_computes(booted, tmp_path):
    (tmp_path / "endless.bin").write_bytes((0x1400_0000).to_bytes(4, "little"))  # b .
    running = booted(options=["--data", f"{tmp_path}/endless.bin@0x88200000"])
    running.do("go 88200000", prompt="...\r\n")
    running.process.send_signal(signal.SIGINT)
    assert running.finish() == 0


@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("--timelimit", "0.2", "CPU time"),
        ("--cpulimit", "0.2", "CPU time"),
        ("--simlimit", "0.2", "Simulated time"),
        ("--cyclelimit", "200000000", "Cycle limit"),
    ],
)
def test_a_limit_is_named_and_its_status_is_0(run, option, value, reason):
    running = run(options=[option, value])
    assert running.finish() == 0
    assert f"Info: Simulation is stopping. Reason: {reason} has been exceeded." in running.stdout.decode()


def test_beside_a_debug_server_limits_are_ignored(run):
    running = run(options=["-I", "-p", "--timelimit", "0.2"])
    running.attach()
    assert b"Iris server started listening to port 7100\n" in running.stdout
    assert b"option --timelimit ignored because --iris-server option specified\n" in running.stdout
    running.expect(NORMAL, "Hit any key")


def test_quiet_leaves_the_banner_out(run):
    assert "Fast Models" not in stdout_of(run(options=["-q"]))
    assert "Fast Models [11.30.27" in stdout_of(run())


def stdout_of(running):
    running.ports()
    return running.stdout.decode()


def test_it_may_die_before_its_ports(run):
    running = run(Symptom.DIES_BEFORE_PORTS)
    assert running.finish() == 1
    assert b"Listening" not in running.stdout
    assert running.stderr == b""


@pytest.mark.parametrize(
    ("symptom", "status", "said"),
    [
        (Symptom.DIES_IN_BOOT, 1, ""),
        (Symptom.ENDS_IN_BOOT, 0, ""),
        (Symptom.LIMIT_REACHED, 0, "Info: Simulation is stopping. Reason: CPU time has been exceeded."),
    ],
)
def test_it_may_end_in_the_middle_of_the_boot(run, symptom, status, said):
    running = run(symptom)
    running.attach()
    assert running.finish() == status
    assert b"BL2" in running.shown[SECURE]
    assert b"BL31: v" not in running.shown[SECURE]
    assert running.stdout.decode().rpartition("\n\n")[2].strip().startswith(said)


def test_it_may_hang_with_a_silent_normal_world(run):
    running = run(Symptom.HANGS_IN_BOOT)
    running.attach()
    running.expect(SECURE, "Primary CPU switching to normal world boot\r\n")
    assert running.silent_for(0.3)
    assert not running.shown[NORMAL]


def test_it_may_ignore_signals(booted):
    running = booted(Symptom.IGNORES_SIGNALS)
    for number in (signal.SIGINT, signal.SIGTERM):
        running.process.send_signal(number)
    assert running.do("echo still here") == "still here\r\n"
    running.process.kill()
    assert running.finish() == -signal.SIGKILL


def test_it_may_ignore_sigterm_alone(booted):
    running = booted(Symptom.IGNORES_SIGTERM)
    running.process.terminate()
    assert running.do("echo still here") == "still here\r\n"
    running.process.send_signal(signal.SIGINT)
    assert running.finish() == 0


def test_a_child_may_survive_and_hold_stdout_open(run):
    running = run(Symptom.SURVIVING_CHILD)
    running.ports()
    running.process.terminate()
    assert running.process.wait(10) == -signal.SIGTERM
    assert not running.read_stdout(0.3)  # no end of file
    os.killpg(running.process.pid, signal.SIGTERM)
    assert not running.read_stdout(0.3)
    os.killpg(running.process.pid, signal.SIGKILL)
    assert not running.read_stdout(10)
    os.set_blocking(running.process.stdout.fileno(), False)
    assert running.process.stdout.read() == b""


@pytest.mark.parametrize(
    ("symptom", "console", "text"),
    [
        (Symptom.DEATH_STRING, ENCLAVE, "[ERR] BL2 image failed to validate"),
        (Symptom.ENCLAVE_FATAL, ENCLAVE, "FATAL ERROR: SecureFault"),
        (Symptom.FIRMWARE_PANIC, SECURE, "Unhandled Exception in EL3."),
    ],
)
def test_firmware_may_give_up_while_the_model_runs_on(run, symptom, console, text):
    running = run(symptom)
    running.attach()
    running.expect(console, text, "\r\n")
    while running.read_consoles(0.2):
        pass
    assert running.silent_for(0.3)


def test_ends_leave_no_process_and_no_port(booted):
    running = booted()
    ports = running.ports()
    running.process.terminate()
    running.finish()
    with pytest.raises(ProcessLookupError):
        os.killpg(running.process.pid, 0)
    for port in ports.values():
        with pytest.raises(ConnectionRefusedError):
            running.attach(NORMAL, ports={NORMAL: port})


def test_it_starts_without_the_simulator(mock):
    probe = (
        "import sys; from harness.testing.fvp.program import main; assert main() == 0;"
        "assert not {'unicorn', 'numpy', 'pyfatfs', 'harness.sim.machine'} & set(sys.modules)"
    )
    command = [sys.executable, "-c", probe, f"{mock().executable}.json", "--version"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
