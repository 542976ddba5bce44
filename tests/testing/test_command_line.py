"""The stand-in's options, questions and refusals, as an FVP has them."""

from __future__ import annotations

import re

import pytest

from harness.testing import Symptom
from harness.testing.fvp.parameters import TABLE

# Of meta-arm's and Zephyr's board files.
PUBLISHED = {
    "host.ethosu.num_macs",
    "se.trustedBootROMloader.fname",
    "board.xnvm_size",
    "se.trustedSRAM_config",
    "se.BootROM_config",
    "board.hostbridge.interfaceName",
    "board.smsc_91c111.enabled",
    "board.hostbridge.userNetworking",
    "board.hostbridge.userNetPorts",
    "board.se_flash_size",
    "diagnostics",
    "disable_visualisation",
    "se.nvm.update_raw_image",
    "se.cryptocell.USER_OTP_FILTERING_DISABLE",
    "board.msd_mmc.card_type",
    "board.msd_mmc.p_fast_access",
    "board.msd_mmc.diagnostics",
    "board.msd_mmc.p_max_block_count",
    "board.msd_mmc.support_unpadded_images",
    "board.msd_mmc.p_mmc_file",
    "board.msd_config.pl180_fifo_depth",
    "board.msd_mmc_2.p_mmc_file",
    "board.msd_config_2.pl180_fifo_depth",
    "board.virtio_net.enabled",
    "board.virtio_net.hostbridge.interfaceName",
    "board.virtio_net.hostbridge.userNetworking",
    "board.virtio_net.hostbridge.userNetPorts",
    "board.virtio_net.transport",
    "se.secenc_terminal.start_telnet",
    "se.secenc_terminal.mode",
    "host.host_terminal_0.start_port",
    "host.host_terminal_0.terminal_command",
    "host.host_terminal_1.quiet",
    "se.uart0.out_file",
    "se.uart0.unbuffered_output",
    "host.uart0.out_file",
    "host.uart0.uart_enable",
    "host.uart1.out_file",
    "host.gic.ITS-count",
    "host.uart0.shutdown_on_eot",
    "host.uart0.shutdown_tag",
}
LINE = re.compile(r"(\S+?)=(\S*) +# \((bool|int|string), init-time\) default = '(.*?)' : [^:]+( : \[.+\])?")


def test_the_version_is_a_banner(answer):
    status, stdout, stderr = answer("--version")
    assert (status, stderr) == (0, "")
    assert stdout.splitlines()[1:3] == [
        "Fast Models [11.30.27 (Nov  1 2025)]",
        "Copyright 2000-2025 ARM Limited.",
    ]


@pytest.mark.parametrize(
    ("choices", "line"),
    [
        ({"version": "11.31.cs1000_a320_2"}, "Fast Models [11.31.cs1000_a320_2]"),
        (
            {"version": "11.4.37", "banner": "ARM V8 Foundation Platformr0p0 (platform build {version})"},
            "ARM V8 Foundation Platformr0p0 (platform build 11.4.37)",
        ),
    ],
)
def test_the_version_has_the_shape_that_the_test_chooses(answer, choices, line):
    assert line in answer("--version", **choices)[1]


def test_every_parameter_is_listed_in_the_models_form(answer):
    status, stdout, _ = answer("--list-params")
    found = [LINE.fullmatch(line) for line in stdout.splitlines()]
    assert status == 0
    assert all(found)
    assert [line[1] for line in found] == sorted(TABLE)


def test_every_published_parameter_exists():
    assert set(TABLE) >= PUBLISHED


def test_a_listing_can_be_given_back_as_a_configuration_file(answer, tmp_path):
    (tmp_path / "all.txt").write_text(answer("-l")[1])
    assert answer("-f", str(tmp_path / "all.txt"), "--version")[0] == 0


def test_a_configuration_file_sets_parameters(answer, tmp_path):
    (tmp_path / "some.txt").write_text("# a comment\nhost.ethosu.num_macs=3  # no such number\n")
    status, _, stderr = answer("-f", str(tmp_path / "some.txt"))
    assert status == 1
    assert "value '3' of parameter 'host.ethosu.num_macs' is out of range" in stderr


def test_instances_are_listed_as_a_tree(answer):
    lines = answer("--list-instances")[1].splitlines()
    assert lines.index("host") < lines.index("  ethosu")
    assert "  host_terminal_0" in lines


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_shows_the_options(answer, option):
    status, stdout, _ = answer(option)
    assert status == 0
    assert {"--list-params", "--timelimit", "--iris-server"} <= set(re.findall(r"--[\w-]+", stdout))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--frobnicate",), "unrecognized arguments: --frobnicate"),
        (("-C", "host.ethosu.num_mac=256"), "parameter 'host.ethosu.num_mac' not found"),
        (("-C", "diagnostics=many"), "value 'many' of parameter 'diagnostics' is not int"),
        (("-C", "diagnostics"), "not of the form INST.PARAM=VALUE"),
        (("-a", "missing.axf"), "cannot open file 'missing.axf'"),
        (("--plugin", "missing.so"), "cannot open file 'missing.so'"),
        (("--data", "missing.bin@0x80000000"), "cannot open file 'missing.bin'"),
        (("--data", "missing.bin"), "not of the form [INST=]FILE@[MEMSPACE:]ADDRESS"),
        (("-C", "se.trustedBootROMloader.fname=missing.bin"), "cannot open file 'missing.bin'"),
        (("-f", "missing.txt"), "cannot read config file 'missing.txt'"),
    ],
)
def test_what_cannot_be_started_is_said_with_status_1(answer, arguments, message):
    status, stdout, stderr = answer(*arguments)
    assert (status, stdout) == (1, "")
    assert message in stderr


def test_a_renamed_parameter_is_unknown_and_the_new_name_listed(answer):
    symptoms = (Symptom.RENAMED_PARAMETER,)
    assert answer("-C", "board.xnvm_size=64", symptoms=symptoms)[0] == 1
    listed = answer("-l", symptoms=symptoms)[1]
    assert "board.xnvm.size=64" in listed
    assert "board.xnvm_size" not in listed


@pytest.mark.parametrize("arguments", [(), ("--version",), ("--list-params",)])
def test_a_model_that_cannot_be_loaded_answers_nothing_but_error_549(answer, arguments):
    status, stdout, stderr = answer(*arguments, symptoms=(Symptom.E549,))
    assert (status, stdout) == (1, "")
    assert stderr.startswith("Error: (E549) uncaught exception: ")


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHOME"])
def test_a_foreign_python_breaks_the_models_own(answer, variable):
    status, _, stderr = answer("--version", symptoms=(Symptom.FOREIGN_PYTHON,), env={variable: "/somewhere"})
    assert status == 1
    assert stderr.startswith("Fatal Python error")


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHOME"])
def test_a_sound_stand_in_does_not_mind_the_users_python(answer, variable):
    assert answer("--version", env={variable: "/somewhere"})[0] == 0


def test_some_models_need_a_python_home(answer):
    needy = Symptom.NEEDS_PYTHONHOME
    assert answer("--version", symptoms=(needy,))[0] == 1
    assert answer("--version", symptoms=(needy,), own_python=True)[0] == 0
    assert answer("--version", symptoms=(needy, Symptom.FOREIGN_PYTHON), own_python=True)[0] == 0
