"""One trial on the board: a runner is started, its lines are read, and every byte of its outputs."""

from __future__ import annotations

import hashlib
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from harness.boards.linux import Answer, Shell
from harness.errors import BoardError, ConsoleError, FirmwareFault
from harness.linux.implementation import RunnerImplementation
from harness.linux.plan import LinuxModel, LinuxPlan
from harness.models.compiled import Tensor
from harness.models.inputs import InputSet
from harness.results.comparable import Conditions
from harness.results.runner_comparison import ProgramRun, Trial
from harness.results.runner_log import printed_outputs, read_runner_log

_SIGNALLED = 128  #: a shell adds it to the number of the signal that ended a program
_HINTS: Mapping[int, str] = {
    126: "the image cannot execute it: is it built for its Linux?",
    127: "its interpreter or a library is not on the image: link it statically",
    _SIGNALLED + signal.SIGKILL: "maybe the board ran out of memory",
}
_ENDINGS: Mapping[int, str] = {
    **{_SIGNALLED + each: f"was ended by {each.name}" for each in signal.Signals},
    _SIGNALLED + signal.SIGSEGV: "had a segmentation fault",
}
_TIME = re.compile(r"(?P<minutes>\d+)m\s*(?P<seconds>\d+(?:\.\d+)?)s")


@dataclass(frozen=True)
class Trials:
    """Makes trials of a plan on a shell; `within` are the seconds that each start of a runner may take."""

    shell: Shell
    plan: LinuxPlan
    within: float

    def run(
        self,
        implementation: RunnerImplementation,
        model: LinuxModel,
        inputs: InputSet,
        conditions: Conditions,
    ) -> Trial:
        """Have an implementation run an input set once, and then several times in one process.

        Raises FirmwareFault for a runner that fails, ConsoleError for one that does not say all that it must,
        and BoardError when the board dies, or the runner takes too long.
        """
        single, several = (
            self._run_program(implementation, model, inputs, count) for count in (1, self.plan.inferences)
        )
        return Trial(implementation.name, inputs.label, conditions, single, several)

    def _run_program(
        self, implementation: RunnerImplementation, model: LinuxModel, inputs: InputSet, count: int
    ) -> ProgramRun:
        run = partial(self.shell.run, within=self.within)
        tensors = model.compiled.outputs
        if (removed := run(f"rm -f {self.plan.output_base}-*")).status:
            raise BoardError(f"{self.plan.output_base}-* cannot be removed", evidence=removed.tail())
        before = children_cpu_ms(run("times").output)
        answer = run(self.plan.command(implementation, model, inputs, count))
        cpu_ms = children_cpu_ms(run("times").output) - before
        check_status(f"{model.compiled.name} with {implementation.name}, input {inputs.label}", answer)
        if implementation.writes_files:
            outputs = tuple(self._written_output(number, tensor) for number, tensor in enumerate(tensors))
        else:
            outputs = printed_outputs(answer.output, tensors)
        return ProgramRun(read_runner_log(answer.output, count), outputs, cpu_ms)

    def _written_output(self, number: int, tensor: Tensor) -> bytes:
        path = f"{self.plan.output_base}-{number}.bin"
        data = read_file(self.shell, path, self.within)
        if len(data) != tensor.size:
            raise ConsoleError(
                f"the runner wrote {len(data)} bytes of output {number} ({tensor.name}), "
                f"and the model has {tensor.size}"
            )
        return data


def check_status(what: str, answer: Answer) -> None:
    """Raise FirmwareFault for a program that did not end with status 0; `what` says which."""
    if answer.status == 0:
        return
    how = _ENDINGS.get(answer.status, f"ended with status {answer.status}")
    raise FirmwareFault(
        f"the runner {how}: {what}",
        evidence=answer.tail(),
        hint=_HINTS.get(answer.status, "the lines above are the last that it printed"),
    )


def read_file(shell: Shell, path: str, within: float) -> bytes:
    """A file of the board, read over its console as hexadecimal, and held against its digest there.

    Raises ConsoleError when it does not exist, or did not come as it is.
    """
    dump, digest = (
        shell.run(command, within=within) for command in (f"od -An -v -tx1 {path}", f"md5sum {path}")
    )
    if dump.status or digest.status:
        raise ConsoleError(
            f"the runner did not write {path}, or the board cannot read it",
            evidence=(*dump.tail(2), *digest.tail(2)),
            hint="runners write NAME-0.bin, NAME-1.bin, ... for --output_file NAME",
        )
    words = dump.output.split()
    if not all(re.fullmatch("[0-9a-f]{2}", word) for word in words):
        raise ConsoleError(f"the console broke the dump of {path}", evidence=dump.tail())
    data = bytes(int(word, 16) for word in words)
    if hashlib.md5(data, usedforsecurity=False).hexdigest() not in digest.output.split():
        raise ConsoleError(f"{path} did not come over the console as it is: its digest is another")
    return data


def children_cpu_ms(text: str) -> float:
    """User and system time of all that a shell has started, in what POSIX's `times` prints.

    Its second line has both, as in `0m0.12s 0m0.34s`. Raises ConsoleError when it is not there.
    """
    times = [60.0 * int(time["minutes"]) + float(time["seconds"]) for time in _TIME.finditer(text)]
    if len(times) != 4:
        raise ConsoleError(f"the shell's `times` printed {text.strip()!r}, and no four times")
    return 1000.0 * sum(times[2:])
