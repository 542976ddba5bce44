"""Ports are found however a model says them."""

from __future__ import annotations

import subprocess

import pytest

from harness.boards.config import Terminal
from harness.boards.terminals import announced_ports, called_back_ports, terminal_parameters

CONSOLES = {"normal": Terminal(terminal="host.host_terminal_0"), "other": Terminal(terminal="x.terminal_0")}
LISTENING = ": Listening for serial connection on port "


@pytest.mark.parametrize(
    ("output", "ports"),
    [
        (f"host_terminal_0{LISTENING}5000\n", {"normal": 5000}),
        (f"Info: FVP_Corstone: host_terminal_0{LISTENING}5000\r\n", {"normal": 5000}),
        (f"terminal_0{LISTENING}5001\nhost_terminal_0{LISTENING}5000\n", {"normal": 5000, "other": 5001}),
        (f"host_terminal_0{LISTENING}5000terminal_0{LISTENING}5001\n", {"normal": 5000, "other": 5001}),
        (
            f"host_terminal_0{LISTENING}5000INFO: FVP: terminal_0{LISTENING}51\n",
            {"normal": 5000, "other": 51},
        ),
        (f"host_terminal_0{LISTENING}50", {}),
        (f"host_terminal_1{LISTENING}5000\n", {}),
        ("", {}),
    ],
    ids=["old", "new", "order", "glued", "glued-new", "half", "another", "none"],
)
def test_announcements_are_found_in_the_bytes(output, ports):
    assert announced_ports(CONSOLES, output.encode()) == ports


def test_a_growing_output_never_gives_another_port():
    output = f"noise\nhost_terminal_0{LISTENING}50123\r\nterminal_0{LISTENING}7\n".encode()
    found = [announced_ports(CONSOLES, output[:end]) for end in range(len(output) + 1)]
    assert {port for ports in found for port in ports.items()} == {("normal", 50123), ("other", 7)}


def test_a_model_calls_back_with_its_port(tmp_path):
    folder = tmp_path / "with a space"
    folder.mkdir()
    parameters = terminal_parameters(CONSOLES["normal"], "normal", folder)
    assert parameters["host.host_terminal_0.start_port"] == 0
    assert called_back_ports(CONSOLES, folder) == {}
    command = str(parameters["host.host_terminal_0.terminal_command"]).replace("%port", "4321")
    subprocess.run(["sh", "-c", command], check=True, timeout=30)
    assert called_back_ports(CONSOLES, folder) == {"normal": 4321}
