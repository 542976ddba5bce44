"""What ends a run before its time is noticed wherever it is said, and only what does."""

from __future__ import annotations

import pytest

from harness.boards.watch import Watch
from harness.console.journal import Journal
from harness.errors import BoardError


@pytest.fixture
def check(board):
    """A function that has a watch hear pieces of output, and then looks whether the run is over."""

    def hear_and_check(*pieces: tuple[str, bytes]) -> Watch:
        watch = Watch(board)
        journal = Journal(watch.hear)
        for console, data in pieces:
            journal.enter(console, data)
        watch.hear_the_rest()
        watch.checker(journal)()
        return watch

    return hear_and_check


def test_ordinary_output_is_no_end(check):
    check(("normal", b"all is well\n"), ("model", b"Info: started\n"))


def test_a_death_is_named_with_its_console_and_what_was_reached(check):
    with pytest.raises(BoardError, match=r"died after U-Boot: its secure console says '\[ERR\] no image'"):
        check(("normal", b"U-Boot 2025.10\n"), ("secure", b"NOTICE\r\n[ERR] no image\r\n"))


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_death_is_seen_wherever_its_line_is_cut(check, cut):
    line = b"Kernel panic"
    with pytest.raises(BoardError, match="Kernel panic"):
        check(("normal", line[:cut]), ("secure", b"between\n"), ("normal", line[cut:]))


def test_a_line_that_is_known_to_be_harmless_is_no_death(check):
    check(("secure", b"[ERR] mmap_add_region_check() failed. error -22\n"))


def test_a_line_that_is_known_to_be_harmless_may_come_in_pieces(board):
    watch = Watch(board)
    check = watch.checker(Journal())
    watch.hear("secure", b"[ERR]")
    check()
    watch.hear("secure", b" failed, error -22\n")
    watch.hear_the_rest()
    check()


def test_two_consoles_do_not_make_a_death_together(check):
    check(("normal", b"Kernel "), ("secure", b"panic"))


@pytest.mark.parametrize("reason", ["Simulated time", "Cycle limit", "CPU time"])
def test_a_limit_of_the_model_is_named(check, reason):
    said = f"Info: Simulation is stopping. Reason: {reason} has been exceeded.\n".encode()
    with pytest.raises(BoardError, match=f"stopped at a limit of its model: {reason} has been exceeded"):
        check(("model", said))


def test_landmarks_count_on_their_own_console_alone(check):
    assert check(("secure", b"U-Boot 2025.10\n")).phase == ""
