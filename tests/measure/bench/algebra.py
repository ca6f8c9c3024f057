"""The rate of checking the analyzer: expressions per second of one core.

    python -m tests.measure.bench.algebra              # a table
    python -m tests.measure.bench.algebra --count 20000

``naive`` is the loop that one would write first: an analyzer for each expression, and both sides
computed at one point after the other. ``floor`` is what TVM takes by itself. The rest, times the
processor takes over one count of expressions, is ours.
"""

import argparse
import time
from collections.abc import Callable, Iterable

from relaxcheck.generators.expressions.grids import grid
from relaxcheck.generators.expressions.scalar_values import NoValue, value_at
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness.expressions.analyzer import check, checks
from relaxcheck.harness.expressions.analyzer.observed import observed
from relaxcheck.harness.expressions.analyzer.session import (
    REWRITES,
    Session,
    forget,
    shared_session,
)
from tests.problems import problems

SIMPLIFY, FULL = 30_000, 2_500
"""The targets: checks that a rewrite kept the value, and expressions checked in every way, a
second."""


def plain(count: int) -> list[Problem]:
    """Drawn cases of signed integers without conditions, that TVM has an answer for."""
    cases: list[Problem] = []
    for case in problems(1, 8 * count):
        signed = all(each.dtype in ("int32", "int64") for each in case.variables)
        if not signed or case.constraints or observed(case) is None:
            continue
        if _has_answers(case):
            cases.append(case)
        if len(cases) == count:
            break
    return cases


def _has_answers(case: Problem) -> bool:
    session = shared_session(case.variables, case.means)
    try:
        for how in REWRITES:
            session.rewritten(how, session.emit(case.expression))
    except Exception:  # Whatever TVM raises: what takes no answer has no place in a measurement.
        forget(case.variables, case.means)
        return False
    return True


def drawing(cases: Iterable[Problem]) -> int:
    """Drawing alone."""
    count = len(list(cases))
    return sum(1 for _ in problems(1, count))


def floor(cases: Iterable[Problem]) -> int:
    """The three rewrites alone, of expressions that TVM has already."""
    asked = [(shared_session(case.variables, case.means), case.expression) for case in cases]
    handles = [(session, session.emit(expression)) for session, expression in asked]
    start = time.process_time()
    for session, handle in handles:
        for how in REWRITES:
            session.rewritten(how, handle)
    floor.seconds = time.process_time() - start  # type: ignore[attr-defined]
    return len(REWRITES) * len(handles)


def simplify(cases: Iterable[Problem]) -> int:
    """The three rewrites, checked."""
    done = 0
    for case in cases:
        seen = observed(case)
        assert seen is not None
        session = shared_session(case.variables, case.means)
        list(checks.rewrites(session, seen, session.emit(case.expression)))
        done += len(REWRITES)
    return done


def naive(cases: Iterable[Problem]) -> int:
    """The three rewrites, checked as one would without giving it a thought."""
    done = 0
    for case in cases:
        for how in REWRITES:
            session = Session(case.variables, case.means)
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


def full(cases: Iterable[Problem]) -> int:
    """Every check."""
    return sum(1 for case in cases if check(case) is not None)


def rate(work: Callable[[Iterable[Problem]], int], cases: list[Problem]) -> float:
    """The rate of ``work``: its count per second of one core, the second time."""
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
    every = list(problems(2, count))
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
