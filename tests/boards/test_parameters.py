"""Every parameter of a run is held against those that the model has, before it is started."""

from __future__ import annotations

import pytest

from harness.boards.config import load_board
from harness.boards.parameters import ask, check_parameters, parse_list
from harness.cache import CACHE_VARIABLE
from harness.errors import BoardError, UsageError
from harness.testing import MockFvp, Symptom

LISTED = """
# Parameters:
host.ethosu.num_macs=256      # (int, init-time) default = '0x100' : Number of MACs : [0x80..0x800]
board.flash0.fname=           # (string, init-time) default = '' : Image of the flash
diagnostics=0                 # (bool, run-time) default = '0' : Diagnostics
"""


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def check(tmp_path):
    """A function that holds parameters against a stand-in's."""

    def hold(parameters, *symptoms, given=()):
        executable = MockFvp(tmp_path / "fvp", *symptoms).executable
        check_parameters(load_board("corstone-1000-a320"), executable, parameters, given)

    return hold


def test_a_listing_is_read_line_by_line():
    number, text, truth = parse_list(LISTED)
    assert (number.name, number.kind, number.default, number.limits) == (
        "host.ethosu.num_macs",
        "int",
        "0x100",
        "0x80..0x800",
    )
    assert (text.name, text.kind, text.default, text.limits) == ("board.flash0.fname", "string", "", "")
    assert truth.kind == "bool"


def test_the_board_files_parameters_are_those_of_the_stand_in(check):
    check(load_board("corstone-1000-a320").parameters)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "host.ethosu.nummacs",
            256,
            "there is no parameter 'host.ethosu.nummacs'; did you mean 'host.ethosu.num_macs'",
        ),
        ("host.ethosu.num_macs", "many", "host.ethosu.num_macs=many: not an integer"),
        ("host.ethosu.num_macs", 4096, r"host.ethosu.num_macs=4096: allowed are 128\.\.2048"),
        ("disable_visualisation", "maybe", "disable_visualisation=maybe: a bool is one of 0, 1, true, false"),
    ],
)
def test_a_wrong_one_is_named_with_what_is_allowed(check, name, value, said):
    with pytest.raises(UsageError, match=said):
        check({name: value})


def test_all_wrong_ones_are_told_and_where_they_come_from(check):
    with pytest.raises(UsageError, match=r"no parameter 'nix' \(from the board file\)") as caught:
        check({"nix": 1, "diagnostics": "x"}, given={"diagnostics"})
    assert caught.value.evidence == ("diagnostics=x: not an integer (given with -C)",)


def test_a_parameter_that_was_renamed_is_told_with_its_new_name(check):
    with pytest.raises(UsageError, match=r"no parameter 'board.xnvm_size'; did you mean 'board.xnvm.size'"):
        check({"board.xnvm_size": 64}, Symptom.RENAMED_PARAMETER)


def test_a_program_is_asked_once(tmp_path):
    fvp = MockFvp(tmp_path / "fvp")
    config = load_board("corstone-1000-a320")
    first = ask(config, fvp.executable)
    (tmp_path / "fvp" / f"{fvp.executable.name}.json").unlink()  # it could not answer again
    assert ask(config, fvp.executable) == first


def test_a_program_that_does_not_answer_is_named(check):
    with pytest.raises(BoardError, match=r"its program does not start: Error: \(E549\)"):
        check({}, Symptom.E549)
