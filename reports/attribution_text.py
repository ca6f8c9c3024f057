"""What a failure is due to, in TVM's own words: attributes, dtypes, symbolic dimensions, passes."""

from collections import Counter
from collections.abc import Mapping

from msgspec.structs import replace

from generators.program import Attribute, Case
from harness.attribution import Attribution, Condition, Difference, What
from harness.outcome import Verdict
from harness.pipelines import PIPELINES
from harness.plain import DOES
from harness.reduction.search import RUNNING
from oracles.pytorch_source import telling
from reports.python_source import attribute_text

_PLAIN_BUILD = "relax.build alone"

_INPUTS = {
    "normal": "ordinary inputs",
    "exact": "inputs that are small integers",
    "boundary": "inputs of very different magnitudes",
    "special": "inputs with NaN, infinities and the like",
}
"""How inputs are drawn, by regime."""


def settings_text(attribution: Attribution) -> str:
    """What the failure is due to, as a list; empty where nothing is known to be."""
    named = dict.fromkeys(_needed(attribution, one) for one in attribution.blamed)
    return ", ".join(named)


def attribution_text(attribution: Attribution, case: Case, stage: str | None) -> str:
    """What was tried of ``case`` and seen, in a few sentences; empty where nothing was.

    ``stage`` is the one that it fails in: inputs are told of only where there were any. What is at
    TVM's default already, though it is written out, goes without saying.
    """
    if not attribution.conditions:
        return ""
    said = []
    runs = "inputs" if stage in RUNNING else "runs"
    if attribution.failed < attribution.drawn:
        said.append(
            f"It fails in this way with {attribution.failed} of the {attribution.drawn} {runs} "
            "that were tried."
        )
    blamed = settings_text(attribution)
    if blamed:
        said.append(f"As far as was tried, it takes {blamed}:")
        said.append("; ".join(_seen(one, runs) for one in attribution.blamed) + ".")
    told = {name for node in case.program.nodes for name in telling(node)}
    others = [
        one
        for one in attribution.conditions
        if not one.holds
        and (not _attributes(one) or any(each.name in told for each in _attributes(one)))
    ]
    if innocent := [_innocent(one, runs) for one in others if one.known]:
        said.append(f"It fails all the same {'; '.join(innocent)}.")
    if unknown := [_unknown(one) for one in others if not one.known]:
        said.append(f"It cannot be told whether it takes the rest: {'; '.join(unknown)}.")
    return " ".join(said)


def innocent_operators(attribution: Attribution | None, case: Case) -> frozenset[str]:
    """The operators of ``case`` without which it fails all the same.

    Not those that are there several times: without one of them, another may be what it takes.
    """
    if attribution is None:
        return frozenset()
    counts = Counter(node.operator for node in case.program.nodes)
    return frozenset(
        name
        for one in attribution.conditions
        if one.alike and len(one.named) == 1
        for what, name in one.named
        if what is What.NODE and counts[name] == 1
    )


def _attributes(condition: Condition) -> list[Difference]:
    return [one for one in condition.differences if one.what is What.ATTRIBUTE]


def _needed(attribution: Attribution, condition: Condition) -> str:
    """The setting that was put back, as it is in the case that fails, without what is innocent."""
    return _listed(replace(condition, differences=attribution.needed(condition)), "was")


def _innocent(condition: Condition, runs: str) -> str:
    count = len(condition.verdicts)
    some = "" if condition.alike == count else f" ({condition.alike} of {count} {runs})"
    return f"{_with(condition)}{some}"


def _seen(condition: Condition, runs: str) -> str:
    """What came of putting it back."""
    count = len(condition.verdicts)
    inputs = f" ({count} input{'s' if count > 1 else ''})" if runs == "inputs" else ""
    if condition.passes:
        return f"{_with(condition)} it passes{inputs}"
    return f"{_with(condition)} it does not fail in this way, but {_does(condition)}{inputs}"


def _unknown(condition: Condition) -> str:
    return f"{_with(condition)} it {_does(condition)}"


def _does(condition: Condition) -> str:
    """What it does instead, where that is not to pass."""
    return " or ".join(sorted({DOES[one] for one in condition.verdicts if one is not Verdict.PASS}))


def _with(condition: Condition) -> str:
    return f"with {_listed(condition, 'to')}"


def _listed(condition: Condition, side: str) -> str:
    """Its differences, those of dtypes that are alike together."""
    parts: dict[str, None] = {}
    for one in condition.differences:
        alike = [
            other.name
            for other in condition.differences
            if one.what is What.DTYPE is other.what and getattr(other, side) == getattr(one, side)
        ]
        parts[f"{', '.join(alike)} in {getattr(one, side)}" if alike else _said(one, side)] = None
    return " and ".join(parts)


def _said(one: Difference, side: str) -> str:
    """It as it ``was``, or as it was put ``to``."""
    value = getattr(one, side)
    match one.what:
        case What.ATTRIBUTE:
            return _attribute(one.name, value)
        case What.SYMBOL:
            return f"symbolic {one.name}" if value else f"{one.name} static"
        case What.NODE:
            return f"together with {one.name}" if value else f"no {one.name}"
        case What.CONSTANT:
            return f"constant {one.name}" if value else f"{one.name} given at run time"
        case What.SHAPE:
            return f"{one.name} of shape {value}"
    return _setting(one.name, value)


def _attribute(name: str, value: Attribute) -> str:
    return f"no {name}" if value is None else f"{name}={attribute_text(value)}"


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
