"""Runners are held against each other under the same conditions only, and their times decide nothing."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from harness.errors import ExitCode, UnlikeResults, UsageError
from harness.results.comparable import Conditions, require_comparable
from harness.results.runner_comparison import ProgramRun, Trial, compare_trials
from harness.results.runner_log import RunnerInference

CONDITIONS = Conditions("fvp", "11.30.27", 256, "5.2.0 --accelerator-config=ethos-u85-256", "digest")
UNLIKE = {
    "source": "simulator",
    "board_version": "11.31.cs1000_a320_2",
    "macs": 512,
    "compiler": "5.1.0 --accelerator-config=ethos-u85-256",
    "model_sha256": "another",
}


def process(count: int, wall_ms: float, cpu_ms: float) -> ProgramRun:
    inferences = tuple(RunnerInference(index, 1234, wall_ms if index else 9.0) for index in range(count))
    return ProgramRun(inferences, (b"output",), cpu_ms)


def trial(name: str, label: str = "A", wall_ms: float = 2.0, each_cpu_ms: float = 1.0) -> Trial:
    several = process(1001, wall_ms, 50.0 + 1000 * each_cpu_ms)
    return Trial(name, label, CONDITIONS, process(1, wall_ms, 50.0), several)


def test_alike_conditions_are_compared():
    require_comparable(CONDITIONS, replace(CONDITIONS), "two runs")


@pytest.mark.parametrize("name", [field.name for field in fields(Conditions)])
def test_each_unlike_condition_is_refused_and_named(name):
    other = replace(CONDITIONS, **{name: UNLIKE[name]})
    with pytest.raises(UnlikeResults, match=name.replace("_", " ")) as caught:
        compare_trials([trial("before"), replace(trial("after"), conditions=other)])
    assert repr(UNLIKE[name]) in str(caught.value)


def test_the_refusal_is_an_input_error():
    assert issubclass(UnlikeResults, UsageError)
    assert UnlikeResults.exit_code == ExitCode.USAGE


def test_all_that_is_unlike_is_named_at_once():
    with pytest.raises(UnlikeResults, match=r"macs 256 and 512; .*model sha256 'digest' and 'another'"):
        require_comparable(CONDITIONS, replace(CONDITIONS, **UNLIKE), "two runs")


def test_times_are_means_over_the_inputs_without_first_inferences():
    trials = [
        trial("before", "A", 2.5, 1.0),
        trial("before", "B", 2.7, 1.2),
        trial("after", "A", 0.9, 0.5),
        trial("after", "B", 0.9, 0.6),
    ]
    (change,) = compare_trials(trials).changes
    assert (change.before, change.after) == ("before", "after")
    assert change.before_wall_ms == pytest.approx(2.6)
    assert change.wall_percent == pytest.approx(100 * (1 - 0.9 / 2.6))
    assert change.cpu_percent == pytest.approx(50.0)


def test_the_cpu_time_of_start_and_loading_cancels():
    assert trial("any", each_cpu_ms=0.25).cpu_ms == pytest.approx(0.25)


def test_a_difference_below_the_clock_is_no_saving():
    few = replace(trial("before"), several=process(3, 2.0, 60.0))
    (change,) = compare_trials(
        [few, replace(few, implementation="after", several=process(3, 2.0, 50.0))]
    ).changes
    assert change.cpu_uncertainty_ms == pytest.approx(10.0)
    assert change.cpu_percent is None


def test_times_decide_nothing():
    assert compare_trials([trial("before", wall_ms=1.0), trial("after", wall_ms=5.0)]).findings == ()


def test_each_input_is_compared_with_the_same_input():
    other = replace(trial("after", "B"), several=replace(trial("after").several, outputs=(b"outbut",)))
    trials = [trial("before", "A"), trial("before", "B"), trial("after", "A"), other]
    comparison = compare_trials(trials)
    assert not comparison.outputs_identical
    assert comparison.npu_cycles_identical
    assert [str(finding) for finding in comparison.findings] == [
        "repeated-outputs after: input B: after 1001 inferences not as after one: "
        "output 0 byte 3 is 0x62 instead of 0x70",
        "implementation-outputs after: input B: not as with before: output 0 byte 3 is 0x62 instead of 0x70",
    ]
