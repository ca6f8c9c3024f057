"""TVM's claims about drawn expressions, checked by Z3 over ranges far wider than the drawn ones.

    python -m tests.measure.quality.expressions.unbounded                    # a minute
    python -m tests.measure.quality.expressions.unbounded --seed 2 --count 30000

Rewrites, bounds, moduli and what is proved, for what is right at all small values, which is all
that ``harness.expressions.analyzer.check`` sees. Of int32 and int64 only. Prints each wrong answer;
of those whose expression fails in the ranges drawn as well, it says so. Ends with 1 where there is
another.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from relaxcheck.generators.expressions.language import BOOL
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.analyzer import check, unbounded
from relaxcheck.harness.expressions.analyzer.observed import observed
from relaxcheck.harness.expressions.analyzer.session import Subject
from relaxcheck.harness.expressions.fault import Fault
from relaxcheck.harness.outcomes.blame import is_of_tvm
from relaxcheck.oracles.expressions.solver import NotModelled
from tests.problems import problems

_SIGNED = ("int32", "int64", BOOL)


def drawn(seed: int, count: int) -> Iterator[Problem]:
    """``count`` cases over signed variables; whether Z3 can be asked about them is not told."""
    some = problems(seed, 8 * count)
    return islice(
        (problem for problem in some if all(v.dtype in _SIGNED for v in problem.variables)), count
    )


def searched(
    cases: Iterable[Problem], subject: Subject | None = None
) -> tuple[Counter[str], list[tuple[Problem, Fault]]]:
    """Counts of ``cases`` (checked, claiming nothing, …), and the wrong answers."""
    counts: Counter[str] = Counter()
    wrong = []
    for case in cases:
        if observed(case) is None:
            counts["claims nothing"] += 1
            continue
        try:
            faults = unbounded.check(case, subject)
        except NotModelled:
            counts["not modelled"] += 1
            continue
        except Exception as error:
            if not is_of_tvm(error):
                raise
            counts["TVM raises"] += 1
            continue
        counts["checked"] += 1
        wrong += [(case, fault) for fault in faults]
    return counts, wrong


def main() -> None:
    """Search, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=20_000)
    options = parser.parse_args()
    counts, wrong = searched(drawn(options.seed, options.count))
    only_far_away = 0
    for case, fault in wrong:
        seen = "fails as drawn too" if check(case) else "only far away"
        only_far_away += seen == "only far away"
        print(f"{fault.check}, {seen}: {case}: {fault.message} at {dict(fault.witness)}")
    print(", ".join(f"{name}: {number}" for name, number in sorted(counts.items())))
    sys.exit(bool(only_far_away))


if __name__ == "__main__":
    main()
