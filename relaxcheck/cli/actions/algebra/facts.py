"""``relaxcheck algebra facts``: asks releases about documented facts of shape arithmetic."""

import sys
from collections.abc import Sequence
from pathlib import Path

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.expressions import shape_facts as asking
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases.releases import ALONE, by_age, known, release, state
from relaxcheck.reports.expressions import facts as algebra_facts

PAGE = CHECKOUT / "docs" / "algebra.md" if CHECKOUT else None


def facts(tvm: Sequence[str] | None, out: Path | None) -> None:
    """Ask releases about the facts, and write the page, or a part of one.

    Raises:
        CaseError: a release cannot be asked, or the page cannot be written.
    """
    facts_read = asking.read()
    every = (*known(), *ALONE)
    names = by_age(tvm or [name for name in every if state(name).usable])
    answers = [asking.answered(release(name, alone=True)) for name in names]
    page = algebra_facts.markdown(facts_read, answers, asking.by_sympy(facts_read))
    if out is None and not tvm and len(names) == len(every):
        out = PAGE
    if out is None or str(out) == "-":
        sys.stdout.write(page)
        return
    try:
        out.write_text(algebra_facts.within(out.read_text() if out.exists() else "", page))
    except OSError as error:
        raise CaseError(f"cannot write to {out}: {error.strerror}") from error
