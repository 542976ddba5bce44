"""A command on a console has an end, a status, and an output without anything that was only shown."""

from __future__ import annotations

import pytest

from harness.boards.linux import LONGEST_LINE
from harness.errors import BoardError, ConsoleError, UsageError

WITHIN = 60.0


def test_a_command_has_its_output_and_its_status(desk):
    assert desk.shell.run("echo some text; exit_with() { return 3; }; exit_with", within=WITHIN).status == 3
    answer = desk.shell.run("echo some text", within=WITHIN)
    assert (answer.status, answer.output.strip()) == (0, "some text")


def test_the_echo_of_a_command_is_neither_its_output_nor_its_end(desk):
    answer = desk.shell.run("sleep 0.2; echo done", within=WITHIN)
    assert answer.output.split() == ["done"]


def test_output_without_a_line_end_keeps_its_status(desk):
    answer = desk.shell.run("printf unfinished; false", within=WITHIN)
    assert (answer.status, answer.output) == (1, "unfinished")


def test_escape_sequences_and_carriage_returns_are_no_output(desk):
    answer = desk.shell.run(r"printf '\033[1;32mgreen\033[0m\r\r\n'", within=WITHIN)
    assert answer.output.strip() == "green"


def test_a_command_that_has_no_end_is_named(desk):
    with pytest.raises(BoardError, match=r"did not show the end of `sleep 30` within 0\.3 s"):
        desk.shell.run("sleep 30", within=0.3)


def test_a_message_within_the_status_is_an_error(desk):
    # What it says last is the mark of the end with the status, and that is where something breaks in.
    message = r"printf '%s[ 1.2] ethosu: message\n'"
    broken = f"""echo() {{ case $1 in He*) {message} "$1";; *) printf '%s\\n' "$1";; esac; }}"""
    desk.program(desk.folder / "broken", broken)
    desk.channel.send(f". {desk.folder}/broken\r")
    with pytest.raises(ConsoleError, match="broke the status of `true`"):
        desk.shell.run("true", within=WITHIN)


def test_a_shell_that_ends_is_an_error(desk):
    with pytest.raises(BoardError, match="closed before it showed the end of `exit 0`"):
        desk.shell.run("exit 0", within=WITHIN)


def test_a_line_that_no_shell_takes_is_refused_before_it_is_typed(desk):
    with pytest.raises(UsageError, match="too long"):
        desk.shell.run("x" * LONGEST_LINE, within=WITHIN)
