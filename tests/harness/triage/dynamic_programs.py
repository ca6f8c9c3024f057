"""Programs as the family ``dynamic`` draws them, and stand-ins for TVM that fail on some."""

from collections.abc import Callable, Sequence

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.appearance import PLACE
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.vetting import validate

PASSES = Outcome(Verdict.PASS)

Fails = Callable[[Case], Outcome | None]


def chain(
    *operators: str, shape: Sequence[int | str] = ("m", 3), dtype: str = "float32", **settings: str
) -> Case:
    """``operators`` of one operand, one after the other; ``settings`` are fields of the case."""
    nodes = [
        Node(f"n{at}", operator, ("x" if not at else f"n{at - 1}",))
        for at, operator in enumerate(operators)
    ]
    program = Program((Input("x", tuple(shape), dtype),), tuple(nodes), (nodes[-1].name,))
    bindings = ({"m": 2}, {"m": 0}) if program.symbols else ({},)
    return Case(family="dynamic", program=program, bindings=bindings, **settings)  # type: ignore[arg-type]


def has(case: Case, operator: str) -> bool:
    """True if ``case`` calls ``operator``."""
    return any(node.operator == operator for node in case.program.nodes)


def crash(
    place: str, message: str = "ValueError: no such thing", stage: str = "LegalizeOps"
) -> Outcome:
    """An error that was raised at ``place``."""
    details = {PLACE: place} if place else {}
    return Outcome(Verdict.OPAQUE_CRASH, stage, None, message, details=details)


def wrong(**details: bool) -> Outcome:
    """Wrong values of the look that ``details`` say."""
    return Outcome(Verdict.WRONG_VALUE, "compare", None, "off", details=details)


def answer(case: Case, fails: Fails) -> Outcome:
    """The outcome of ``case``, vetted, where TVM fails as ``fails`` says."""
    reference, contradiction = validate(case, lambda stage: None)
    if contradiction:
        return Outcome(Verdict.HARNESS_ERROR, "oracle", reference=reference)
    outcome = fails(case) or PASSES
    return Outcome(
        outcome.verdict,
        outcome.stage,
        outcome.operator,
        outcome.message,
        reference=reference,
        details=outcome.details,
    )
