"""Wrong calls of random programs over symbolic dimensions, with the fixes on.

    python -m tests.conformance.mismatches                       # 1,000 calls by each pipeline
    python -m tests.conformance.mismatches --seed 3 --count 200

Each has one dimension off (``generators.graphs.mismatch``), and is to be refused with an error
that names the parameter, the dimension and the sizes. Prints how many were, how many failed as is
declared in corpus/known.json, and a line for each other. Ends with 1 where there is one.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence

import msgspec

from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.harness.known.expected_failures import declared
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.conformance import Conformance
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from tests.conformance.decoder import PIPELINES

_LOT = 100
"""Calls between two lines that say how far it is."""


def wrong_calls(pipeline: str, seed: int, count: int) -> list[Case]:
    """Some ``count`` of them, the same for each pipeline but for that."""
    (invalid,) = dynamic.family(dynamic.PIPELINES).invalid
    return [
        msgspec.structs.replace(case, pipeline=pipeline, fixes=True)
        for case in draw(invalid, count, seed)
    ]


def judged(pool: Pool, calls: Sequence[Case]) -> tuple[Counter[str], list[str]]:
    """Counts of ``calls`` by verdict, and a line for each that was not refused as it should be."""
    family = dynamic.family(dynamic.PIPELINES)
    conformance = Conformance(pool, {family.name: family}, declared())
    failures = conformance.failures(calls)
    counts: Counter[str] = Counter()
    for verdicts in conformance.tally.verdicts.values():
        counts.update(verdicts)
    counts.update({f"declared: {n}": v for n, v in conformance.tally.known.expected.items()})
    return counts, failures


def main() -> None:
    """Call them, and print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="calls by each pipeline")
    parser.add_argument("--pipelines", nargs="+", default=PIPELINES, choices=dynamic.PIPELINES)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    wrong = 0
    with Pool(options.workers, Limits()) as pool:
        for pipeline in options.pipelines:
            calls = wrong_calls(pipeline, options.seed, options.count)
            counts: Counter[str] = Counter()
            for start in range(0, len(calls), _LOT):
                verdicts, failures = judged(pool, calls[start : start + _LOT])
                counts += verdicts
                wrong += len(failures)
                done = min(start + _LOT, len(calls))
                print(f"{pipeline}: {done} of {len(calls)}", file=sys.stderr)
                print(*failures, sep="\n", end="\n" if failures else "", flush=True)
            summary = ", ".join(f"{name}: {number}" for name, number in sorted(counts.items()))
            print(f"{pipeline}: {len(calls)} wrong calls; {summary}", flush=True)
            if not counts[Verdict.REJECTED]:
                sys.exit(f"{pipeline}: none was refused: nothing was shown")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
