"""A zygote whose workers judge a case by its point alone, without TVM.

Each axis named in the environment's ``TOY_FAULTS`` (``data_layout stride``) is a fault of its own:
what is off the default of one of them is left unlowered. With the fixes on only the first is left.
Arguments stand for the variable, where there are any.
"""

import os
import sys
from collections.abc import Iterator, Sequence

from relaxcheck.generators.core.axes import non_default, point_of
from relaxcheck.generators.core.case import Valid
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import families, family
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.kind import Programs

# The arguments of this program alone: tests import it too, and have others.
GIVEN = sys.argv[2:] if __name__ == "__main__" else []


def judged(case: Case) -> Outcome:
    if not isinstance(case.expect, Valid):
        return Outcome(Verdict.REJECTED)
    member = family(case.family, tuple(PIPELINES))
    faults = GIVEN or os.environ.get("TOY_FAULTS", "data_layout").split()
    off = {name.split(".")[0] for name in non_default(member.axes, point_of(member, case))}
    for fault in faults[:1] if case.fixes else faults:
        if fault in off:
            return Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "toy", f"{fault} is off")
    return Outcome(Verdict.PASS)


class Judged(Programs):
    """Programs that no TVM is asked about."""

    def prepare(self) -> None:
        # Here, that not each worker makes them.
        families(tuple(PIPELINES))

    def execute(
        self, case: Case, progress: object, *, plain: bool = False, tracing: Tracing | None = None
    ) -> Outcome:
        return judged(case)

    def execute_together(self, cases: Sequence[Case], progress: object) -> Iterator[Outcome]:
        return map(judged, cases)


KIND = Judged()

if __name__ == "__main__":
    from relaxcheck.harness import kinds
    from relaxcheck.harness.workers import zygote

    kinds.PATHS = (__name__,)
    del sys.argv[2:]
    zygote.main()
