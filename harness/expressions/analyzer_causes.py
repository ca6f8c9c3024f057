"""The likely cause in TVM of a finding of the algebra family, judged by its smallest case.

A campaign finds one fault in many ways: by several checks, in several places, in expressions that
begin with different operators. ``docs/algebra-causes.md`` describes most of the causes. One more
is a division by a constant 0: it has no value, and a condition may keep it from being computed, but
compilation folds it and raises. Read first the findings that look like none of them. A cause only
names a finding: none is expected because of it, and none is left out.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from relaxcheck.generators.core.case import AnyCase
from relaxcheck.generators.expressions.cases import ANALYZED, PARAMETER
from relaxcheck.harness.expressions.expression_look import (
    Look,
    assumes_negative_divisors,
    constant_dtypes,
    divides_by_negative,
    divides_by_zero,
    drops_offset,
    falls,
    has,
    is_far,
    is_narrow,
    is_uncomputed,
    is_unsigned,
    look,
    maps_iterators,
    pads_twice,
    promises,
    raises_of_zero,
    shifts_by_negative,
)
from relaxcheck.harness.expressions.fault import RAISES
from relaxcheck.harness.expressions.sized import COMPUTED
from relaxcheck.harness.outcomes.likely_cause import LikelyCause
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import Finding


@dataclass(frozen=True, slots=True)
class Cause:
    """A fault of TVM; ``fits`` tells by its look what comes of it.

    ``title`` names the group of all findings of it, ``wrong`` says in a sentence what is wrong with
    one. ``fixes`` are made for it. ``fault`` says for an issue what is wrong in TVM's
    sources, or which users it affects.
    """

    title: str
    wrong: str
    fits: Callable[[Look], bool]
    fixes: tuple[str, ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """The findings that look like ``title``; the one whose case is the smallest first."""

    title: str
    findings: tuple[Finding, ...]


PAGE = "docs/algebra-causes.md"
"""The page that describes the causes."""

UNKNOWN = "none of these"
"""The title of the group of what looks like no cause that is known."""


def grouped(findings: Iterable[Finding]) -> list[Group]:
    """The findings of the algebra family by cause, in the order of ``CAUSES``; ``UNKNOWN`` last."""
    by_title: dict[str, list[Finding]] = {each: [] for each in (*TITLES, UNKNOWN)}
    for finding in findings:
        seen = look(finding.case, finding.outcome)
        if seen is not None:
            by_title[title(seen)].append(finding)
    return [
        Group(each, tuple(sorted(alike, key=_size))) for each, alike in by_title.items() if alike
    ]


def title(seen: Look) -> str:
    """The title of the first cause that ``seen`` looks like."""
    cause = _first(seen)
    return UNKNOWN if cause is None else cause.title


def likely_cause(case: AnyCase, outcome: Outcome) -> LikelyCause | None:
    """The first cause that ``outcome`` of ``case`` looks like; None if it looks like no one."""
    seen = look(case, outcome)
    cause = None if seen is None else _first(seen)
    if seen is None or cause is None:
        return None
    where = " and ".join(map(str, seen.constraints))
    about = f"{seen.expressions[0]}" + (f" where {where}" if where else "")
    # The text of an expression without variables does not show the dtypes of its constants.
    dtypes = [] if seen.variables else constant_dtypes(seen.expressions[0])
    about += f" of constants of {' and '.join(dtypes)}" if dtypes else ""
    raised = seen.asked.question in ("", RAISES)
    check = seen.position if raised else _asked(seen.asked.check)
    # No fix is above the analyzer, which is native.
    fixes = () if seen.position == ANALYZED else cause.fixes
    wrong = _wrong(cause, seen)
    return LikelyCause(
        f"{wrong} ({check})", f"{wrong}: {about} ({check})", PAGE, fixes, cause.fault
    )


def _wrong(cause: Cause, seen: Look) -> str:
    """The sentence of ``cause``, without casts where there are none."""
    return cause.wrong if has(seen, "cast") else re.sub(",? or casts to (it|them)", "", cause.wrong)


def _asked(check: str) -> str:
    """``check`` as TVM's users call it."""
    if check == COMPUTED:
        return PARAMETER
    return check.replace("-strong", " at SYMBOLIC_BOUND").partition("-after-")[0]


def _first(seen: Look) -> Cause | None:
    return next((cause for cause in CAUSES if cause.fits(seen)), None)


def _size(finding: Finding) -> tuple[bool, int, str]:
    seen = look(finding.case, finding.outcome)
    assert seen is not None
    # A finding that did not reproduce is no example.
    return not finding.confirmed, len(list(seen.nodes)), finding.fingerprint


_SET = "int_set"
"""The check of the sets that TVM gives for an expression."""

_NEVER_NEGATIVE = (
    "The interval of a remainder is that of a dividend that is not negative: a comment in "
    "`int_set.cc` says that the code for `Mod` assumes it, with a TODO; nothing checks it."
)
_UNFOLDED = (
    "`BindSymbolicVars` leaves such sizes: with n bound to 4 a size of `(n & 1) + (n >> 1) * 2` is "
    "`T.BitwiseAnd(4, 1) + 4`, which `relax.build` does not compile either."
)
"""Seen on 0.25, 0.26 and 0.27."""

CAUSES: Sequence[Cause] = (
    Cause(
        "a division by a constant 0 is computed by what compiles it",
        "a division by a constant 0 raises",
        lambda seen: raises_of_zero(seen) and divides_by_zero(seen),
    ),
    Cause(
        "a divisor or scale that becomes 0 in rewriting",
        "an expression raises a division by 0 that it does not have",
        raises_of_zero,
    ),
    Cause(
        "an iterator gets two ranges (`rmod`, `rdiv`): a divisor that is negative",
        "an iterator gets two ranges and raises",
        lambda seen: seen.says("Binding of variable r", "Trying to update var 'r"),
        fixes=("falling_indices",),
    ),
    Cause(
        "a division is taken out of its condition",
        "a division within a condition ends the process",
        lambda seen: seen.signal == "SIGFPE" and has(seen, "if_then_else", "select"),
    ),
    Cause(
        "a division by a symbol that is 0 ends the process",
        "a division by a symbol that is 0 ends the process",
        lambda seen: seen.signal == "SIGFPE",
    ),
    Cause(
        "a size without symbols is not folded",
        "a size without symbols does not compile unless it is folded",
        is_uncomputed,
        fault=_UNFOLDED,
    ),
    Cause(
        "a size that is a condition within a condition",
        "a size that is a condition within a condition does not compile",
        lambda seen: seen.says("FInferType", "non-leaf"),
    ),
    Cause(
        "an extent that is negative",
        "an extent that is negative raises std::bad_alloc",
        lambda seen: seen.says("bad_alloc"),
        fixes=("shape_guard",),
    ),
    Cause(
        "unsigned integers, and casts to them",
        "TVM mishandles unsigned integers or casts to them",
        is_unsigned,
    ),
    Cause(
        "int8 and int16, and casts to them",
        "TVM mishandles numbers near the ends of their dtype, or casts to it",
        is_narrow,
    ),
    Cause(
        "what a remainder by a negative number tells, once it is assumed",
        "TVM mishandles an assumption on division by a negative number",
        assumes_negative_divisors,
    ),
    Cause(
        "a shift by what may be negative",
        "TVM mishandles a shift by what may be negative",
        shifts_by_negative,
    ),
    Cause(
        "near the ends of the dtype",
        "TVM mishandles overflow, or numbers near the ends of their dtype",
        is_far,
    ),
    Cause(
        "a range that was told before stays",
        "the analyzer mishandles a second bind of a variable",
        lambda seen: seen.asked.after == "value",
    ),
    Cause(
        "a truncated remainder is taken for one that is never negative, in a set",
        "TVM mishandles truncated remainders",
        lambda seen: seen.asked.question == _SET and has(seen, "truncmod"),
        fault=_NEVER_NEGATIVE,
    ),
    Cause(
        "truncating division is taken for one that rounds down",
        "TVM mishandles truncated division",
        lambda seen: has(seen, "truncdiv", "truncmod"),
    ),
    Cause(
        "an index that counts down, divided",
        "TVM mishandles an index that counts down and is divided",
        lambda seen: maps_iterators(seen) and falls(seen),
        fixes=("falling_indices",),
    ),
    Cause(
        "what `detect_iter_map` promises",
        "detect_iter_map promises too much of a quotient or remainder",
        promises,
    ),
    Cause(
        "an offset is dropped by what `detect_iter_map` takes for a bijection",
        "detect_iter_map mishandles an offset before a division",
        drops_offset,
    ),
    Cause(
        "two paddings are taken for one, in an index",
        "TVM mishandles two divisions of one variable in an index",
        pads_twice,
    ),
    Cause(
        "quotients and remainders by negative numbers",
        "TVM mishandles division by a negative number",
        lambda seen: seen.position != ANALYZED and divides_by_negative(seen),
        fixes=("falling_indices",),
    ),
    Cause(
        "the bounds of a remainder by a negative number",
        "the analyzer mishandles division by a negative number",
        lambda seen: seen.position == ANALYZED and divides_by_negative(seen),
    ),
)
"""In this order: a finding is of the first that fits."""

TITLES = tuple(cause.title for cause in CAUSES)
