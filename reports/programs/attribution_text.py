"""The causes of a failure in TVM's own terms: attributes, dtypes, symbolic dimensions, passes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from relaxcheck.generators.calls import telling
from relaxcheck.generators.core.program import Attribute, Case, ShapeValue
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Condition, Difference
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.plain import DOES
from relaxcheck.harness.programs.pipelines import PIPELINES
from relaxcheck.harness.triage.reduction.search import RUNNING
from relaxcheck.reports.programs.python_source import attribute_text

_PLAIN_BUILD = "relax.build alone"

_INPUTS = {
    "normal": "ordinary inputs",
    "exact": "inputs that are small integers",
    "boundary": "inputs of very different magnitudes",
    "special": "inputs with NaN, infinities and the like",
}
"""How inputs are drawn, by regime."""


def settings(attribution: Attribution, inputs: AbstractSet[str] = frozenset()) -> list[str]:
    """The settings that the failure is due to, each condition in words.

    A dtype that all ``inputs`` have is named without their names.
    """
    return [" and ".join(_needed(attribution, each, inputs)) for each in attribution.blamed]


def attribution_text(
    attribution: Attribution, case: Case, stage: str | None, about: Sequence[str] = ()
) -> str:
    """Trials of ``case`` and their outcomes, in a few sentences; empty where there were none.

    ``stage`` is the one that it fails in: inputs are mentioned only where there were any. Settings
    at TVM's default are left out, also where the case writes them out. That it does not fail
    without an operator that it is ``about`` goes without saying.
    """
    if not attribution.conditions:
        return ""
    sentences = []
    runs = "inputs" if stage in RUNNING else "runs"
    if attribution.failed < attribution.drawn:
        sentences.append(
            f"Fails in this way with {attribution.failed} of the {attribution.drawn} {runs} tried."
        )
    conditions = [
        condition
        for condition in attribution.blamed
        if not condition.named <= {(Aspect.NODE, name) for name in about}
    ]
    blamed = dict.fromkeys(text for each in conditions for text in _needed(attribution, each))
    if blamed:
        seen = "; ".join(_seen(condition, runs) for condition in conditions)
        sentences.append(f"Fails {_phrase(list(blamed))}; {seen}.")
    names = {name for node in case.program.nodes for name in telling(node)}
    others = [
        condition
        for condition in attribution.conditions
        if not condition.holds
        # That it fails at other sizes, too, is no news.
        and any(difference.what is not Aspect.SHAPE for difference in condition.differences)
        # To a maintainer, several of our pipelines are one.
        and _listed(condition, "was") != _listed(condition, "to")
        and (
            not _attributes(condition) or any(each.name in names for each in _attributes(condition))
        )
    ]
    if innocent := [_innocent(other, runs) for other in others if other.known]:
        sentences.append(f"Also fails {'; '.join(innocent)}.")
    if unknown := [_unknown(other) for other in others if not other.known]:
        sentences.append(f"Undecided: {'; '.join(unknown)}.")
    return " ".join(sentences)


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
    if attribution is None:
        return frozenset()
    return frozenset(
        name
        for condition in attribution.conditions
        if condition.alike and len(condition.named) == 1
        for aspect, name in condition.named
        if aspect is Aspect.ATTRIBUTE
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


def _innocent(condition: Condition, runs: str) -> str:
    count = len(condition.verdicts)
    some = "" if condition.alike == count else f" ({condition.alike} of {count} {runs})"
    return f"{_with(condition)}{some}"


def _seen(condition: Condition, runs: str) -> str:
    """The outcome of putting it back."""
    count = len(condition.verdicts)
    inputs = f" ({count} input{'s' if count > 1 else ''})" if runs == "inputs" else ""
    if condition.passes:
        return f"passes {_with(condition)}{inputs}"
    return f"{_does(condition)} {_with(condition)}{inputs}"


def _unknown(condition: Condition) -> str:
    return f"{_does(condition)} {_with(condition)}"


def _does(condition: Condition) -> str:
    """The program's behaviour instead, where that is not to pass."""
    return " or ".join(
        sorted({DOES[verdict] for verdict in condition.verdicts if verdict is not Verdict.PASS})
    )


def _with(condition: Condition) -> str:
    return _phrase(_listed(condition, "to"))


def _phrase(texts: Sequence[str]) -> str:
    """``texts`` with their prepositions: what is there first, then what is not."""
    own = [text for text in texts if text.startswith(("without ", "together with "))]
    others = [text for text in texts if text not in own]
    return " and ".join([*([f"with {' and '.join(others)}"] if others else []), *own])


def _listed(condition: Condition, side: str, inputs: AbstractSet[str] = frozenset()) -> list[str]:
    """Its differences, those of dtypes that are alike together; of all ``inputs`` without names."""
    parts: dict[str, None] = {}
    symbolic = any(difference.what is Aspect.SYMBOL for difference in condition.differences)
    for difference in condition.differences:
        # A shape that a call names follows from the symbols.
        if symbolic and isinstance(difference.was, ShapeValue):
            continue
        alike = [
            other.name
            for other in condition.differences
            if difference.what is Aspect.DTYPE is other.what
            and getattr(other, side) == getattr(difference, side)
        ]
        names = "" if inputs and inputs <= set(alike) else f"{', '.join(alike)} "
        dtypes = f"{names}in {getattr(difference, side)}"
        parts[dtypes if alike else _side_text(difference, side)] = None
    return list(parts)


def _side_text(difference: Difference, side: str) -> str:
    """It as it ``was``, or as it was put ``to``."""
    value = getattr(difference, side)
    match difference.what:
        case Aspect.ATTRIBUTE:
            return _attribute(difference.name, value)
        case Aspect.SYMBOL:
            return f"symbolic {difference.name}" if value else f"{difference.name} static"
        case Aspect.NODE:
            return f"together with {difference.name}" if value else f"without {difference.name}"
        case Aspect.CONSTANT:
            return (
                f"constant {difference.name}" if value else f"{difference.name} given at run time"
            )
        case Aspect.SHAPE:
            return f"{difference.name} of shape {value}"
    return _setting(difference.name, value)


def _attribute(name: str, value: Attribute) -> str:
    return f"without {name}" if value is None else f"{name}={attribute_text(value)}"


def _setting(name: str, value: object) -> str:
    words: Mapping[str, str] = {
        "exec_mode": f'exec_mode="{value}"',
        "opt_level": f"LLVM's opt-level {value}",
        "regime": _INPUTS.get(str(value), str(value)),
    }
    if name != "pipeline":
        return words[name]
    pipeline = PIPELINES[str(value)]
    if pipeline.before:
        return ", ".join(pipeline.before)
    return "relax.get_default_pipeline" if pipeline.relax_pipeline == "target" else _PLAIN_BUILD
