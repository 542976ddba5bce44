"""Before and after: each axis alone, and all of them together."""

from __future__ import annotations

from dataclasses import replace

from harness.results.changes import changes
from harness.results.report import Report
from harness.results.summary import summarise


def test_eight_modes_give_each_axis_alone_and_all_together(sound: Report) -> None:
    steps = changes(summarise(sound))
    assert [step.axes for step in steps] == [("driver",), ("io",), ("temp",), ("driver", "io", "temp")]
    assert {step.before for step in steps} == {sound.models[0].run.cells[0].mode}


def test_two_modes_give_one_step(make, modes) -> None:
    steps = changes(summarise(make.report(make.model("ds_cnn", modes=(modes[0], modes[4])))))
    assert [step.title for step in steps] == ["driver per-inference → persistent"]


def test_one_mode_gives_no_step(make, modes) -> None:
    assert changes(summarise(make.report(make.model("ds_cnn", modes=modes[:1])))) == ()


def test_a_step_names_the_counts_it_changes_and_only_those(sound: Report) -> None:
    driver, io, temp, _ = changes(summarise(sound))
    assert set(driver.counts) == {"networks", "buffers", "copied", "zeroed"}
    assert set(io.counts) == {"maps", "unmaps", "tlb"}
    assert temp.counts == ("allocations",)
    assert temp.effects[0].counts["allocations"] == (2, 0)


def test_a_count_that_one_model_alone_changes_is_named(make) -> None:
    changed = make.model("ds_cnn")
    last = changed.run.cells[1]
    counts = {**last.inferences[-1].stage.counts, "maps": 99}
    inference = replace(last.inferences[-1], stage=replace(last.inferences[-1].stage, counts=counts))
    cells = (
        changed.run.cells[0],
        replace(last, inferences=(*last.inferences[:-1], inference)),
        *changed.run.cells[2:],
    )
    report = make.report(make.model("resnet8"), replace(changed, run=replace(changed.run, cells=cells)))
    temp = changes(summarise(report))[2]
    assert set(temp.counts) == {"maps", "allocations"}


def test_a_model_without_the_mode_has_no_effect(make, modes) -> None:
    report = make.report(make.model("resnet8"), make.model("ds_cnn", modes=modes[:1]), make.failed())
    assert all(
        [effect.model for effect in step.effects] == ["resnet8"] for step in changes(summarise(report))
    )
