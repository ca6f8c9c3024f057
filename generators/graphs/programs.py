"""Strategies of programs: random ones of a number of steps, templates, and the bindings to run."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from relaxcheck.generators.core.draft import Draft, Unfit
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.growth import (
    Growth,
    Limits,
    Step,
    begun,
    must,
    one_step,
    record_step,
)
from relaxcheck.generators.graphs.idioms import IDIOMS
from relaxcheck.generators.graphs.templates import TEMPLATES
from relaxcheck.generators.operators import OPERATORS

STEPS: dict[str, Step] = {
    **{name: record_step(record) for name, record in OPERATORS.items() if record.is_in_graphs},
    **IDIOMS,
}
"""Every step: one for each operator that graphs call, and the idioms."""

SIMPLEST = "add"
"""The step that shrinking ends at."""

NAMES = (SIMPLEST, *(name for name in STEPS if name != SIMPLEST))
"""The names of all steps, the simplest first."""

_MORE_BINDINGS = 1
"""Bindings besides the three of interest."""

_MOST_STEPS = 8

_LEFT_OUT = 8
"""Leave one step in so many out."""


def random_program(
    draw: st.DrawFn, dtype: str, steps: int, focus: str, names: Sequence[str] = NAMES
) -> Draft:
    """A program of ``steps`` steps, the last one about ``focus``, over symbolic dimensions.

    The others are about any of ``names``.
    """
    growth = begun(Choices(draw), dtype, Limits())
    for number in range(1, steps):
        growth.draft.step = number
        if not draw(one_step(growth, names, STEPS)):
            must(growth, SIMPLEST, STEPS)
    growth.draft.step = steps
    must(growth, focus, STEPS)
    return growth.draft


def template(choices: Choices, dtype: str, form: str) -> Draft:
    """The program of the template ``form``."""
    draft = Draft(dtype)
    TEMPLATES[form](draft, choices)
    return draft


@st.composite
def any_program(draw: st.DrawFn, limits: Limits, dtypes: Sequence[str]) -> Draft:
    """Programs of at least one node. Where ``limits`` allow symbols, one in four has none.

    Raises:
        ValueError: no step keeps to the limits.
    """
    choices, names = Choices(draw), names_within(limits)
    if limits.symbolic and not choices.below(4):
        limits = replace(limits, symbolic=False)
    count = 1 + choices.below(min(limits.nodes, _MOST_STEPS))
    growth = begun(choices, choices.choice(dtypes), limits)
    for _ in range(count):
        # Leave this step out, so that shrinking can remove a step from the middle of a program.
        if not choices.below(_LEFT_OUT):
            continue
        growth.draft.step += 1
        if not draw(one_step(growth, names, STEPS)):
            growth.draft.step -= 1
    if not growth.draft.nodes:
        _must_begin(growth, names)
    return growth.draft


@lru_cache(maxsize=64)
def names_within(limits: Limits) -> tuple[str, ...]:
    """The names of the steps that ``limits`` allow; idioms only where it allows every operator."""
    allowed = limits.operators
    return NAMES if allowed is None else tuple(name for name in NAMES if name in allowed)


def _must_begin(growth: Growth, names: Sequence[str]) -> None:
    for name in names:
        try:
            must(growth, name, STEPS)
        except Unfit:
            continue
        return
    raise ValueError(
        f"no program of only {', '.join(names)} fits into {growth.limits.nodes} nodes; "
        "allow more operators or more nodes"
    )


def chosen(draft: Draft, choices: Choices) -> tuple[dict[str, int], ...]:
    """A few of the legal bindings of ``draft``: one without 0, the smallest, one with 1, others."""
    names, rows = draft.legal_rows()
    picked = (
        _one_of(rows[np.all(rows, axis=1)], rows, choices),
        rows[0],
        _one_of(rows[np.any(rows == 1, axis=1)], rows, choices),
        *(_one_of(rows, rows, choices) for _ in range(_MORE_BINDINGS)),
    )
    bindings = [dict(zip(names, row.tolist(), strict=True)) for row in picked]
    return tuple(each for at, each in enumerate(bindings) if each not in bindings[:at])


def _one_of(
    wanted: NDArray[np.int64], rows: NDArray[np.int64], choices: Choices
) -> NDArray[np.int64]:
    """One of the ``wanted`` rows; of all ``rows`` where there is none."""
    known = wanted if len(wanted) else rows
    row: NDArray[np.int64] = known[choices.below(len(known))]
    return row
