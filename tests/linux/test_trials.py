"""A runner's trial: its lines, every byte of its outputs, and each way in which it may fail."""

from __future__ import annotations

import numpy as np
import pytest

from harness.errors import BoardError, ConsoleError, FirmwareFault
from harness.linux.trial import children_cpu_ms, read_file
from harness.results.comparable import Conditions
from harness.results.runner_comparison import compare_trials

TO_FILE = "--output_file={output}"
CONDITIONS = Conditions("fvp", "11.30.27", 256, "5.2.0", "digest")


@pytest.fixture
def run(trials_of):
    """A function that runs one trial for each runner with these arguments, on input set A."""

    def run_all(*arguments, **choices):
        trials = trials_of(*arguments, **choices)
        (model,) = trials.plan.models
        return [
            trials.run(implementation, model, model.inputs[0], CONDITIONS)
            for implementation in trials.plan.implementations
        ]

    return run_all


def expected(model) -> bytes:
    left, right = (np.frombuffer(tensor, np.uint8) for tensor in model.inputs[0].tensors)
    return (left + right).tobytes()


@pytest.mark.parametrize("outputs", [(TO_FILE,), ()], ids=["written", "printed"])
def test_every_byte_and_every_line_is_read(run, model, outputs):
    (trial,) = run(outputs)
    assert trial.single.outputs == trial.several.outputs == (expected(model),)
    assert [one.npu_cycles for one in trial.several.inferences] == [1234] * 3
    assert [one.wall_ms for one in trial.several.inferences] == [2.6] * 3
    assert len(trial.single.inferences) == 1
    assert trial.several.cpu_ms >= 0


def test_kernel_messages_between_the_lines_change_nothing(run):
    (quiet,) = run((TO_FILE,))
    (chatty,) = run((TO_FILE, "--symptom=kernel-message"))
    assert (chatty.several.inferences, chatty.several.outputs) == (
        quiet.several.inferences,
        quiet.several.outputs,
    )


@pytest.mark.parametrize(
    ("symptom", "check"),
    [
        ("other-bytes", "implementation-outputs"),
        ("other-cycles", "implementation-cycles"),
        ("stale", "repeated-outputs"),
        ("drift", "repeated-cycles"),
    ],
)
def test_each_way_to_differ_has_its_finding(run, symptom, check):
    comparison = compare_trials(run((TO_FILE,), (TO_FILE, f"--symptom={symptom}")))
    assert check in {finding.check for finding in comparison.findings}
    assert {finding.implementation for finding in comparison.findings} == {"runner1"}


def test_runners_that_do_the_same_have_no_finding(run):
    assert compare_trials(run((TO_FILE,), ())).findings == ()


@pytest.mark.parametrize(
    ("symptom", "error", "said"),
    [
        ("fails", FirmwareFault, "ended with status 1: addition with runner0, input A"),
        ("segfault", FirmwareFault, "had a segmentation fault"),
        ("no-file", ConsoleError, r"did not write .*-0\.bin"),
        ("short-file", ConsoleError, "wrote 7 bytes of output 0 .*, and the model has 8"),
        ("lost-line", ConsoleError, "logged 0 of 1 inferences"),
        ("no-cycles", ConsoleError, "took 0 NPU cycles"),
    ],
)
def test_a_run_without_all_that_it_must_say_is_no_pass(run, symptom, error, said):
    with pytest.raises(error, match=said):
        run((TO_FILE, f"--symptom={symptom}"))


def test_a_runner_that_fails_shows_its_last_lines(run):
    with pytest.raises(FirmwareFault) as caught:
        run((TO_FILE, "--symptom=fails"))
    assert "Failed to parse model file" in caught.value.evidence[-1]


def test_a_runner_that_does_not_end_is_named(run):
    with pytest.raises(BoardError, match=r"did not show the end of `.*P0\.ELF.*` within 1 s"):
        run((TO_FILE, "--symptom=hang"), within=1)


def test_a_program_that_the_image_cannot_start_says_why(desk, trials_of, model):
    trials = trials_of(())
    desk.program(desk.folder / "mnt" / "P0.ELF", "exit 127")
    with pytest.raises(FirmwareFault) as caught:
        trials.run(trials.plan.implementations[0], model, model.inputs[0], CONDITIONS)
    assert "link it statically" in caught.value.hint


def test_outputs_of_an_earlier_run_are_never_read(desk, trials_of, model):
    trials = trials_of((TO_FILE, "--symptom=no-file"))
    (desk.folder / "tmp" / "harness-output-0.bin").write_bytes(expected(model))
    with pytest.raises(ConsoleError, match="did not write"):
        trials.run(trials.plan.implementations[0], model, model.inputs[0], CONDITIONS)


def test_all_values_of_a_byte_come_over_the_console(desk):
    data = bytes(range(256)) * 5
    (desk.folder / "tmp" / "all").write_bytes(data)
    assert read_file(desk.shell, str(desk.folder / "tmp" / "all"), 60) == data


@pytest.mark.parametrize(
    ("broken", "said"),
    [("echo ' 00 01 03'", "digest is another"), ("echo ' 00 0[ 1.2] 1'", "broke the dump")],
)
def test_a_file_that_did_not_come_as_it_is_is_refused(desk, broken, said):
    (desk.folder / "tmp" / "file").write_bytes(bytes([0, 1, 2]))
    desk.program(desk.folder / "bin" / "od", broken)
    with pytest.raises(ConsoleError, match=said):
        read_file(desk.shell, str(desk.folder / "tmp" / "file"), 60)


@pytest.mark.parametrize(
    "text",
    [
        "0m0.01s 0m0.02s\n0m1.25s 1m0.50s\n",
        "0m0.010s 0m0.020s\n0m1.250s 1m0.500s\n",
        "0m0.010000s 0m0.020000s\n0m1.250000s 1m0.500000s\n",
    ],
    ids=["busybox", "bash", "dash"],
)
def test_the_time_of_what_a_shell_has_started_is_read(text):
    assert children_cpu_ms(text) == pytest.approx(61750.0)


def test_a_shell_without_times_is_named():
    with pytest.raises(ConsoleError, match="no four times"):
        children_cpu_ms("sh: times: not found\n")
