"""Counts by pass, of the cases that campaigns have run: changed programs, and verdicts."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.calls import judged
from relaxcheck.generators.passes.family import ORDERS, PREFIX
from relaxcheck.harness.compiling.passes.details import ALIKE, CHANGED, UNCOMPILED
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.outcomes.severity import Severity, severity_of


@dataclass(slots=True)
class Tally:
    """The cases of one pass alone, or of orders of passes.

    It ``changed`` so many of the ``programs``. So many of them were ``judged``: compiled, run and
    compared; of the others the passes were applied and checked alone. Failures are counted by
    severity, but for those ``alike`` of the same programs without any pass, and for ``aside``:
    compiled cases without a verdict on TVM.
    """

    name: str
    programs: int = 0
    changed: int = 0
    judged: int = 0
    alike: int = 0
    aside: int = 0
    failures: Counter[Severity] = field(default_factory=Counter)

    @property
    def failed(self) -> int:
        """The number of failures that the programs do not have without the pass."""
        return self.failures.total()

    def count(self, case: AnyCase, outcome: Outcome) -> None:
        """Count ``case``, which ended with ``outcome``."""
        self.programs += 1
        self.changed += bool(outcome.details.get(CHANGED))
        whole = UNCOMPILED not in outcome.details
        self.judged += whole
        severity = severity_of(outcome.verdict, case.expect)
        if severity is None:
            self.aside += whole and not outcome.verdict.is_right
        elif ALIKE in outcome.details:
            self.alike += 1
        else:
            self.failures[severity] += 1


def tallies(
    directories: Sequence[Path], progress: Callable[[int, int], None] = lambda done, of: None
) -> dict[str, dict[str, Tally]]:
    """By release, by pass, the cases of the campaigns in ``directories``; orders come last.

    ``progress`` is called with the cases that were read, and how many there are.

    Raises:
        JournalError: there is no campaign, or it cannot be read.
    """
    counted: dict[str, dict[str, Tally]] = {}
    for directory in directories:
        with Journal(directory, Mode.READ) as journal:
            own = journal.description.get("release", "")
            total = sum(journal.counts(DRAWN).values())
            for done, recorded in enumerate(journal.cases(DRAWN), 1):
                progress(done, total)
                case, outcome = recorded.case, recorded.outcome
                if outcome is None or not isinstance(case, Case) or not judged(case):
                    continue
                for release, each in _by_release(outcome, own):
                    rows = counted.setdefault(release, {})
                    name = case.family.removeprefix(PREFIX)
                    rows.setdefault(name, Tally(name)).count(case, each)
    return {
        release: {name: rows.get(name, Tally(name)) for name in (*PASSES, ORDERS)}
        for release, rows in sorted(counted.items())
    }


def _by_release(outcome: Outcome, own: str) -> list[tuple[str, Outcome]]:
    """``outcome`` and those elsewhere, each with the release, as ``0.27``."""
    return [(outcome.release or own, outcome), *outcome.elsewhere.items()]
