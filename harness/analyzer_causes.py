"""Which cause in TVM a finding of the algebra family looks like, as far as its case shows it.

A campaign finds one fault in many ways: by several checks, in several places, in expressions that
begin with different operators. The causes are those of ``docs/algebra-causes.md``; what looks like
none of them is what to read first. A cause is told by its look alone: nothing is taken for known
because of it, and no finding is left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from generators.expression_cases import ANALYZED, INDEX, Member
from generators.expressions import DIVISIONS, SHIFTS, Expression, nodes
from harness.finding import Finding

_FAR = {"int32": 2**23, "int64": 2**55}
"""From what on a constant, times what is drawn beside it, comes near the ends of its dtype."""


@dataclass(frozen=True, slots=True)
class Look:
    """What of a finding a cause is told by."""

    check: str
    position: str
    message: str
    expressions: tuple[Expression, ...]
    constraints: tuple[Expression, ...]

    @property
    def nodes(self) -> Iterator[Expression]:
        """All that the analyzer is given or that is compiled: expressions, and what is assumed."""
        for each in (*self.expressions, *self.constraints):
            yield from nodes(each)

    @property
    def divisions(self) -> list[Expression]:
        """The quotients and remainders in the expressions, whichever way they round."""
        found = (node for each in self.expressions for node in nodes(each))
        return [node for node in found if node.operator in DIVISIONS]

    def says(self, *texts: str) -> bool:
        """Whether the message has one of ``texts`` in it."""
        return any(text in self.message for text in texts)


@dataclass(frozen=True, slots=True)
class Cause:
    """A fault of TVM; ``fits`` tells by its look what comes of it."""

    title: str
    fits: Callable[[Look], bool]


@dataclass(frozen=True, slots=True)
class Group:
    """The findings that look like ``title``; the one whose case is the smallest first."""

    title: str
    findings: tuple[Finding, ...]


UNKNOWN = "none of these"
"""The title of the group of what looks like no cause that is known."""


def look(finding: Finding) -> Look | None:
    """What a cause of ``finding`` is told by; None for what is of another family."""
    case = finding.case
    if not isinstance(case, Member):
        return None
    subject = case.subject
    both = (subject.expression, subject.other)
    return Look(
        finding.operator,
        case.position,
        finding.outcome.message,
        tuple(each for each in both if each is not None),
        subject.constraints,
    )


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """The findings of the algebra family by cause, in the order of ``CAUSES``; ``UNKNOWN`` last."""
    by_title: dict[str, list[Finding]] = {each: [] for each in (*TITLES, UNKNOWN)}
    for finding in findings:
        seen = look(finding)
        if seen is not None:
            by_title[title(seen)].append(finding)
    return [
        Group(each, tuple(sorted(found, key=_size))) for each, found in by_title.items() if found
    ]


def title(seen: Look) -> str:
    """The title of the first cause that ``seen`` looks like."""
    return next((cause.title for cause in CAUSES if cause.fits(seen)), UNKNOWN)


def _size(finding: Finding) -> tuple[bool, int, str]:
    seen = look(finding)
    assert seen is not None
    # What did not come again is no example.
    return not finding.confirmed, len(list(seen.nodes)), finding.fingerprint


def _constants(expression: Expression) -> Iterator[Expression]:
    return (node for node in nodes(expression) if node.operator == "const")


def _is_negative(expression: Expression) -> bool:
    """Whether there is a negative number in it, or something is taken from another."""
    return any(int(one.leaf) < 0 for one in _constants(expression)) or any(
        node.operator == "-" for node in nodes(expression)
    )


def _divides_by_negative(seen: Look) -> bool:
    return any(_is_negative(one.operands[1]) for one in seen.divisions)


def _falls(seen: Look) -> bool:
    """Whether what is divided goes down, or the divisor is negative."""
    return any(map(_is_negative, (each for one in seen.divisions for each in one.operands)))


def _assumes_negative_divisors(seen: Look) -> bool:
    return any(
        node.operator in DIVISIONS and _is_negative(node.operands[1])
        for each in seen.constraints
        for node in nodes(each)
    )


def _dtypes(seen: Look) -> set[str]:
    return {node.dtype for node in seen.nodes}


def _is_unsigned(seen: Look) -> bool:
    return any(each.startswith("uint") for each in _dtypes(seen))


def _is_narrow(seen: Look) -> bool:
    return bool(_dtypes(seen) & {"int8", "int16"})


def _is_far(seen: Look) -> bool:
    return (
        "validity" in seen.check
        or seen.says("Literal value", "kPosInf", "kNegInf")
        or any(
            abs(int(one.leaf)) >= _FAR[one.dtype]
            for one in seen.nodes
            if one.operator == "const" and one.dtype in _FAR
        )
    )


def _shifts_by_variables(seen: Look) -> bool:
    return any(one.operator in SHIFTS and one.operands[1].operator != "const" for one in seen.nodes)


def _divides_by_zero(seen: Look) -> bool:
    return any(
        int(one.leaf) == 0 for each in seen.divisions for one in _constants(each.operands[1])
    )


def _raises_of_zero(seen: Look) -> bool:
    return seen.says("ivide by zero", "!= 0 (0 vs. 0)")


def _has(seen: Look, *operators: str) -> bool:
    return any(node.operator in operators for node in seen.nodes)


def _maps_iterators(seen: Look) -> bool:
    """Whether it is about how indices are rewritten."""
    return seen.position == INDEX or "iter_map" in seen.check


CAUSES: Sequence[Cause] = (
    Cause(
        "a division by a constant 0 is computed by what compiles it",
        lambda seen: _raises_of_zero(seen) and _divides_by_zero(seen),
    ),
    Cause("a divisor or scale that becomes 0 in rewriting", _raises_of_zero),
    Cause(
        "an iterator gets two ranges (`rmod`, `rdiv`): a divisor that is negative",
        lambda seen: seen.says("Binding of variable r", "Trying to update var 'r"),
    ),
    Cause(
        "a division is taken out of its condition",
        lambda seen: seen.says("SIGFPE") and _has(seen, "if_then_else", "select"),
    ),
    Cause("a division by a symbol that is 0 ends the process", lambda seen: seen.says("SIGFPE")),
    Cause("a size without symbols is not folded", lambda seen: seen.says("computed")),
    Cause(
        "a size that is a condition within a condition",
        lambda seen: seen.says("FInferType", "non-leaf"),
    ),
    Cause("an extent that is negative", lambda seen: seen.says("bad_alloc")),
    Cause("unsigned integers, and casts to them", _is_unsigned),
    Cause("int8 and int16, and casts to them", _is_narrow),
    Cause(
        "what a remainder by a negative number tells, once it is assumed",
        _assumes_negative_divisors,
    ),
    Cause("a shift by what may be negative", _shifts_by_variables),
    Cause("near the ends of the dtype", _is_far),
    Cause("a range that was told before stays", lambda seen: "after-value" in seen.check),
    Cause(
        "truncating division is taken for one that rounds down",
        lambda seen: _has(seen, "truncdiv", "truncmod"),
    ),
    Cause(
        "an index that counts down, divided",
        lambda seen: _maps_iterators(seen) and _falls(seen),
    ),
    Cause("what `detect_iter_map` promises", lambda seen: "detect_iter_map" in seen.check),
    Cause("two paddings are taken for one, in an index", _maps_iterators),
    Cause(
        "quotients and remainders by negative numbers",
        lambda seen: seen.position != ANALYZED and _divides_by_negative(seen),
    ),
    Cause(
        "the bounds of a remainder by a negative number",
        lambda seen: seen.position == ANALYZED and _divides_by_negative(seen),
    ),
)
"""In this order: a finding is of the first that fits."""

TITLES = tuple(cause.title for cause in CAUSES)
