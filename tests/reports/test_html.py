"""The page: well-formed, self-contained, whole, and deaf to what a hostile name says."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from harness.errors import ModelError
from harness.models.compiled import Tensor
from harness.results.finding import Finding
from harness.results.html import to_html
from harness.results.report import Report

COMMAND = ("harness", "compare", "my model.tflite", "--modes", "all")
VOID = {"meta", "wbr"}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Page(HTMLParser):
    """A page taken apart; it fails on a tag that is closed by another."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.cells: dict[str, list[str]] = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub("[ \n]+", " ", " ".join(self.words))

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if name in (attrs.get("class") or "").split()]


def page(report: Report) -> Page:
    return Page(to_html(report, COMMAND))


def test_the_page_is_well_formed_with_and_without_trouble(sound: Report, mixed: Report) -> None:
    for report in (sound, mixed):
        assert page(report).tags[0][0] == "html"


def test_nothing_is_loaded_and_nothing_is_run(mixed: Report) -> None:
    found = page(mixed)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & {tag for tag, _ in found.tags}
    assert not {"src", "href", "onclick", "onload"} & {name for _, attrs in found.tags for name in attrs}
    assert "url(" not in to_html(mixed, COMMAND)


def test_the_verdict_stands_before_everything_else(sound: Report, mixed: Report) -> None:
    assert page(sound).text.index("identical in 2 models") < page(sound).text.index("resnet8")
    assert page(mixed).text.index("1 of 4 models ended in an error") < page(mixed).text.index("resnet8")


def test_the_grid_has_a_cell_for_every_model_and_mode_beside_the_verdicts(sound: Report, modes) -> None:
    assert len(page(sound).of_class("cell")) == len(sound.models) * (len(modes) + 1)


def test_a_cell_says_in_words_what_its_colour_says(mixed: Report) -> None:
    text = page(mixed).text
    for words in ("✓ pass", "✕ fail (1)", "! error", "· not compared"):
        assert words in text


@pytest.mark.parametrize("check", ["outputs-modes", "npu-cycles", "live-objects", "status", "cpu-direction"])
def test_a_finding_is_shown_with_check_mode_index_and_detail(check: str, make, modes) -> None:
    found = page(make.report(make.model("ds_cnn", Finding(check, modes[3], 2, "seeded detail"))))
    text = found.text
    assert check in text
    assert ", ".join(str(modes[3]).split(",")) in text
    assert "inference 2" in text
    assert "seeded detail" in text


def test_the_first_difference_is_shown_with_its_region(mixed: Report) -> None:
    text = page(mixed).text
    assert "2 of 24 elements differ, the first at [1, 1, 1], byte 17" in text
    assert "within [1, 1…2, 1…2]" in text
    assert len(page(mixed).of_class("other")) == 4


def test_an_error_is_shown_with_evidence_and_hint(mixed: Report) -> None:
    text = page(mixed).text
    for words in ("BuildError", "zig failed with code 1", "plan.c:3: error", "run `harness doctor`"):
        assert words in text


def test_every_mode_has_a_bar_with_its_phases_and_total(sound: Report, modes) -> None:
    found = page(sound)
    labels = [attrs.get("aria-label") or "" for tag, attrs in found.tags if tag == "svg"]
    for mode in modes:
        assert sum(label.startswith(f"{mode}: ") for label in labels) == len(sound.models)
    assert "create: 31\u202f000 instructions" in found.text


def test_the_bars_say_what_they_leave_out(sound: Report) -> None:
    assert "Left out of the bars: wait, sram clear." in page(sound).text


def test_simulated_cycles_are_called_an_estimate(sound: Report) -> None:
    assert "cycles (estimate)" in page(sound).text


def test_counts_of_every_axis_are_shown(sound: Report) -> None:
    text = page(sound).text
    for name in ("maps", "unmaps", "TLB operations", "allocations", "bytes copied", "DMA pool at its peak"):
        assert name in text


def test_a_count_nobody_foresaw_is_shown_under_its_own_name(make) -> None:
    model = make.model("ds_cnn")
    stage = replace(model.run.cells[0].init, counts={"page_faults": 7})
    cells = (replace(model.run.cells[0], init=stage), *model.run.cells[1:])
    text = page(make.report(replace(model, run=replace(model.run, cells=cells)))).text
    assert "page faults" in text


def test_the_command_versions_and_digests_are_shown(sound: Report) -> None:
    text = page(sound).text
    for words in ("harness compare 'my model.tflite' --modes all", "2.1.4", "0123456789abcdef"):
        assert words in text


def test_a_report_in_which_no_model_was_run_is_a_page_all_the_same(make) -> None:
    assert "1 of 1 model ended in an error" in page(make.report(make.failed())).text


def test_hostile_names_are_text(make, modes) -> None:
    hostile = "</td><script>alert('x')</script>\"&"
    model = make.model(hostile, Finding("outputs-modes", modes[1], 0, hostile))
    tensor = Tensor(
        hostile, (24,), "int8", 4, model.compiled.outputs[0].offset, model.compiled.outputs[0].size
    )
    spoilt = make.spoilt(hostile)
    spoilt = replace(spoilt, compiled=replace(spoilt.compiled, outputs=(tensor,)))
    error = ModelError(hostile, hint=hostile, evidence=(hostile,))
    report = make.report(model, spoilt, replace(make.failed(), name=hostile, error=error))
    found = Page(to_html(replace(report, versions={hostile: hostile}), (hostile,)))
    assert "script" not in {tag for tag, _ in found.tags}
    assert found.text.count("alert('x')") > 10


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_draws_the_page_in_light_and_in_dark(mixed: Report, tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text(to_html(mixed, COMMAND), encoding="utf-8")
    dark, light = (screenshot(tmp_path, scheme) for scheme in (0, 1))
    assert min(len(dark), len(light)) > 20_000  # a blank page of this size is a few kilobytes
    assert dark != light


def screenshot(folder: Path, scheme: int) -> bytes:
    """A picture of the page; `scheme` is Chromium's number for a preferred colour scheme, 0 for dark."""
    picture = folder / f"{scheme}.png"
    subprocess.run(
        [
            str(CHROMIUM),
            *(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
            ),
            f"--user-data-dir={folder / f'profile{scheme}'}",
            f"--blink-settings=preferredColorScheme={scheme}",
            "--window-size=1000,1400",
            f"--screenshot={picture}",
            (folder / "report.html").as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return picture.read_bytes()
