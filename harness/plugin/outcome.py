"""What a test sees of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from harness.results.equivalence import Comparison
from harness.results.finding import Finding
from harness.results.report import ModelReport


@dataclass(frozen=True)
class ModelOutcome:
    """The comparison of one model. Its text says what was found, so a failing `assert` explains itself."""

    model: str
    comparison: Comparison

    @classmethod
    def of(cls, report: ModelReport) -> ModelOutcome:
        """The outcome of a report that has one; raises the error of a report that has none."""
        if report.error is not None:
            raise report.error
        assert report.comparison is not None, "a report without an error has a comparison"  # noqa: S101 - narrowing
        return cls(report.name, report.comparison)

    @property
    def identical(self) -> bool:
        """Whether outputs and NPU cycles are equal in all modes, and nothing else was found."""
        return self.comparison.passed

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, by check."""
        return self.comparison.findings

    @property
    def cpu_saved_percent(self) -> float | None:
        """The saving of persistent driver objects; None unless both lifetimes were run."""
        return self.comparison.cpu_saved_percent

    def __repr__(self) -> str:
        found = "; ".join(map(str, self.findings)) or "identical"
        return f"<{self.model}: {found}>"
