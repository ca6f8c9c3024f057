"""One difference between two cases in words: a setting as it was, or as it was put back."""

from collections.abc import Mapping, Sequence

import ml_dtypes
import numpy as np
from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.generators.core.axes import PIPELINE
from relaxcheck.generators.core.program import DTYPES, Attribute, Program, ShapeValue
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.compiling.pipelines import PIPELINES, Pipeline, pipeline_of, steps_before
from relaxcheck.harness.outcomes.attribution import Aspect, Difference
from relaxcheck.harness.programs.attribution.magnitudes import before_largest
from relaxcheck.reports.programs.python.source import attribute_text, shape_text

_PLAIN_BUILD = "relax.build alone"

SHORT = "multiples of 1/2048 from -2 to 2"
"""The numbers of ordinary inputs, which float32 and more hold exactly."""

_INPUTS = {
    "normal": f"inputs that are {SHORT}",
    "exact": "inputs that are small integers",
    "moderate": "inputs of moderate magnitudes",
    "boundary": "inputs of other magnitudes",
    "ordinary": "other inputs between -2 and 2",
    "range": "inputs of all magnitudes",
    "special": "NaN, infinities and the like among the inputs",
}
"""How inputs are drawn, by regime."""

_VALUES = {
    "large": {"was": "as large as {}", "to": "up to {}"},
    "low": {"was": "as low as {}", "to": "down to {}"},
    "small": {"was": "as small as {}", "to": "no closer to 0 than {}"},
    # The integer itself differs with the dtype, which may be any of several.
    "lowest": {
        "was": "that are all the lowest integer of their dtype",
        "to": "that are all {}",
    },
    "highest": {
        "was": "that are all the highest integer of their dtype",
        "to": "that are all {}",
    },
    "largest": {"was": "that are all {}the largest {}", "to": "that are all {}"},
    "least": {"was": "that are all {}the lowest {}", "to": "that are all {}"},
}
"""Values of inputs, by kind, as they are in the case that fails, and put back."""

_INTEGERS = frozenset({"lowest", "highest"})
"""The kinds that are of integers, whose digits count."""

_FLOATS = frozenset({"largest", "least"})
"""The kinds that are of the largest floats, or infinite."""

_LARGEST = {name: float(ml_dtypes.finfo(name).max) for name in DTYPES if "float" in name}

EXPRESSION = "a dimension written "

UNUSUAL_INPUTS = _INPUTS["special"]


def side_text(difference: Difference, side: str) -> str:
    """``difference`` in words on one ``side``: as it ``was``, or as it was put ``to``."""
    value = getattr(difference, side)
    match difference.what:
        case Aspect.ATTRIBUTE:
            return _attribute(difference.name, value)
        case Aspect.SYMBOL:
            if isinstance(value, int) and not isinstance(value, bool):
                return f"a static {difference.name} of {value}"
            if isinstance(value, str):
                # An input that has the symbol, with its shape.
                return value
            return f"symbolic {difference.name}" if value else f"{difference.name} static"
        case Aspect.DIMENSION:
            return f"{EXPRESSION}{value}" if side == "was" else f"{value} in its place"
        case Aspect.DEFAULT:
            default = "the default " if side == "was" and value is not None else ""
            return f"{default}{_attribute(difference.name, value)}"
        case Aspect.OPERANDS:
            return f"a tuple of {value} tensor{'' if value == 1 else 's'}"
        case Aspect.ITEM:
            return f"item {value} of the tuple"
        case Aspect.NODE:
            return f"together with {difference.name}" if value else f"without {difference.name}"
        case Aspect.CONSTANT:
            return (
                f"constant {difference.name}" if value else f"{difference.name} given at run time"
            )
        case Aspect.SHAPE:
            return f"{difference.name} of shape {value}"
        case Aspect.INPUT:
            return difference.name if value else f"without {difference.name}"
        case Aspect.VALUES:
            if difference.name in _FLOATS:
                return _at_largest(difference, side)
            number = _number(difference.name, value)
            return f"inputs {_VALUES[difference.name][side].format(number)}"
    return _setting(difference.name, value)


def with_shown(difference: Difference, shown: float) -> Difference:
    """``difference`` of values with the one that a script has: ``shown``, which fails as well.

    The mildest that failed is named beside those that pass.
    """
    mildest, to = difference.was, difference.to
    assert isinstance(mildest, float)
    further = {"large": shown > mildest, "low": shown < mildest, "small": shown < mildest}
    texts = [_number(difference.name, value) for value in (mildest, to, shown)]
    if not further.get(difference.name) or texts[0] == texts[2]:
        return difference
    passing = f"{texts[1]} (of those tried, {texts[0]} is the mildest that fails)"
    return replace(difference, was=shown, to=passing)


def _at_largest(difference: Difference, side: str) -> str:
    """In words that every element is infinite or the largest number, or is the one before it."""
    to = difference.to
    assert isinstance(to, float)
    dtype = next(name for name in _LARGEST if before_largest(name) == abs(to))
    words = _VALUES[difference.name][side]
    if side == "to":
        return f"inputs {words.format(str(np.dtype(dtype).type(to)))}"
    infinite = f"{difference.was} or " if isinstance(difference.was, str) else ""
    return f"inputs {words.format(infinite, dtype)}"


def _number(kind: str, value: object) -> str:
    """``value`` with three digits, and the dtype that it is the largest of; all of an integer.

    What is in words already stays.
    """
    if isinstance(value, str):
        return value
    assert isinstance(value, float)
    if kind in _INTEGERS:
        return str(int(value))
    dtype = next((name for name, most in _LARGEST.items() if abs(value) == most), "")
    return f"{value:.3g}" + (f" (the limit of {dtype})" if dtype else "")


def _attribute(name: str, value: Attribute) -> str:
    if isinstance(value, tuple) and all(isinstance(word, str) for word in value) and value:
        *others, last = map(attribute_text, value)
        return f"{name}={', '.join(others)} or {last}" if others else f"{name}={last}"
    if isinstance(value, ShapeValue) and all(isinstance(dim, int) for dim in value.dims):
        return f"{name}={shape_text(value.dims)}"
    return f"without {name}" if value is None else f"{name}={attribute_text(value)}"


def _setting(name: str, value: object) -> str:
    words: Mapping[str, str] = {
        "target": f"target {LLVM if value is UNSET else value}",
        "exec_mode": f'exec_mode="{value}"',
        "context": f"a PassContext of {value}",
        "opt_level": f"LLVM's opt-level {value}",
        "regime": _INPUTS.get(str(value), str(value)),
    }
    if name != PIPELINE:
        return words[name]
    pipeline = PIPELINES.get(str(value))
    return str(value) if pipeline is None else _pipeline(pipeline, pipeline.before)


def without_idle(difference: Difference, program: Program) -> Difference:
    """``difference``; of pipelines in words, without the passes that do nothing to ``program``."""
    if difference.what is not Aspect.SETTING or difference.name != PIPELINE:
        return difference
    was, to = (
        _pipeline(pipeline_of(name), steps_before(name, program))
        for name in (str(difference.was), str(difference.to))
    )
    return replace(difference, was=was, to=to)


def _pipeline(pipeline: Pipeline, before: Sequence[str]) -> str:
    if before or pipeline.own:
        return ", ".join(before) or pipeline.own
    return "relax.get_default_pipeline" if pipeline.relax_pipeline == "target" else _PLAIN_BUILD
