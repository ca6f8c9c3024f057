"""Section ``expressions``: an analyzer that is right must never fail, conditions or not.

Most expressions have conditions and narrow or unsigned integers: there an operand may overflow or
divide by zero without being used, and an oracle is wrong first.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from relaxcheck.generators.core.axes import Axis
from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    DEFINED,
    POSITIONS,
    ExpressionBatch,
    ExpressionCase,
)
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import BITS, BOOL, COMPARISONS, LOGIC, nodes
from tests.harness.expressions.ideal_session import IdealSession
from tests.measure.quality.expressions.analyzer_control import checked, drawn
from tests.measure.quality.section import Figures, Section, Show

SEED = 2026
BLOCKS = 140
"""Blocks at full size: more than 20,000 expressions."""

_LOT = 5
"""Blocks between two signs of progress."""
_SHOWN = 10
"""Failures that the figures quote."""
_WEIGHTS: Mapping[str, Mapping[Any, int]] = {
    "kind": {"claim": 6, "rule-choice": 12, "rule-comparison": 6},
    "dtype": {"int16": 3, "int8": 3, "uint32": 3, "uint64": 3, "uint8": 3, "uint16": 3},
}
_CONDITIONAL = ("select", "if_then_else", "not", *COMPARISONS, *LOGIC)


def axes() -> tuple[Axis, ...]:
    """The axes of the family, with more conditions and fewer wide signed integers."""
    return tuple(
        replace(axis, default_weight=1, weights=_WEIGHTS[axis.name])
        if axis.name in _WEIGHTS
        else replace(axis, values=(DEFINED,))
        if axis.name == "points"
        else axis
        for axis in family().axes
    )


def is_conditional(case: ExpressionCase) -> bool:
    """True if the expression compares or chooses."""
    return any(node.operator in _CONDITIONAL for node in nodes(case.subject.expression))


def is_narrow(case: ExpressionCase) -> bool:
    """True if it has an integer of 8 or 16 bits, or without a sign."""
    dtypes = {node.dtype for node in nodes(case.subject.expression)} - {BOOL}
    return any(BITS[dtype] < 32 or dtype.startswith("u") for dtype in dtypes)


def measured(blocks: Sequence[ExpressionBatch], show: Show) -> Figures:
    """The figures of ``blocks``, judged by the harness with an ideal analyzer in TVM's place."""
    counts: Counter[str] = Counter()
    features: Counter[str] = Counter()
    failed: list[ExpressionCase] = []
    IdealSession.rewrites.clear()
    for begin in range(0, len(blocks), _LOT):
        lot = blocks[begin : begin + _LOT]
        show(f"{sum(counts.values())} expressions", begin / len(blocks))
        more, wrong = checked(lot)
        counts += more
        failed += wrong
        for case in (case for block in lot for case in block.members):
            conditional, narrow = is_conditional(case), is_narrow(case)
            features["drawn"] += 1
            features["conditional"] += conditional
            features["narrow"] += narrow
            features["both"] += conditional and narrow
    return {
        "seed": SEED,
        "checked": sum(counts.values()),
        "positions": {position: counts[position] for position in POSITIONS},
        **{name: features[name] for name in ("drawn", "conditional", "narrow", "both")},
        "rewrites": sum(IdealSession.rewrites.values()),
        "failures": len(failed),
        "alarms": [f"{case.position}: {case.subject}" for case in failed[:_SHOWN]],
    }


def measure(share: float, workers: int, show: Show) -> Figures:
    """Run the control on ``share`` of the full size, in this process."""
    return measured(drawn(max(1, round(BLOCKS * share)), SEED, axes()), show)


def markdown(figures: Figures) -> str:
    """The figures for a person."""
    drawn_number = max(1, figures["drawn"])
    shares = ", ".join(
        f"{text} {figures[name] / drawn_number:.0%}"
        for name, text in (
            ("conditional", "conditions"),
            ("narrow", "narrow or unsigned integers"),
            ("both", "both"),
        )
    )
    positions = ", ".join(f"{name} {count}" for name, count in figures["positions"].items())
    lines = [
        f"{figures['checked']} expressions checked ({positions}), seed {figures['seed']}. "
        f"Of {figures['drawn']} drawn have {shares}. {figures['rewrites']} rewrites judged.",
        "",
        f"**Failures: {figures['failures']} of {figures['checked']}.**",
    ]
    if figures["alarms"]:
        lines += ["", *(f"* `{alarm}`" for alarm in figures["alarms"])]
    return "\n".join(lines)


def missed(figures: Figures) -> list[str]:
    """The targets that the figures do not meet."""
    lines = []
    if figures["failures"]:
        lines.append(f"{figures['failures']} of {figures['checked']} right answers fail")
    for name in ("conditional", "narrow"):
        if 2 * figures[name] <= figures["drawn"]:
            lines.append(f"only {figures[name]} of {figures['drawn']} expressions are {name}")
    if figures["rewrites"] <= figures["positions"][ANALYZED]:
        lines.append(f"only {figures['rewrites']} rewrites were judged")
    return lines


SECTION = Section(
    name="expressions",
    title="False alarms of expressions: a correct analyzer in TVM's place",
    measure=measure,
    markdown=markdown,
    missed=missed,
)
