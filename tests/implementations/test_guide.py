"""The guide to the interface and the runner that uses it say the same."""

from __future__ import annotations

import re
from pathlib import Path

from harness.build.firmware_tree import FirmwareTree
from harness.build.implementation import GUIDE

FUNCTION = re.compile(r"\bethosu_\w+(?=\()")
TABLE_ROW = re.compile(r"^\| (`ethosu_[^|]*) \| [^|]+ \| [^|]+ \|$", re.MULTILINE)


def test_the_guide_lists_what_the_runner_calls_and_nothing_else():
    runner = (text for name, text in FirmwareTree().sources().items() if name.startswith("runner/"))
    called = {function for text in runner for function in FUNCTION.findall(text)}
    guide = (Path(__file__).parents[2] / GUIDE).read_text()
    listed = {name for row in TABLE_ROW.findall(guide) for name in re.findall(r"`(\w+)`", row)}
    assert listed == called
