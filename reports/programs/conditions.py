"""Conditions of a failure in words, for its title: settings, attributes, axes, inputs."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.extensions.naming import is_own
from relaxcheck.generators import families
from relaxcheck.generators.calls import form, telling
from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.fills.kinds import Literal, Random
from relaxcheck.generators.core.program import ITEM, ORDINARY_REGIMES, Case, ShapeValue
from relaxcheck.harness.compiling.pipelines import PIPELINES, steps_before, steps_of
from relaxcheck.harness.outcomes.attribution import Aspect, Attribution, Difference
from relaxcheck.harness.programs.attribution.magnitudes import EXTREMES
from relaxcheck.harness.programs.reproduction import Reproduction, Run, Way
from relaxcheck.harness.wording import series
from relaxcheck.reports.programs.attribution_text import (
    TOGETHER,
    has_magnitudes,
    in_tvms_terms,
    innocent_attributes,
    innocent_axes,
    innocent_shapes,
    settings,
)
from relaxcheck.reports.programs.difference_text import EXPRESSION, with_shown
from relaxcheck.reports.programs.python.source import attribute_text, shape_text

_SHAPED = re.compile(r"(\w+) of shape (\((?:[^()]|\([^()]*\))*\))")
"""An input in words, with its shape, in which expressions have brackets too."""

_ALONG = ("axis=", "axes=")
"""The start of the words of an attribute that names axes."""

_UNUSUAL_VALUES: Mapping[str, Callable[[str], str]] = {
    "dtype": str,
    "opt_level": "LLVM level {}".format,
    "exec_mode": "{} mode".format,
    "target": "target {}".format,
    "context": "PassContext: {}".format,
}
"""The words of axes that every family has."""


def conditions_of(
    repro: Reproduction,
    attribution: Attribution | None,
    blame: Mapping[str, str],
    named: Sequence[str],
) -> list[str]:
    """As ``_conditions_of``; a target other than LLVM's, which no reduction took away, is first."""
    texts = _conditions_of(repro, attribution, blame, named)
    if repro.case.target is UNSET:
        return texts
    own = f"target {repro.case.target}"
    return [own, *(text for text in texts if text != own)]


def _conditions_of(
    repro: Reproduction,
    attribution: Attribution | None,
    blame: Mapping[str, str],
    named: Sequence[str],
) -> list[str]:
    """The conditions of a failure, the best known ones: of these none that does not matter.

    Settings known to be to blame come first; else the axes that a campaign blames; else the
    attributes that are not at TVM's default, and the passes that run first; else any unusual
    trait. Where settings were tried and none is to blame, they come before axes without words of
    their own. ``named`` operators are in the title already.
    """
    if settled := blamed(repro, attribution, named):
        # Where an input without elements is to blame, no other is.
        if any(_is_empty(text) for text in settled):
            return settled
        # Along one axis only some shapes fail.
        along = all(text.startswith(_ALONG) for text in settled)
        shapes = _worded(repro, blame, attribution) if along else []
        return [*settled, *shapes, *_empty(repro, innocent_shapes(attribution))]
    innocent = innocent_axes(attribution)
    blame = {axis: value for axis, value in blame.items() if axis not in innocent}
    axes, others = _axes(repro, blame), _settings(repro, attribution, blame)
    if attribution is not None and not any(_own_words(repro, *item) for item in blame.items()):
        axes, others = others, axes
    # Reduction leaves no size at 0 where another one will do, unless that program is larger.
    empty = _empty(repro, innocent_shapes(attribution))
    if not axes and not others:
        return [*_symbolic(repro), *empty]
    # A length of 0 that is named is the reason that inputs are empty.
    named_already = any(text.endswith(" 0") for text in axes)
    return [*(axes or others), *([] if named_already else empty)]


def _worded(
    repro: Reproduction, blame: Mapping[str, str], attribution: Attribution | None
) -> list[str]:
    """The axes that a campaign blames and that have words of their own, but for innocent ones."""
    innocent = innocent_axes(attribution)
    words = (_own_words(repro, *item) for item in blame.items() if item[0] not in innocent)
    return list(filter(None, words))


def blamed(repro: Reproduction, attribution: Attribution | None, named: Sequence[str]) -> list[str]:
    """The settings that the failure is due to, but for operators that are ``named`` already."""
    if attribution is None:
        return []
    every = {tensor.name for tensor in repro.case.program.inputs}
    attribution = in_tvms_terms(with_inputs(attribution, repro), repro.case)
    texts = settings(attribution, every)
    others = [
        _SHAPED.sub(lambda match: _shaped(repro, match[1], match[2]), text)
        for text in texts
        if not text.startswith(TOGETHER)
    ]
    # An expression has a symbol, which says nothing where the symbol by itself passes.
    expressions = [text for text in others if text.startswith(EXPRESSION)]
    others = [text for text in others if not (expressions and text.startswith("symbolic "))]
    # Operators that are needed, each by itself, are one list.
    beside = dict.fromkeys(
        name
        for text in texts
        if text.startswith(TOGETHER)
        for name in re.split(", | and ", text.removeprefix(TOGETHER))
        if name not in named
    )
    return [*dict.fromkeys(others), *([f"{TOGETHER}{series([*beside])}"] if beside else [])]


def attributes_of(repro: Reproduction, without: frozenset[str] = frozenset()) -> list[str]:
    """Attributes off TVM's default, in its terms.

    A shape that a call has to name is none that may matter; nor is the item that a program takes
    of a tuple, which is no attribute of TVM's.
    """
    return list(
        dict.fromkeys(
            f"{name}={attribute_text(value)}"
            for node in repro.case.program.nodes
            if form(node.operator) == "call"
            for name, value in telling(node).items()
            if name != ITEM and name not in without and not isinstance(value, ShapeValue)
        )
    )


def values_of(repro: Reproduction, attribution: Attribution | None) -> list[str]:
    """Symbols that are 0, and unusual inputs (NaN, infinite, huge, tiny), where outputs are wrong.

    Reduction binds no symbol to 0 where another size will do. Inputs are left out where others fail
    as well.
    """
    if repro.way is not Way.VALUES:
        return []
    run = repro.runs[0]
    zeros = [f"{name} = 0" for name, size in run.binding.items() if size == 0]
    usual = (
        run.regime in ORDINARY_REGIMES
        or "regime" in innocent_axes(attribution)
        or has_magnitudes(attribution)
    )
    unusual = "" if usual else _unusual(run)
    return zeros + ([unusual] if unusual else [])


def with_inputs(attribution: Attribution, repro: Reproduction) -> Attribution:
    """``attribution`` with the inputs of the script in the place of how they were drawn.

    A reader sees those of the script, and not the mildest that fail.
    """
    if not repro.runs:
        return attribution
    words = _unusual(repro.runs[0])
    drawn = [
        repro.runs[0].inputs[tensor.name].astype("float64").ravel()
        for tensor in repro.case.program.inputs
        if tensor.dtype != "bool" and isinstance(tensor.fill, Random | Literal)
    ]
    values = np.concatenate([np.empty(0), *drawn])
    values = values[~np.isnan(values)]

    def named(each: Difference) -> Difference:
        if each.what is Aspect.VALUES and each.name in EXTREMES and values.any():
            return with_shown(each, EXTREMES[each.name](values))
        regime = each.what is Aspect.SETTING and each.name == "regime"
        return replace(each, was=words) if regime and words else each

    conditions = tuple(
        replace(condition, differences=tuple(map(named, condition.differences)))
        for condition in attribution.conditions
    )
    return replace(attribution, conditions=conditions)


def _unusual(run: Run) -> str:
    """The values of ``run`` that ordinary inputs do not have, in words; empty if none is."""
    return _no_numbers(run) or _magnitudes(run) or _limits(run)


def _limits(run: Run) -> str:
    """The dtypes whose largest or, below 0, lowest integer is in ``run``, in words."""
    dtypes = [
        str(array.dtype)
        for array in run.inputs.values()
        if array.dtype.kind in "iu"
        and np.isin(array, [limit for limit in _bounds(array.dtype) if limit]).any()
    ]
    return f"inputs at the limits of {series([*dict.fromkeys(dtypes)])}" if dtypes else ""


def _bounds(dtype: np.dtype[np.integer]) -> tuple[int, int]:
    """The lowest and the highest integer of ``dtype``."""
    limits = np.iinfo(dtype)
    return int(limits.min), int(limits.max)


def _no_numbers(run: Run) -> str:
    """The inputs of ``run`` that are no numbers, in words; empty if there are none."""
    # float64 holds every value of the other dtypes that is no number.
    values = [array.astype("float64") for array in run.inputs.values()]
    known = {
        "NaN": any(np.isnan(each).any() for each in values),
        "inf": any(np.isposinf(each).any() for each in values),
        "-inf": any(np.isneginf(each).any() for each in values),
    }
    present = [name for name, seen in known.items() if seen]
    return f"inputs with {', '.join(present)}" if present else ""


def _magnitudes(run: Run) -> str:
    """The magnitudes of ``run`` that ordinary inputs do not have, in words; empty if none is."""
    floats = [array for array in run.inputs.values() if array.dtype.kind not in "biu"]
    values = np.concatenate([np.empty(0), *(each.astype("float64").ravel() for each in floats)])
    small = np.abs(values[(values != 0) & (np.abs(values) < 2.0**-11)])
    texts = [f"as large as {values.max():.3g}"] if (values > 2).any() else []
    texts += [f"as low as {values.min():.3g}"] if (values < -2).any() else []
    texts += [f"as small as {small.min():.2g}"] if small.size else []
    return f"inputs {' and '.join(texts)}" if texts else ""


def _settings(
    repro: Reproduction, attribution: Attribution | None, blame: Mapping[str, str]
) -> list[str]:
    """The attributes that are not at TVM's default, and the passes before ``relax.build``.

    An attribute that its own axis has at the default is not to blame, if a campaign blames others.
    """
    innocent = innocent_attributes(attribution)
    if blame:
        innocent |= _at_default(repro.case)
    case = repro.case
    return [*attributes_of(repro, innocent), *steps_of(case)]


def _axes(repro: Reproduction, blame: Mapping[str, str]) -> list[str]:
    """The axes that a campaign blames, in words, each once."""
    return list(dict.fromkeys(text for item in blame.items() for text in _axis(repro, *item)))


def _axis(repro: Reproduction, axis: str, value: str) -> Iterator[str]:
    """An axis in words: its own, those of every family, the attribute that it sets.

    The sizes of a symbolic axis are named by ``values_of``. Of a rank there is nothing to say that
    the program does not show.
    """
    if axis in _words(repro):
        yield from filter(None, [_own_words(repro, axis, value)])
    elif axis in _UNUSUAL_VALUES:
        yield _UNUSUAL_VALUES[axis](value)
    elif axis == "pipeline" and is_own(value):
        yield value
    elif axis == "pipeline":
        yield from steps_before(value, repro.case.program) if value in PIPELINES else ()
    elif axis.split(".")[0] == "symbolic":
        yield from (f"symbolic {name}" for name in repro.case.program.symbols)
    else:
        name = axis.split(".")[0]
        yield from (text for text in attributes_of(repro) if text.startswith(f"{name}="))


def _at_default(case: Case) -> frozenset[str]:
    """The axes of ``case`` that are at their default, where each sets the attribute of its name."""
    family = _by_name().get(case.family)
    if family is None or case.at is UNSET:
        return frozenset()
    # The axis of that name is the dtype of the operands.
    own = (axis for axis in family.axes if axis.name != "dtype")
    return frozenset(
        axis.name for axis in own if case.at.get(axis.name, axis.default) == axis.default
    )


@cache
def _by_name() -> dict[str, Family]:
    """Every family of programs, by name."""
    return {family.name: family for family in families.every(tuple(PIPELINES))}


@cache
def _axis_words() -> dict[str, dict[str, str]]:
    """The words of each axis that has some, by family."""
    return {
        name: {axis.name: axis.words for axis in family.axes if axis.words}
        for name, family in _by_name().items()
    }


def _own_words(repro: Reproduction, axis: str, value: str) -> str:
    """The words that the record has for ``axis`` at ``value``; empty where it has none."""
    words = _words(repro).get(axis, "")
    case = repro.case
    shapes = {tensor.name: shape_text(tensor.shape) for tensor in case.program.inputs}
    try:
        text = words.format(value, *shapes.values())
    except IndexError:
        # A reduction took away inputs whose shapes the words have.
        return ""
    # Of a switch the words say that it is on.
    return text if text != words or value == str(True) else ""


def _words(repro: Reproduction) -> Mapping[str, str]:
    """The words of the axes of the case's family that have some."""
    return _axis_words().get(repro.case.family, {})


def _symbolic(repro: Reproduction) -> list[str]:
    """The symbolic dimensions of a program's inputs.

    No dtypes: that they matter, only attribution can tell.
    """
    return [f"symbolic {name}" for name in repro.case.program.symbols]


def _empty(repro: Reproduction, without: frozenset[str]) -> list[str]:
    """The inputs without elements, but for those ``without`` which it fails as well."""
    inputs = repro.case.program.inputs
    empty = [tensor for tensor in inputs if 0 in tensor.shape]
    if len(inputs) == 1 and without:
        return []
    return [
        _shaped(repro, tensor.name, shape_text(tensor.shape))
        for tensor in empty
        if tensor.name not in without
    ]


def _shaped(repro: Reproduction, name: str, shape: str) -> str:
    """The input ``name`` of ``shape`` in words: which dimension is 0 may matter, if it has more."""
    alone = len(repro.case.program.inputs) == 1
    if shape == "(0,)":
        return "empty input" if alone else f"empty {name}"
    return f"{'input' if alone else name} of shape {shape}"


def _is_empty(text: str) -> bool:
    """True of inputs in words, some of which has no elements."""
    shapes = [match[2].strip("()") for match in _SHAPED.finditer(text)]
    return "empty " in text or any("0" in re.split(r", ?", shape) for shape in shapes)
