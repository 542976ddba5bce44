"""Markdown for a pull request: whole tables, every finding, and no markup from foreign names."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from harness.results.finding import Finding
from harness.results.markdown import to_markdown
from harness.results.report import Report

COMMAND = ("harness", "compare", "my model.tflite", "--modes", "all")


def section(text: str, title: str) -> str:
    """What stands under the heading that begins with a title."""
    (found,) = [part for part in re.split(r"^#+ ", text, flags=re.MULTILINE) if part.startswith(title)]
    return found


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_the_verdict_comes_first(sound: Report, mixed: Report) -> None:
    assert to_markdown(sound, COMMAND).startswith("## ✅ pass: outputs and NPU cycles are identical")
    assert to_markdown(mixed, COMMAND).startswith("## ⚠️ error: 1 of 4 models")


def test_every_table_has_as_many_cells_in_each_row_as_in_its_heading(mixed: Report) -> None:
    for part in to_markdown(mixed, COMMAND).split("\n\n"):
        widths = {len(cells(line)) for line in part.splitlines() if line.startswith("|")}
        assert len(widths) <= 1


def test_every_model_is_a_row_of_what_is_identical(mixed: Report) -> None:
    table = section(to_markdown(mixed, COMMAND), "What is identical")
    assert [cells(line)[0] for line in table.splitlines() if line.startswith("| `")] == [
        "`resnet8`",
        "`ds_cnn`",
        "`own`",
        "`broken`",
    ]


def test_a_simulated_cycle_count_is_called_an_estimate(sound: Report) -> None:
    assert "NPU cycles (estimate)" in to_markdown(sound, COMMAND)
    assert "NPU cycles (measured)" in to_markdown(replace(sound, source="hardware"), COMMAND)


def test_a_percentage_is_shown_for_the_driver_alone(sound: Report) -> None:
    text = to_markdown(sound, COMMAND)
    assert "97.8 %" in section(text, "Per inference: driver per-inference → persistent\n")
    assert text.count("%") == len(sound.models)


def test_io_and_temp_lead_with_their_counts_and_say_what_their_time_depends_on(sound: Report) -> None:
    text = to_markdown(sound, COMMAND)
    io = section(text, "Per inference: io").splitlines()
    columns = dict(zip(cells(io[2]), cells(io[4]), strict=True))
    assert list(columns)[-1] == "CPU instructions"
    assert (columns["maps"], columns["unmaps"], columns["TLB operations"]) == ("2 → 0", "2 → 0", "4 → 0")
    assert "allocations" in section(text, "Per inference: temp")
    assert "depends on a host's kernel and heap" in text


def test_the_driver_alone_needs_no_note_on_a_host(make, modes) -> None:
    report = make.report(make.model("ds_cnn", modes=(modes[0], modes[4])))
    assert "host's kernel" not in to_markdown(report, COMMAND)


@pytest.mark.parametrize("check", ["outputs-modes", "npu-cycles", "live-objects", "status", "cpu-direction"])
def test_a_finding_is_listed_with_check_mode_and_index(check: str, make, modes) -> None:
    report = make.report(make.model("ds_cnn", Finding(check, modes[3], 2, "seeded detail")))
    found = section(to_markdown(report, COMMAND), "Findings")
    assert f"* `ds_cnn`: **{check}** in `{modes[3]}`, inference 2: `seeded detail`" in found


def test_a_sound_report_has_no_findings_and_no_gaps(sound: Report) -> None:
    text = to_markdown(sound, COMMAND)
    assert "### Findings" not in text
    assert "### Not compared" not in text


def test_what_was_not_compared_is_listed_with_its_reason(mixed: Report) -> None:
    gaps = section(to_markdown(mixed, COMMAND), "Not compared")
    assert "* `own`: outputs were not held against a reference implementation" in gaps
    assert "* `broken`: nothing was compared (`zig failed with code 1`)" in gaps


def test_the_command_can_be_pasted_into_a_shell(sound: Report) -> None:
    assert "```sh\nharness compare 'my model.tflite' --modes all\n```" in to_markdown(sound, COMMAND)


def test_versions_are_listed(sound: Report) -> None:
    assert "Versions: `harness 0.1.0`, `vela 5.2.0`, `unicorn 2.1.4`" in to_markdown(sound, COMMAND)


@pytest.mark.parametrize("name", ["a|b", "`@user`", "<img src=x>", "two\nlines", "``", "", "[x](http://y)"])
def test_a_foreign_name_stays_one_cell_of_code(name: str, make) -> None:
    text = to_markdown(make.report(make.model(name)), COMMAND)
    row = section(text, "What is identical").splitlines()[4]
    assert len(cells(row)) == 5
    opening, inside, closing = re.fullmatch(r"(`+)(.*[^`]|)(`+)", cells(row)[0]).groups()
    assert opening == closing
    assert opening not in inside.replace("\\|", "|")


def test_backticks_in_the_command_do_not_end_its_block(sound: Report) -> None:
    assert "````sh\nharness '```'\n````" in to_markdown(sound, ("harness", "```"))
