"""How much of what is true about sizes is proved, by release and strength, beside Z3 and SymPy.

    python -m tests.quality.completeness              # writes reports/algebra/COMPLETENESS.md
    python -m tests.quality.completeness --each 20    # more choices of constants a fact

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

from generators.algebra_case import ExpressionCase
from generators.algebra_facts import Fact, facts
from generators.grids import POINTS
from harness import releases
from harness.algebra.observed import observed
from oracles import algebra_solver, algebra_sympy
from reports.completeness import Proved, lost, page

PAGE = releases.CHECKOUT / "reports" / "algebra" / "COMPLETENESS.md"
SEED = 1


def text(fact: Fact) -> str:
    """The claim, and what is assumed."""
    assumed = " and ".join(map(str, fact.assumed))
    return f"{fact.claim} where {assumed}" if assumed else str(fact.claim)


def is_true(fact: Fact) -> bool:
    """Whether ``fact`` holds at all small sizes, of which at least one meets what it assumes."""
    largest = round(POINTS ** (1 / len(fact.variables))) - 1
    small = tuple(msgspec.structs.replace(each, high=largest) for each in fact.variables)
    seen = observed(ExpressionCase(small, fact.claim, fact.assumed))
    return seen is not None and seen.points.whole and seen.low == 1


def of_release(name: str, each: int) -> list[tuple[bool | None, ...]]:
    """The answers of TVM ``name``, from a process of its environment."""
    release = releases.release(name)
    command = [str(release.python), "-m", "harness.algebra.completeness", str(SEED), str(each)]
    ran = subprocess.run(
        command,
        cwd=releases.CHECKOUT,
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
    found = []
    for number, fact in enumerate(facts(SEED, each)):
        solved = algebra_solver.decide(fact.claim, fact.variables, fact.assumed)
        if not is_true(fact) or solved is False:
            raise AssertionError(f"no fact: {text(fact)}")
        by_release = {name: answers[number] for name, answers in asked.items()}
        simple = algebra_sympy.proves(fact.claim, fact.variables)
        found.append(Proved(fact.kind, text(fact), by_release, solved, simple))
    return found


def _made() -> str:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("z3-solver", "sympy"))
    today = datetime.now(UTC).date()
    return f"Made by `python -m tests.quality.completeness` on {today}, with {versions}."


def main() -> None:
    """Measure, write the page, and tell what was lost between releases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--tvm", default=releases.ALL)
    parser.add_argument("--to", type=Path, default=PAGE)
    given = parser.parse_args()
    found = measured(list(releases.named(given.tvm)), given.each)
    given.to.parent.mkdir(parents=True, exist_ok=True)
    given.to.write_text(page(found, _made()))
    print(given.to)
    fewer = lost(found)
    print("\n".join(fewer) or "no release proves less than the one before")
    sys.exit(bool(fewer))


if __name__ == "__main__":
    main()
