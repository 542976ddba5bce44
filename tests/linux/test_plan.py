"""What lies on the disk, and in which order a runner counts tensors."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.linux.plan import LinuxModel
from harness.models.catalog import ModelKind, ModelSource


def test_a_program_counts_tensors_as_its_method_does(model):
    left, right = model.compiled.inputs
    delegate = replace(
        model.compiled, inputs=(replace(left, name="input_10"), replace(right, name="input_9", size=4))
    )
    named = replace(delegate, outputs=(replace(model.compiled.outputs[0], name="output_0"),))
    found = LinuxModel.of(ModelSource("program", b"file", ModelKind.PTE), named)
    assert [tensor.name for tensor in found.compiled.inputs] == ["input_9", "input_10"]
    assert [len(tensor) for tensor in found.inputs[0].tensors] == [4, 8]


def test_a_tflite_file_keeps_its_order(model):
    assert [tensor.name for tensor in model.compiled.inputs] == ["left", "right"]


def test_names_on_the_disk_are_such_that_fat_keeps_them(trials_of):
    names = trials_of((), ()).plan.files()
    assert len(names) == 2 + 1 + 2 * 2
    assert all(re.fullmatch(r"[A-Z0-9]{1,8}\.[A-Z]{3}", name) for name in names)


def test_an_input_is_the_same_file_for_each_implementation(trials_of, model):
    plan = trials_of((), ()).plan
    first, second = (
        plan.command(each, model, model.inputs[1], 7).split()[1:] for each in plan.implementations
    )
    assert first == second
    paths = first[1].removeprefix("--inputs=").split(",")
    files = plan.files()
    assert tuple(files[path.rsplit("/", 1)[1]] for path in paths) == model.inputs[1].tensors
    assert "--num_executions=7" in first
