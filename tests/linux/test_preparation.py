"""What a board must have before a runner is started: the device, and our disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.boards.linux import log_in, prepare_shell
from harness.errors import BoardError


@pytest.fixture
def prepare(desk):
    (desk.folder / "disk" / "P0.ELF").touch()
    return lambda: prepare_shell(desk.shell, desk.config, "P0.ELF")


def test_a_board_with_all_of_it_is_taken(prepare):
    prepare()


def test_only_the_upstream_driver_is_refused_with_that_reason(desk, prepare):
    Path(desk.linux.device).rename(desk.linux.other_device)
    with pytest.raises(BoardError, match="driver of upstream Linux") as caught:
        prepare()
    assert "arm-npu-ethosu" in caught.value.hint


def test_both_drivers_are_taken(desk, prepare):
    Path(desk.linux.other_device).touch()
    prepare()


def test_no_driver_at_all_is_named(desk, prepare):
    Path(desk.linux.device).unlink()
    desk.program(desk.folder / "bin" / "dmesg", "[ $# = 2 ] || echo '[ 1.2] ethosu: probe failed with -110'")
    with pytest.raises(BoardError, match=r"has no .*/ethosu0$") as caught:
        prepare()
    assert "probe failed with -110" in caught.value.evidence[-1]


def test_a_disk_that_cannot_be_mounted_is_named_with_what_mount_said(desk, prepare):
    desk.program(desk.folder / "bin" / "mount", "echo mount: no such device; exit 32")
    with pytest.raises(BoardError, match="could not be mounted") as caught:
        prepare()
    assert "mount: no such device" in caught.value.evidence


def test_another_disk_is_told_from_ours(desk, prepare):
    desk.program(desk.folder / "bin" / "mount", f"touch {desk.linux.mount_point}/EFI")
    with pytest.raises(BoardError, match="is another disk than the harness's"):
        prepare()


def test_messages_that_cannot_be_kept_off_the_console_are_named(desk, prepare):
    desk.program(desk.folder / "bin" / "dmesg", "exit 1")
    with pytest.raises(BoardError, match="`dmesg -n 1` failed"):
        prepare()


def stand_at_login(desk, answer: str) -> None:
    """Have the console show a login, which answers to a name with this."""
    stand_in = desk.folder / "bin" / "stand-in"
    desk.program(stand_in, f"printf 'board login: '; read user; printf \"{answer}\"; exec sleep 30")
    desk.channel.send("stand-in\r")


def test_a_login_leads_to_a_shell(desk):
    stand_in = desk.folder / "bin" / "stand-in"
    desk.program(stand_in, "printf 'board login: '; read user; echo \"hello $user\"; PS1='~# ' exec sh -i")
    desk.channel.send("stand-in\r")
    shell = log_in(desk.channel, desk.config)
    assert shell.run("echo $((6 * 7))", within=60).output.strip() == "42"


@pytest.mark.parametrize("answer", ["Password: ", "Login incorrect"])
def test_a_login_that_wants_a_password_is_named(desk, answer):
    stand_at_login(desk, answer)
    with pytest.raises(BoardError, match="root cannot log in without a password"):
        log_in(desk.channel, desk.config)


def test_a_login_that_shows_no_prompt_is_named(desk):
    stand_at_login(desk, "no shell here")
    timeouts = desk.config.timeouts.model_copy(update={"start_seconds": 0.5})
    with pytest.raises(BoardError, match=r"did not show a shell's prompt within 0\.5 s") as caught:
        log_in(desk.channel, desk.config.model_copy(update={"timeouts": timeouts}))
    assert "no shell here" in caught.value.evidence[-1]
