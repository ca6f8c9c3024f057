"""The cases of a conformance run: a small grid of each family, and the corpus."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest

import msgspec

from relaxcheck.extensions import entry_points
from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, CaseError, target_of, with_fixes
from relaxcheck.generators.core.coverage.each_once import every_cell
from relaxcheck.generators.core.points import narrowed
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness import kinds
from relaxcheck.harness.known.corpus import entries

_LEVEL = "opt_level"
"""The axis of LLVM's level, which costs most and is not the pipeline's."""


def cases(
    names: Sequence[str] | None, pipeline: str, *, fixes: bool, most: int | None
) -> tuple[AnyCase, ...]:
    """The cases of the families called ``names``, of the usual ones where there are none.

    Each is compiled by ``pipeline``. The first ``most`` hold as many families as they can.

    Raises:
        CaseError: there is no such family, or one is compiled by no pipeline.
        ExtensionError: without names, an operator of an installed package cannot be used.
    """
    chosen = _families(names, pipeline)
    known = {family.name for family in chosen}
    grids = zip_longest(*(_grid(family) for family in chosen))
    drawn = (case for row in grids for case in row if case is not None)
    # Without names, cases of families that are drawn only when they are named are a part, too.
    recorded = (case for case in _corpus() if names is None or case.family in known)
    every = (_as(case, pipeline, fixes=fixes) for case in chain(drawn, recorded))
    return tuple(islice({case.identifier: case for case in every}.values(), most))


def _families(names: Sequence[str] | None, pipeline: str) -> tuple[Family, ...]:
    if not names:
        entry_points.require(entry_points.OPERATORS)
        return kinds.usual_families((pipeline,))
    try:
        chosen = tuple(kinds.family(name, (pipeline,)) for name in names)
    except KeyError as error:
        raise CaseError(str(error.args[0])) from error
    for family in chosen:
        if not any(axis.name == "pipeline" for axis in family.axes):
            raise CaseError(f"the family {family.name} is compiled by no pipeline")
    return chosen


def _grid(family: Family) -> Iterator[AnyCase]:
    """A case for every cell of every axis of ``family``, most cells in its first cases."""
    level = {axis.name: (axis.default,) for axis in family.axes if axis.name == _LEVEL}
    for seed, point in enumerate(every_cell(narrowed(family.axes, level))):
        yield kinds.as_drawn(family.build(point, seed))


def _corpus() -> Iterator[AnyCase]:
    """The cases of the corpus that are compiled for a CPU by a pipeline."""
    for entry in entries():
        if hasattr(entry.case, "pipeline") and target_of(entry.case) == LLVM:
            yield entry.case


def _as(case: AnyCase, pipeline: str, *, fixes: bool) -> AnyCase:
    return msgspec.structs.replace(with_fixes(case, fixes), pipeline=pipeline)  # type: ignore[type-var]
