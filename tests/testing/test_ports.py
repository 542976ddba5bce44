"""How terminals are announced: a line each, a command each, and everything that is known to go wrong."""

from __future__ import annotations

import socket
import time

import pytest

from harness.testing import Symptom

TERMINALS = ["host_terminal_0", "host_terminal_1", "secenc_terminal"]
NORMAL = TERMINALS[0]


def lines(running, count=3):
    """Return the announcements as lines, after all have come."""
    running.ports(count)
    return [line for line in running.stdout.decode().splitlines() if "Listening" in line]


def test_three_terminals_are_announced_and_can_be_connected_to(run):
    running = run()
    assert list(running.ports()) == TERMINALS
    running.attach()
    assert set(running.clients) == set(TERMINALS)


def test_an_occupied_port_makes_it_try_the_next(run):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        ports = run(terminals={"start_port": taken}).ports()
    assert min(ports.values()) > taken
    assert len(set(ports.values())) == len(TERMINALS)


def test_quiet_terminals_say_nothing_but_are_there(run, tmp_path):
    command = f"sh -c 'echo %port > {tmp_path}/%title'"
    running = run(terminals={"quiet": 1, "start_telnet": 1, "terminal_command": command})
    running.attach(ports={name: int(written(tmp_path / name)) for name in TERMINALS})
    running.expect(NORMAL, "U-Boot")
    running.read_stdout(0)
    assert b"Listening" not in running.stdout


def test_the_terminals_command_is_told_the_port(run, tmp_path):
    command = f"sh -c 'echo %title %port > {tmp_path}/%title'"
    ports = run(terminals={"start_telnet": 1, "terminal_command": command}).ports()
    for name in TERMINALS:
        assert written(tmp_path / name) == f"{name} {ports[name]}\n"


def written(file):
    """Return what a command writes, once it has."""
    deadline = time.monotonic() + 10
    while not (file.exists() and file.read_text().endswith("\n")) and time.monotonic() < deadline:
        time.sleep(0.01)
    return file.read_text()


def test_without_a_display_xterm_complains_once_for_each_terminal(run):
    running = run(terminals={"start_telnet": 1})
    running.attach()
    running.expect("secenc_terminal", "TF-M")
    running.process.terminate()
    running.finish()
    assert running.stderr.decode().count("xterm: Xt error: Can't open display:") == len(TERMINALS)


def test_the_users_network_takes_its_host_ports_once(run):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    network = {
        "board.hostbridge.userNetworking": "true",
        "board.hostbridge.userNetPorts": f"{port}=22",
        "board.virtio_net.hostbridge.userNetworking": "true",
        "board.virtio_net.hostbridge.userNetPorts": f"{port}=22",
    }
    run(parameters=network).ports()
    second = run(parameters=network)
    assert second.finish() == 1
    assert f"host port {port}: Address already in use" in second.stderr.decode()


def test_a_taken_host_port_can_be_had_without_a_second_model(run):
    running = run(Symptom.HOST_PORT_TAKEN)
    assert running.finish() == 1
    assert b"Address already in use" in running.stderr


def test_late_ports_are_late(run):
    running = run(Symptom.LATE_PORTS)
    while b"ARM Limited" not in running.stdout:
        assert running.read_stdout(10)
    started = time.monotonic()
    running.ports()
    assert time.monotonic() - started > 0.3


def test_glued_ports_share_a_line(run):
    assert [line.count("Listening") for line in lines(run(Symptom.GLUED_PORTS))] == [3]


def test_half_a_port_is_not_the_port(run):
    running = run(Symptom.HALF_PORT)
    while b"port " not in running.stdout:
        assert running.read_stdout(10)
    first = running.stdout.rpartition(b"port ")[2]
    whole = str(running.ports()[NORMAL]).encode()
    assert first != whole
    assert whole.startswith(first)


def test_the_new_form_names_the_model_first(run):
    assert all(line.startswith("INFO: FVP_Corstone_1000_A320: ") for line in lines(run(Symptom.NEW_FORM)))


def test_a_missing_port_is_never_announced(run):
    running = run(Symptom.MISSING_PORT)
    running.ports(2)
    assert not running.read_stdout(0.3)
    assert set(running.ports(2)) == {"host_terminal_0", "secenc_terminal"}


def test_shuffled_ports_come_in_another_order(run):
    assert list(run(Symptom.SHUFFLED_PORTS).ports()) == TERMINALS[::-1]


def test_names_may_contain_each_other(run):
    ports = run(Symptom.SUBSTRING_NAMES).ports(5)
    assert {"sec_host_terminal_0", "host_terminal_00"} < set(ports)
    assert len(set(ports.values())) == 5


@pytest.mark.parametrize(
    "symptom",
    [Symptom.NO_CALLBACK, Symptom.LATE_PORTS, Symptom.GLUED_PORTS, Symptom.HALF_PORT, Symptom.NEW_FORM],
)
def test_who_is_to_see_the_line_is_not_told_by_the_command(run, tmp_path, symptom):
    command = f"sh -c 'echo %port > {tmp_path}/port'"
    running = run(symptom, terminals={"start_telnet": 1, "terminal_command": command})
    running.attach()
    running.expect(NORMAL, "U-Boot")
    assert not (tmp_path / "port").exists()
