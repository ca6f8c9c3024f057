"""How many expressions the analyzer is checked with in a second of one core.

    python -m tests.bench.algebra              # a table
    python -m tests.bench.algebra --count 20000

``naive`` is the loop that one would write first: an analyzer for each expression, and both sides
computed at one point after the other. ``floor`` is what TVM takes by itself. The rest, times the
processor takes over one count of expressions, is ours.
"""

import argparse
import time
from collections.abc import Callable, Iterable

from generators.algebra import block
from generators.algebra_case import ExpressionCase
from generators.grids import grid
from generators.scalar_values import NoValue, value_at
from harness.algebra import check, checks
from harness.algebra.observed import observed
from harness.algebra.session import REWRITES, Session, forget, shared_session

SIMPLIFY, FULL = 30_000, 2_500
"""What is wanted: checks that a rewrite kept the value, and expressions checked in every way, a
second."""


def plain(count: int) -> list[ExpressionCase]:
    """Drawn cases of signed integers without conditions, that TVM has an answer for."""
    cases: list[ExpressionCase] = []
    for case in block(1, 8 * count):
        signed = all(each.dtype in ("int32", "int64") for each in case.variables)
        if not signed or case.constraints or observed(case) is None:
            continue
        if _has_answers(case):
            cases.append(case)
        if len(cases) == count:
            break
    return cases


def _has_answers(case: ExpressionCase) -> bool:
    session = shared_session(case.variables, case.told)
    try:
        for how in REWRITES:
            session.rewritten(how, session.emit(case.expression))
    except Exception:  # Whatever TVM raises: what takes no answer has no place in a measurement.
        forget(case.variables, case.told)
        return False
    return True


def drawing(cases: Iterable[ExpressionCase]) -> int:
    """Drawing alone."""
    count = len(list(cases))
    return sum(1 for _ in block(1, count))


def floor(cases: Iterable[ExpressionCase]) -> int:
    """The three rewrites alone, of expressions that TVM has already."""
    asked = [(shared_session(case.variables, case.told), case.expression) for case in cases]
    given = [(session, session.emit(expression)) for session, expression in asked]
    start = time.process_time()
    for session, handle in given:
        for how in REWRITES:
            session.rewritten(how, handle)
    floor.seconds = time.process_time() - start  # type: ignore[attr-defined]
    return len(REWRITES) * len(given)


def simplify(cases: Iterable[ExpressionCase]) -> int:
    """The three rewrites, checked."""
    done = 0
    for case in cases:
        seen = observed(case)
        assert seen is not None
        session = shared_session(case.variables, case.told)
        list(checks.rewrites(session, seen, session.emit(case.expression)))
        done += len(REWRITES)
    return done


def naive(cases: Iterable[ExpressionCase]) -> int:
    """The three rewrites, checked as one would without giving it a thought."""
    done = 0
    for case in cases:
        for how in REWRITES:
            session = Session(case.variables, case.told)
            new = session.read(session.rewritten(how, session.emit(case.expression)))
            points = grid(case.variables)
            for index in range(points.size):
                binding = points.binding(index)
                try:
                    assert value_at(case.expression, binding) == value_at(new, binding)
                except (NoValue, AssertionError):
                    continue
            done += 1
    return done


def full(cases: Iterable[ExpressionCase]) -> int:
    """Every check."""
    return sum(1 for case in cases if check(case) is not None)


def rate(work: Callable[[Iterable[ExpressionCase]], int], cases: list[ExpressionCase]) -> float:
    """How many of what ``work`` counts are done in a second of one core, the second time."""
    work(cases[: len(cases) // 10])
    start = time.process_time()
    done = work(cases)
    spent = getattr(work, "seconds", 0.0) or time.process_time() - start
    return done / spent


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4000)
    count = parser.parse_args().count
    cases = plain(count)
    every = list(block(2, count))
    rows = (
        ("cases drawn", rate(drawing, cases), None),
        ("rewrites by TVM alone (floor)", rate(floor, cases), None),
        ("rewrites checked", rate(simplify, cases), SIMPLIFY),
        ("rewrites checked, naive", rate(naive, cases[: count // 20]), None),
        ("expressions checked in every way", rate(full, cases), FULL),
        ("the same, of all that is drawn", rate(full, every), FULL),
    )
    for name, figure, wanted in rows:
        print(f"{name:36} {figure:10,.0f} a second{f'  (wanted: {wanted:,})' if wanted else ''}")


if __name__ == "__main__":
    main()
