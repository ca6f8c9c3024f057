"""The table operator × target: a program of each operator built for each target, and run.

Every operator with a record has two cases, at the defaults of its axes: with the sizes of its
tensors constant, and with as many of them symbolic as it can have.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from relaxcheck.generators.core.case import with_target
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.harness import kinds
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool

STATIC, SYMBOLIC = "static", "symbolic"
FORMS = (STATIC, SYMBOLIC)

_AXIS = "symbolic"
_MOST = ("all", "both", "first", "last")
"""The values of the axis of symbolic dimensions, most of them first."""


_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


class Cell(msgspec.Struct, frozen=True):
    """The end of a case; of one that is ``built`` the ``message`` says how it was checked."""

    verdict: Verdict
    message: str = ""


class Row(msgspec.Struct, frozen=True):
    """An operator; ``cells`` are by release, then target, then form."""

    operator: str
    cells: dict[str, dict[str, dict[str, Cell]]]


class Table(msgspec.Struct, frozen=True):
    """All rows. ``versions`` are those of apache-tvm by release."""

    versions: dict[str, str]
    rows: tuple[Row, ...]


def subjects(names: Sequence[str], target: str) -> Mapping[str, Mapping[str, Case]]:
    """The cases of the operators called ``names``, of all without names, by operator and form."""
    found: dict[str, dict[str, Case]] = {}
    for family in kinds.families_for(target):
        if not isinstance(family, OperatorFamily):
            continue
        operator = family.record.name
        if not names or operator in names or family.name in names:
            found[operator] = {
                form: with_target(case, target) for form, case in _forms(family).items()
            }
    return found


def _forms(family: OperatorFamily) -> dict[str, Case]:
    point = {axis.name: axis.default for axis in family.axes}
    values = next((axis.values for axis in family.axes if axis.name == _AXIS), ())
    forms = {STATIC: family.build({**point, _AXIS: "none"} if values else point, 0)}
    # An axis that no program of the operator has may lack the value.
    chosen = next((value for value in _MOST if value in values), None)
    if chosen is not None:
        symbolic = family.build({**point, _AXIS: chosen}, 0)
        if symbolic.program != forms[STATIC].program:
            forms[SYMBOLIC] = symbolic
    return forms


def table(
    names: Sequence[str],
    targets: Sequence[str],
    releases: Sequence[str],
    workers: int,
    limits: Limits,
    kept: Kept[Cell],
    show: Callable[[str, int, int], None],
) -> Table:
    """The table of the operators called ``names`` (all without names); what is ``kept`` stands.

    ``show`` gets the release, and the numbers of cases that ended and of all.

    Raises:
        PoolError: the workers of a release do not start.
        ReleaseError: a release is not installed.
    """
    wanted = {target: subjects(names, target) for target in targets}
    rows: dict[str, dict[str, dict[str, dict[str, Cell]]]] = {}
    versions = {}
    for name in releases:
        with Pool(workers, limits, release=release(name)) as pool:
            versions[name] = version = pool.environment["apache-tvm"]
            _run(pool, name, _cases(wanted), kept, partial(show, name))
        for target, operators in wanted.items():
            for operator, forms in operators.items():
                cells = rows.setdefault(operator, {}).setdefault(name, {}).setdefault(target, {})
                for form, case in forms.items():
                    cell = kept.get(name, version, case.identifier)
                    if cell is not None:
                        cells[form] = cell
    return Table(versions, tuple(Row(each, rows[each]) for each in sorted(rows)))


def _cases(wanted: Mapping[str, Mapping[str, Mapping[str, Case]]]) -> Iterator[Case]:
    for operators in wanted.values():
        for forms in operators.values():
            yield from forms.values()


def _run(
    pool: Pool,
    name: str,
    cases: Iterable[Case],
    kept: Kept[Cell],
    show: Callable[[int, int], None],
) -> None:
    """Run those of ``cases`` that are not kept, on the release ``name``, and keep them."""
    version, every = pool.environment["apache-tvm"], tuple(cases)
    left = [case for case in every if kept.get(name, version, case.identifier) is None]
    kept.reused += len(every) - len(left)
    pool.submit(*map(Job, left))
    for done, (job, outcome) in enumerate(pool.drain(), 1):
        message = outcome.message if outcome.verdict is Verdict.BUILT else headline(outcome.message)
        cell = Cell(outcome.verdict, _ADDRESS.sub("0x…", message))
        kept.add(name, version, job.case.identifier, cell)
        show(done, len(left))


def merged(new: Table, old: Table) -> Table:
    """``old`` with the cells of ``new`` in place of its own."""
    rows = {row.operator: msgspec.to_builtins(row.cells) for row in old.rows}
    for row in new.rows:
        for name, targets in row.cells.items():
            cells = rows.setdefault(row.operator, {}).setdefault(name, {})
            cells.update(msgspec.to_builtins(targets))
    made = tuple(
        msgspec.convert({"operator": name, "cells": rows[name]}, Row) for name in sorted(rows)
    )
    return Table({**old.versions, **new.versions}, made)
