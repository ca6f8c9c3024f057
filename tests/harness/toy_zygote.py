"""A zygote whose workers judge a case by its point alone, without TVM.

Each axis named in the environment's ``TOY_FAULTS`` (``data_layout stride``) is a fault of its own:
what is off the default of one of them is left unlowered. With the fixes on only the first is left.
Arguments stand for the variable, where there are any.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType

from generators.axes import non_default
from generators.families import family
from generators.program import Case, Valid
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES

# The arguments of this program alone: tests import it too, and have others.
GIVEN = sys.argv[2:] if __name__ == "__main__" else []


def judged(case: Case, progress: object, *, plain: bool) -> Outcome:
    if not isinstance(case.expect, Valid):
        return Outcome(Verdict.REJECTED)
    member = family(case.family, tuple(PIPELINES))
    faults = GIVEN or os.environ.get("TOY_FAULTS", "data_layout").split()
    off = {name.split(".")[0] for name in non_default(member.axes, member.point(case))}
    for fault in faults[:1] if case.fixes else faults:
        if fault in off:
            return Outcome(Verdict.OPAQUE_CRASH, "LegalizeOps", "toy", f"{fault} is off")
    return Outcome(Verdict.PASS)


def judged_together(cases: Sequence[Case], progress: object) -> Iterator[Outcome]:
    for case in cases:
        yield judged(case, progress, plain=False)


if __name__ == "__main__":
    conduct = ModuleType("harness.conduct")
    conduct.conduct = judged  # type: ignore[attr-defined]
    conduct.conduct_together = judged_together  # type: ignore[attr-defined]
    sys.modules["harness.conduct"] = conduct
    from harness import zygote

    del sys.argv[2:]
    zygote.main()
