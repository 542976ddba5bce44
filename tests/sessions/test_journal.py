"""The journal keeps what each console printed, apart and together."""

from __future__ import annotations

import threading

from harness.console.journal import Journal


def test_each_console_has_its_own_text():
    journal = Journal()
    for console, data in (("normal", b"one "), ("secure", b"other"), ("normal", b"two")):
        journal.enter(console, data)
    assert (journal.of("normal"), journal.of("secure"), journal.of("none")) == (b"one two", b"other", b"")
    assert journal.consoles == ("normal", "secure")


def test_lines_are_merged_in_the_order_in_which_they_end():
    journal = Journal()
    journal.enter("normal", b"begun ")
    journal.enter("secure", b"first\r\n")
    journal.enter("normal", b"second\nand a rest")
    assert [line.split("] ", 1)[1] for line in journal.merged()] == [
        "secure: first",
        "normal: begun second",
        "normal: and a rest",
    ]


def test_the_tail_names_consoles_where_there_are_several():
    journal = Journal()
    journal.enter("normal", b"a\n\nb\nc\n")
    assert journal.tail(2) == ("b", "c")
    journal.enter("secure", b"d")
    assert journal.tail(1) == ("normal: c", "secure: d")


def test_bytes_that_are_no_text_are_shown_as_numbers():
    journal = Journal()
    journal.enter("normal", b"\xff\x00ok")
    assert journal.tail() == ("\\xff\x00ok",)


def test_it_is_saved_as_a_file_for_each_console_and_one_for_all(tmp_path):
    journal = Journal()
    journal.enter("normal", b"one\n")
    journal.enter("secure", b"two\n")
    journal.save(tmp_path / "logs")
    assert (tmp_path / "logs" / "normal.log").read_bytes() == b"one\n"
    assert len((tmp_path / "logs" / "all.log").read_text().splitlines()) == 2


def test_a_listener_hears_every_piece():
    heard = []
    journal = Journal(lambda console, data: heard.append((console, data)))
    journal.writer("normal").write(b"text")
    assert heard == [("normal", b"text")]


def test_threads_lose_nothing():
    journal = Journal()

    def write(console: str) -> None:
        for _ in range(1000):
            journal.enter(console, b"x")

    threads = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "a")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(journal.of("a")), len(journal.of("b"))) == (2000, 1000)
