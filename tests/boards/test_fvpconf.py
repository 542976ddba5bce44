"""meta-arm's `.fvpconf` is read as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.boards.config import load_board
from harness.errors import UsageError

CONF: dict[str, Any] = {
    "provider": "fvp-corstone1000-a320-native",
    "fvp-bindir": "",
    "exe": "FVP_Corstone-1000-A320",
    "parameters": {
        "board.xnvm_size": "64",
        "se.trustedBootROMloader.fname": "trusted-firmware-m/bl1.bin",
        "board.msd_mmc.p_mmc_file": "image.wic",
        "board.msd_mmc_2.p_mmc_file": "esp.wic",
    },
    "data": ["board.flash0=flash.wic@0x68000000"],
    "applications": {},
    "terminals": {
        "host.host_terminal_0": "Normal World Console",
        "host.host_terminal_1": "Secure World Console",
        "se.secenc_terminal": "Secure Enclave Console",
    },
    "args": ["--quantum", "100"],
    "consoles": {"default": "host_terminal_0", "tf-a": "host_terminal_1", "se": "secenc_terminal"},
    "env": {"ARMLMD_LICENSE_FILE": "8224@host"},
}


@pytest.fixture
def read(tmp_path: Path):
    """A function that writes the file, with some keys changed, and loads it."""

    def load(**changes: Any):
        path = tmp_path / "machine.fvpconf"
        path.write_text(json.dumps({**CONF, **changes}))
        return load_board(str(path))

    return load


def test_consoles_have_their_roles_and_full_names(read):
    board = read()
    assert {role: terminal.terminal for role, terminal in board.consoles.items()} == {
        "normal": "host.host_terminal_0",
        "secure": "host.host_terminal_1",
        "enclave": "se.secenc_terminal",
    }
    assert (board.records, board.consoles["normal"].title) == ("normal", "Normal World Console")


def test_files_lie_beside_it(read, tmp_path):
    board = read()
    assert board.parameters["board.msd_mmc.p_mmc_file"] == str(tmp_path / "image.wic")
    assert board.parameters["board.xnvm_size"] == "64"
    assert (board.data["board.flash0"].file, board.data["board.flash0"].address) == (
        str(tmp_path / "flash.wic"),
        0x68000000,
    )
    assert board.copies == ("board.msd_mmc.p_mmc_file",)  # the other card is ours


def test_the_rest_is_as_in_the_file_or_as_on_the_board(read):
    board, known = read(), load_board("corstone-1000-a320")
    assert (board.executable, board.arguments, board.environment) == (
        "FVP_Corstone-1000-A320",
        ("--quantum", "100"),
        {"ARMLMD_LICENSE_FILE": "8224@host"},
    )
    assert (board.memory, board.boot, board.landmarks) == (known.memory, known.boot, known.landmarks)


def test_the_folder_of_the_program_may_be_given(read, tmp_path):
    assert read(**{"fvp-bindir": "native/bin"}).executable == str(
        tmp_path / "native/bin/FVP_Corstone-1000-A320"
    )


def test_the_mac_count_is_that_of_the_file(read):
    assert read().npu.macs == 256
    assert read(parameters={"host.ethosu.num_macs": "2048"}).npu.macs == 2048


def test_the_model_ends_with_the_run_and_takes_no_port_of_the_host(read):
    ports = {"board.hostbridge.userNetPorts": "2222=22", "board.hostbridge.userNetworking": "true"}
    assert read(parameters=ports).parameters == {
        "host.uart0.shutdown_on_eot": True,
        "board.hostbridge.userNetworking": "true",
    }


def test_a_card_that_is_none_is_left_alone(read):
    board = read(parameters={"board.msd_mmc.p_mmc_file": "invalid.dat"})
    assert board.parameters["board.msd_mmc.p_mmc_file"] == "invalid.dat"
    assert board.copies == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"terminal": {}}, r"machine\.fvpconf: unknown key terminal; did you mean 'terminals'"),
        ({"parameters": {"host.ethosu.num_macs": 300}}, "there is no Ethos-U85 with 300 MACs"),
        ({"exe": None}, r"machine\.fvpconf: exe: input should be a valid string"),
        ({"data": ["flash.wic"]}, "data: 'flash.wic' is not of the form MEMORY=FILE@ADDRESS"),
        ({"consoles": {}}, "consoles: no role 'default'"),
        ({"consoles": {"default": "uart"}}, "consoles.default: 'uart' is none of its terminals"),
    ],
)
def test_what_is_wrong_is_named_with_file_and_key(read, changes, said):
    with pytest.raises(UsageError, match=said):
        read(**changes)


def test_a_file_that_is_no_json_or_not_there_is_named(tmp_path):
    (tmp_path / "x.fvpconf").write_text("{")
    with pytest.raises(UsageError, match=r"x\.fvpconf is not JSON"):
        load_board(str(tmp_path / "x.fvpconf"))
    with pytest.raises(UsageError, match=r"cannot read .*none\.fvpconf: No such file"):
        load_board(str(tmp_path / "none.fvpconf"))
