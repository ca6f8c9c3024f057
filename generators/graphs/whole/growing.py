"""Graphs of many nodes: steps of all operators, a fragment among them."""

from hypothesis import strategies as st

from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.fragments import FRAGMENTS
from relaxcheck.generators.graphs.growth import Growth, Limits, Step, begun, must, one_step
from relaxcheck.generators.graphs.programs import NAMES, SIMPLEST, STEPS

NO_FRAGMENT = "none"

_SLACK = 48
"""Nodes above the number that is asked for, so that a fragment fits whole."""

_MOST = 20_000
"""Elements of any tensor at any binding."""


def grown(draw: st.DrawFn, dtype: str, nodes: int, fragment: str, form: str) -> Draft:
    """A program of about ``nodes`` nodes: random steps, and ``fragment`` at a random one of them.

    A fragment that is larger is alone. ``form`` is ``whole`` or ``near``.
    """
    growth = begun(Choices(draw), dtype, Limits(nodes=nodes + _SLACK))
    growth.draft.most = _MOST
    steps = STEPS if fragment == NO_FRAGMENT else STEPS | {fragment: _step(fragment, form)}
    at = growth.choices.below(nodes) if fragment != NO_FRAGMENT else nodes
    # Shrinking ends where the fragment comes first, before all that may be left out.
    while len(growth.draft.nodes) < nodes or at < nodes:
        growth.draft.step += 1
        if len(growth.draft.nodes) >= at:
            before = len(growth.draft.nodes)
            if not growth.take(fragment, steps[fragment]):
                _alone(growth, fragment, steps[fragment])
            at = nodes
            if before == 0 and len(growth.draft.nodes) >= nodes:
                break
        elif not draw(one_step(growth, NAMES, STEPS)):
            must(growth, SIMPLEST, STEPS)
    return growth.draft


def _step(fragment: str, form: str) -> Step:
    build = FRAGMENTS[fragment].whole if form == "whole" else FRAGMENTS[fragment].nearly

    def step(growth: Growth, draft: Draft) -> None:
        build(draft, growth.choices)

    return step


def _alone(growth: Growth, fragment: str, step: Step) -> None:
    """Begin anew with the fragment, where the steps so far rule it out."""
    draft = growth.draft
    growth.draft = Draft(draft.dtype, step=draft.step, supply=draft.supply)
    if not growth.take(fragment, step):
        raise ValueError(f"fragment {fragment!r} is no program by itself")
