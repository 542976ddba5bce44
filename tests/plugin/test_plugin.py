"""The pytest plugin, as a user's own tests meet it."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_the_fixture_compares_a_model_in_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_kept_objects(harness_compare):
            outcome = harness_compare("ds_cnn")
            assert outcome.identical
            assert outcome.cpu_saved_percent >= 50

        def test_one_run(harness_run, harness_board):
            record = harness_run("ds_cnn", mode="per-inference")
            assert record.cells[0].inferences[0].status == "ok"
            assert harness_board.macs == 512
        """
    )
    pytester.makeini("[pytest]\nharness_macs = 512\n")
    pytester.runpytest_subprocess("-p", "no:xdist").assert_outcomes(passed=2)


def test_a_wrong_option_fails_with_its_one_line(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(harness_compare): harness_compare('ds_cnn')")
    result = pytester.runpytest_subprocess("--harness-macs", "300", "-p", "no:xdist")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*there is no Ethos-U85 with 300 MACs; allowed: 128, 256*"])


def test_a_flag_wins_over_the_ini_key(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_x(harness_board): assert harness_board.macs == 128")
    pytester.makeini("[pytest]\nharness_macs = 512\n")
    pytester.runpytest_subprocess("--harness-macs", "128", "-p", "no:xdist").assert_outcomes(passed=1)


def test_nothing_heavy_is_imported_until_a_fixture_is_used() -> None:
    script = (
        "import sys, harness.plugin\n"
        "heavy = {'numpy', 'unicorn', 'pydantic', 'rich', 'jinja2', 'pexpect', 'flatbuffers', 'tflite'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
