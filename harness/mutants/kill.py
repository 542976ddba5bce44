"""Running mutants: build the firmware with a defect, run it, and see which checks object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.build.firmware_tree import FirmwareTree
from harness.errors import BoardError, ConsoleError
from harness.examination import Progress, examine, prepare
from harness.models.catalog import load_model
from harness.mutants.catalogue import Conditions, Mutant
from harness.plan import Load, parse_modes
from harness.processes import program_threads
from harness.results.equivalence import Reference
from harness.results.finding import Finding
from harness.settings import Settings

NO_ORACLE = Reference("not compared", None, "the mutant's conditions leave it out")


@dataclass(frozen=True)
class Kill:
    """What became of one mutant: the checks that objected, by name."""

    mutant: Mutant
    caught_by: tuple[str, ...]

    @property
    def killed(self) -> bool:
        """Whether the check that is meant for this defect objected; that another did is not enough."""
        return self.mutant.killed_by in self.caught_by

    @property
    def others(self) -> tuple[str, ...]:
        """The other checks that objected; without any, the defect would have passed but for its own check."""
        return tuple(check for check in self.caught_by if check != self.mutant.killed_by)


def run_mutants(
    mutants: Sequence[Mutant], settings: Settings, *, jobs: int, progress: Progress
) -> tuple[Kill, ...]:
    """Run every mutant, `jobs` at a time, in the order given."""

    def run(mutant: Mutant) -> Kill:
        progress(mutant.name, "run")
        kill = run_mutant(mutant, settings)
        progress(mutant.name, "done")
        return kill

    with program_threads(jobs) as threads:
        return tuple(threads.map(run, mutants))


def run_mutant(mutant: Mutant, settings: Settings) -> Kill:
    """Build the firmware with the defect and run it under the mutant's conditions.

    Raises BuildError when the edited firmware does not compile, UsageError when an edit no longer fits: a
    mutant that cannot be run has not been killed.
    """
    defective = replace(settings, firmware=FirmwareTree(edits=mutant.firmware_edits))
    try:
        findings = run_under(mutant, defective)
    except (ConsoleError, BoardError) as error:
        return Kill(mutant, (type(error).__name__,))
    return Kill(mutant, tuple(sorted({finding.check for finding in findings})))


def run_under(conditions: Conditions, settings: Settings) -> tuple[Finding, ...]:
    """Run the settings' firmware under a mutant's conditions, and return what is found."""
    settings = replace(
        settings,
        modes=parse_modes(conditions.modes),
        parameters={**settings.parameters, **conditions.parameters},
        load=Load(conditions.inferences, conditions.copies, conditions.scratch),
        npu_checks=conditions.npu_checks,
    )
    model = prepare(load_model(conditions.model), settings)
    if not conditions.oracle:
        model = replace(model, reference=NO_ORACLE)
    ((_, comparison),) = examine((model,), settings, conditions.failures, conditions.injected_statuses)
    return comparison.findings
