"""The causes of a failure in TVM's own terms: attributes, dtypes, symbolic dimensions, passes."""

from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from relaxcheck.generators.calls import form, telling
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import ITEM, Case, ShapeValue
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.plain import DOES
from relaxcheck.harness.programs.reduction.setting_steps import PLAIN
from relaxcheck.harness.triage.reduction.search import RUNNING
from relaxcheck.harness.wording import series
from relaxcheck.reports.programs.difference_text import SHORT, side_text, without_idle
from relaxcheck.reports.programs.dtype_words import dtype_words
from relaxcheck.reports.programs.python.source import shape_text

_NO_NEWS = frozenset({Aspect.SHAPE, Aspect.INPUT})

TOGETHER, _WITHOUT = "together with ", "without "

_FEW_SHAPES = 2
"""Up to so many inputs are named, all that have a symbol; of more, the symbol alone."""

ERRORS = frozenset({Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED})
_OTHER = {
    Verdict.OPAQUE_CRASH: "raises another error",
    Verdict.UNSUPPORTED: "raises another error, which says what is not supported,",
}
"""The predicate of a program that raises instead of raising an error of its own."""


def settings(attribution: Attribution, inputs: AbstractSet[str] = frozenset()) -> list[str]:
    """The settings that the failure is due to, each condition in words.

    A dtype that all ``inputs`` have is named without their names.
    """
    return [
        _phrase(_needed(attribution, each, inputs)).removeprefix("with ")
        for each in attribution.blamed
    ]


def attribution_text(
    attribution: Attribution,
    case: Case,
    stage: str | None,
    about: Sequence[str] = (),
    verdict: Verdict | None = None,
) -> str:
    """Trials of ``case`` and their outcomes, in a few sentences; empty where there were none.

    ``stage`` is the one that it fails in: inputs are mentioned only where there were any. Settings
    at TVM's default are left out, also where the case writes them out. That it does not fail
    without an operator that it is ``about`` goes without saying. ``verdict`` is that of the
    failure: an error instead of an error is another one.
    """
    attribution = in_tvms_terms(attribution, case)
    ran = stage in RUNNING
    # The values of inputs are nothing to a compiler; another program was drawn with them.
    sentences = [_of_others(attribution, case)] if ran else []
    sentences = [text for text in sentences if text]
    operators = {(Aspect.NODE, name) for name in about}
    conditions = [
        condition
        for condition in attribution.blamed
        if not {(each.what, each.name) for each in attribution.needed(condition)} <= operators
    ]
    blamed = dict.fromkeys(text for each in conditions for text in _needed(attribution, each))
    if blamed:
        sentences.append(f"Fails {_phrase(list(blamed))}; {_instead(conditions, verdict)}.")
    names = {name for node in case.program.nodes for name in telling(node)}
    others = [
        condition
        for condition in attribution.conditions
        if not condition.holds
        # That it fails at other sizes, or with fewer operands, too, is no news.
        and any(difference.what not in _NO_NEWS for difference in condition.differences)
        # One of several calls of an operator that it is about.
        and not condition.named <= operators
        # To a maintainer, several of our pipelines are one.
        and _listed(condition, "was") != _listed(condition, "to")
        and (
            not _attributes(condition) or any(each.name in names for each in _attributes(condition))
        )
    ]
    innocent = [_innocent(other) for other in others if other.known and not _within(other, others)]
    if innocent:
        sentences.append(f"Also fails {_either(innocent)}.")
    if unknown := [other for other in others if not other.known]:
        sentences.append(f"Undecided: it {_instead(unknown, verdict)}.")
    if ran and attribution.drawn > 1 and (blamed or innocent):
        sentences.append(_tries(attribution, [*conditions, *others], bool(blamed)))
    return " ".join(sentences)


def _of_others(attribution: Attribution, case: Case) -> str:
    """The other inputs that ``case`` was tried with, if it did not fail with each.

    The first of the draws is its own. Numbers that are few and short say little about others that
    are written out: the text names their kind.
    """
    tries = attribution.drawn - 1
    if attribution.failed == attribution.drawn or not tries:
        return ""
    written = [tensor for tensor in case.program.inputs if isinstance(tensor.fill, Literal)]
    short = case.regime == PLAIN["regime"] and any("float" in each.dtype for each in written)
    kind = f" ({SHORT})" if short else ""
    count = f"{attribution.failed - 1} of {tries} {'try' if tries == 1 else 'tries'}"
    return f"With other drawn inputs{kind} it failed in {count}."


def _tries(attribution: Attribution, conditions: Sequence[Condition], blamed: bool) -> str:
    """The draws of the inputs that ``conditions`` were tried with, some of them ``blamed``."""
    counts = {len(condition.verdicts) for condition in conditions}
    some = attribution.failed < attribution.drawn
    # Off values may be off with one draw for a reason that another draw does not need.
    end = "; with others it may fail too." if some and blamed else "."
    if counts != {attribution.failed}:
        least, most = min(counts), max(counts)
        number = str(most) if least == most else f"{least} to {most}"
        return f"Changes were tried with {number} draw{'s' * (most > 1)} of the inputs{end}"
    draws = f"{attribution.failed} draw{'s' * (attribution.failed > 1)} of the inputs"
    which = " that it fails with" if some else ""
    return f"Each change was tried with {draws}{which}{end}"


def in_tvms_terms(attribution: Attribution, case: Case) -> Attribution:
    """``attribution`` without what TVM's users do not see.

    That is the item that a program takes of a tuple, the attributes of a node that is no call of
    an operator, a shape that follows from other changes, a pass with nothing to do. A blamed dtype
    gets its siblings, and a symbol of a single call the shapes that have it.
    """
    calls = [node for node in case.program.nodes if form(node.operator) == "call"]
    seen = {name for node in calls for name in node.attributes} - {ITEM}
    hidden = {name for node in case.program.nodes for name in node.attributes} - seen
    conditions = []
    for condition in _with_siblings(attribution):
        shown = tuple(
            without_idle(difference, case.program)
            for difference in condition.differences
            if difference.what is not Aspect.ATTRIBUTE or difference.name not in hidden
        )
        others = tuple(each for each in shown if not isinstance(each.was, ShapeValue))
        if shown:
            conditions.append(replace(condition, differences=others or shown))
    result = replace(attribution, conditions=tuple(conditions), siblings=())
    # An expression that is named has a symbol.
    expressions = any(kind is Aspect.DIMENSION for each in conditions for kind, _ in each.named)
    return result if expressions or len(case.program.nodes) > 1 else _placed(result, case)


def _placed(attribution: Attribution, case: Case) -> Attribution:
    """``attribution`` with shapes for blamed symbols, where other dimensions might have them too.

    One symbolic dimension may fail where another one passes, or where it meets another's.
    """
    inputs = case.program.inputs
    blamed = {
        each.name
        for condition in attribution.blamed
        for each in attribution.needed(condition)
        if each.what is Aspect.SYMBOL
    }
    having = {
        name: [tensor for tensor in inputs if any(name in symbols(dim) for dim in tensor.shape)]
        for name in blamed
    }
    if sum(len(tensor.shape) for tensor in inputs) < 2 or not all(having.values()):
        return attribution
    named = [tensor for tensor in inputs if any(tensor in each for each in having.values())]
    if len(named) > _FEW_SHAPES:
        return attribution
    text = series([f"{tensor.name} of shape {shape_text(tensor.shape)}" for tensor in named])

    def placed(each: Difference) -> Difference:
        return replace(each, was=text) if each.what is Aspect.SYMBOL else each

    conditions = tuple(
        replace(condition, differences=tuple(map(placed, condition.differences)))
        for condition in attribution.conditions
    )
    return replace(attribution, conditions=conditions)


def _with_siblings(attribution: Attribution) -> list[Condition]:
    """The conditions, each blamed dtype or word with all that fail in its place."""
    alternatives: dict[frozenset[tuple[Aspect, str]], set[str]] = {}
    for sibling in attribution.siblings:
        alternatives.setdefault(sibling.named, set()).add(str(sibling.differences[0].to))

    def named(condition: Condition) -> Condition:
        others = alternatives.get(condition.named)
        if others is None:
            return condition
        first = condition.differences[0]
        if first.what is Aspect.ATTRIBUTE:
            alike = (str(first.was), *sorted(others))
            return replace(
                condition, differences=(replace(first, was=alike), *condition.differences[1:])
            )
        # Of inputs that differ each gets the same dtype instead.
        words = dtype_words({str(each.was) for each in condition.differences} | others)
        differences = tuple(replace(each, was=words) for each in condition.differences)
        return replace(condition, differences=differences)

    return [named(condition) for condition in attribution.conditions]


def innocent_operators(attribution: Attribution | None, case: Case) -> frozenset[str]:
    """The operators of ``case`` without which it fails all the same.

    Not those that are there several times: without one of them, another may be what it takes.
    """
    if attribution is None:
        return frozenset()
    counts = Counter(node.operator for node in case.program.nodes)
    return frozenset(
        name
        for condition in attribution.conditions
        if condition.alike and len(condition.named) == 1
        for aspect, name in condition.named
        if aspect is Aspect.NODE and counts[name] == 1
    )


def innocent_attributes(attribution: Attribution | None) -> frozenset[str]:
    """The attributes at whose default the program fails all the same."""
    return _innocent_alone(attribution, Aspect.ATTRIBUTE)


def innocent_axes(attribution: Attribution | None) -> frozenset[str]:
    """The axes at whose default the program fails all the same, those of every family too."""
    if attribution is None:
        return frozenset()
    alike = [condition for condition in attribution.conditions if condition.alike]
    dtypes = any(all(each.what is Aspect.DTYPE for each in other.differences) for other in alike)
    return _innocent_alone(attribution, Aspect.SETTING).union(
        (condition.axis for condition in alike), ["dtype"] * dtypes
    )


def has_magnitudes(attribution: Attribution | None) -> bool:
    """True if it is known from which values of the inputs on the program fails."""
    return attribution is not None and any(
        aspect is Aspect.VALUES
        for condition in attribution.conditions
        for aspect, _ in condition.named
    )


def innocent_shapes(attribution: Attribution | None) -> frozenset[str]:
    """The inputs at whose other size the program fails all the same."""
    return _innocent_alone(attribution, Aspect.SHAPE)


def _innocent_alone(attribution: Attribution | None, what: Aspect) -> frozenset[str]:
    """The names of what can be put back alone without a cure."""
    if attribution is None:
        return frozenset()
    return frozenset(
        name
        for condition in attribution.conditions
        if condition.alike and len(condition.named) == 1
        for aspect, name in condition.named
        if aspect is what
    )


def _attributes(condition: Condition) -> list[Difference]:
    return [
        difference for difference in condition.differences if difference.what is Aspect.ATTRIBUTE
    ]


def _needed(
    attribution: Attribution, condition: Condition, inputs: AbstractSet[str] = frozenset()
) -> list[str]:
    """The settings put back, as they are in the case that fails, without innocent ones."""
    needed = replace(condition, differences=attribution.needed(condition))
    return _listed(needed, "was", inputs)


def _innocent(condition: Condition) -> str:
    count = len(condition.verdicts)
    some = "" if condition.alike == count else f" (with {condition.alike} of the {count} draws)"
    return f"{_with(condition)}{some}"


def _within(condition: Condition, others: Sequence[Condition]) -> bool:
    """True if one of ``others`` changes more, and fails all the same every time."""
    return any(
        condition.named < other.named and other.alike == len(other.verdicts) for other in others
    )


def _instead(conditions: Sequence[Condition], verdict: Verdict | None) -> str:
    """The outcomes of putting each of ``conditions`` back: ``passes without groups``."""
    by_outcome: dict[str, list[str]] = {}
    for condition in conditions:
        does = "passes" if condition.passes else _does(condition, verdict)
        by_outcome.setdefault(does, []).append(_with(condition))
    return "; ".join(f"{does} {_either(ways)}" for does, ways in by_outcome.items())


def _does(condition: Condition, verdict: Verdict | None) -> str:
    """The program's behaviour instead, where that is not to pass."""
    verdicts = {each for each in condition.verdicts if each is not Verdict.PASS}
    words = {**DOES, Verdict.UNSUPPORTED: f"{DOES[Verdict.UNSUPPORTED]},"}
    if verdict is Verdict.WRONG_VALUE:
        words[verdict] = "gives other wrong values"
    if verdict in ERRORS:
        words |= _OTHER
    elif verdict is Verdict.PROCESS_DEATH:
        words[verdict] = "kills the process in another way"
    return " or ".join(sorted({words[each] for each in verdicts}))


def _with(condition: Condition) -> str:
    return _phrase(_listed(condition, "to"))


def _either(texts: Sequence[str]) -> str:
    return ", or ".join(texts)


def _phrase(texts: Sequence[str]) -> str:
    """``texts`` with their prepositions: settings first, then what is there, then what is not."""
    own = [text for text in texts if not text.startswith((TOGETHER, _WITHOUT))]
    phrase = f"with {series(own)}" if own else ""
    for preposition, joint in ((TOGETHER, ", "), (_WITHOUT, " and ")):
        names = [text.removeprefix(preposition) for text in texts if text.startswith(preposition)]
        if names:
            phrase += f"{joint if phrase else ''}{preposition}{series(names)}"
    return phrase


def _listed(condition: Condition, side: str, inputs: AbstractSet[str] = frozenset()) -> list[str]:
    """Its differences, those of dtypes that are alike together; of all ``inputs`` without names."""
    parts: dict[str, None] = {}
    other = any(not isinstance(difference.was, ShapeValue) for difference in condition.differences)
    kinds = {difference.what for difference in condition.differences}
    for difference in condition.differences:
        # The shapes of the case that fails are its own; those of another call are part of it.
        if side == "was" and difference.what is Aspect.SHAPE and kinds != {Aspect.SHAPE}:
            continue
        # A shape that a call names follows from the other changes.
        if other and isinstance(difference.was, ShapeValue):
            continue
        alike = [
            other.name
            for other in condition.differences
            if difference.what is Aspect.DTYPE is other.what
            and getattr(other, side) == getattr(difference, side)
        ]
        names = "" if inputs and inputs <= set(alike) else f"{', '.join(alike)} "
        dtypes = f"{names}in {getattr(difference, side)}"
        parts[dtypes if alike else side_text(difference, side)] = None
    return list(parts)
