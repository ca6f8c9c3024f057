"""The share of true facts about sizes that is proved, by release and strength, beside Z3 and SymPy.

    python -m tests.measure.quality.expressions.completeness  # the page in reports/algebra
    python -m tests.measure.quality.expressions.completeness --each 20  # more constants a fact

Ends with 1 where a release proves less than the one before. A fact that turns out to be false, by
brute force or by Z3, is an error of ours.
"""

import argparse
import json
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import msgspec

from relaxcheck.generators.expressions.facts import Fact, facts
from relaxcheck.generators.expressions.grids import POINTS
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.analyzer.observed import observed
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases import releases
from relaxcheck.oracles.expressions import solver as algebra_solver
from relaxcheck.oracles.expressions import sympy_claims as algebra_sympy
from relaxcheck.reports.expressions.completeness import Proved, lost, page

PAGE = Path(__file__).resolve().parents[4] / "reports" / "algebra" / "COMPLETENESS.md"
SEED = 1


def text(fact: Fact) -> str:
    """The claim, and what is assumed."""
    assumed = " and ".join(map(str, fact.assumed))
    return f"{fact.claim} where {assumed}" if assumed else str(fact.claim)


def is_true(fact: Fact) -> bool:
    """True if ``fact`` holds at all small sizes, at least one of which meets its assumptions."""
    largest = round(POINTS ** (1 / len(fact.variables))) - 1
    small = tuple(msgspec.structs.replace(each, high=largest) for each in fact.variables)
    seen = observed(Problem(small, fact.claim, fact.assumed))
    return seen is not None and seen.points.whole and seen.low == 1


def of_release(name: str, each: int) -> list[tuple[bool | None, ...]]:
    """The answers of TVM ``name``, from a process of its environment."""
    release = releases.release(name, alone=True)
    command = [
        str(release.python),
        "-m",
        "relaxcheck.harness.expressions.analyzer.completeness",
        str(SEED),
        str(each),
    ]
    ran = subprocess.run(
        command,
        cwd=WORKING,
        env=releases.environment(release),
        stdout=subprocess.PIPE,
        check=True,
    )
    return [tuple(answer) for answer in json.loads(ran.stdout)]


def measured(names: list[str], each: int) -> list[Proved]:
    """Every fact, asked of the releases ``names``, oldest first, and of those beside.

    Raises:
        AssertionError: a fact is false.
    """
    asked = {name: of_release(name, each) for name in names}
    rows = []
    for number, fact in enumerate(facts(SEED, each)):
        solved = algebra_solver.decide(fact.claim, fact.variables, fact.assumed)
        if not is_true(fact) or solved is False:
            raise AssertionError(f"no fact: {text(fact)}")
        by_release = {name: answers[number] for name, answers in asked.items()}
        simple = algebra_sympy.proves(fact.claim, fact.variables)
        rows.append(Proved(fact.kind, text(fact), by_release, solved, simple))
    return rows


def _made() -> str:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("z3-solver", "sympy"))
    today = datetime.now(UTC).date()
    command = "python -m tests.measure.quality.expressions.completeness"
    return f"Made by `{command}` on {today}, with {versions}."


def main() -> None:
    """Measure, write the page, and tell what was lost between releases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--tvm", default=releases.ALL)
    parser.add_argument("--to", type=Path, default=PAGE)
    options = parser.parse_args()
    names = releases.named(options.tvm, alone=True)
    if options.tvm == releases.ALL:
        names += tuple(name for name in releases.ALONE if releases.state(name).usable)
    rows = measured(list(names), options.each)
    options.to.parent.mkdir(parents=True, exist_ok=True)
    options.to.write_text(page(rows, _made()))
    print(options.to)
    fewer = lost(rows)
    print("\n".join(fewer) or "no release proves less than the one before")
    sys.exit(bool(fewer))


if __name__ == "__main__":
    main()
