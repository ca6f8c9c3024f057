"""How far TVM's values are off, as a multiple of the framework's own error.

The *ratio* is the largest error of TVM's value over that of the framework's, both against float64.
The framework's error counts as at least one unit in the last place of the largest value. The error
of integers is the number of elements that differ; where the framework is exact, TVM has to be.
Shape, dtype, and the places of NaN and infinities have to be the framework's.
"""

from dataclasses import dataclass

import numpy as np

from relaxcheck.generators.core.values import Array

MODEL_LIMIT = 20.0
"""The ratio from which on an output of a model is wrong.

Of 43 models of ``tests/zoo`` on TVM 0.27, through both importers, with fixed and symbolic shapes,
271 right results had a median ratio of 1.2 and at most 2.6; wrong ones had at least 2e5. Checks of
17 of them by this command, on drawn inputs, gave a median of 1.06 and at most 3.05.
"""

STEP_LIMIT = 10.0
"""The ratio from which on a single step is wrong, whose operands are the framework's.

Of the right steps of ten of these models, compiled by the fusing pipeline, 99 % were below 1.4, and
the largest ratio was 4.02, of an instance normalization.
"""

_WIDE_UNIT = 2.0**-46
"""The least error of float64, relative to the largest value: nothing wider measures it, and sums of
other orders differ by many units."""

_INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Measured:
    """A value of TVM's against the framework's.

    ``error`` is TVM's largest one and ``own`` the framework's, both against float64; ``scale`` is
    the largest finite value. ``difference`` says in words what no ratio can say: another shape or
    dtype, integers that differ, lost or new NaN.
    """

    ratio: float
    error: float = 0.0
    own: float = 0.0
    scale: float = 0.0
    difference: str = ""


def measured(result: Array, own: Array, double: Array | None) -> Measured:
    """The error of ``result``, TVM's, as a multiple of that of ``own``, against ``double``.

    Without ``double``, ``own`` takes its place.
    """
    if result.shape != own.shape or result.dtype != own.dtype:
        return Measured(_INFINITE, difference=f"{kind(result)} instead of {kind(own)}")
    if own.dtype.kind not in "fV" and own.dtype.name != "bfloat16":
        return _counted(result, own, double)
    value, framework = _float64(result), _float64(own)
    exact = framework if double is None or double.shape != own.shape else _float64(double)
    finite = np.isfinite(framework)
    if odd := _special(value, framework, finite):
        return Measured(_INFINITE, difference=odd)
    finite &= np.isfinite(exact)
    if not finite.any():
        return Measured(0.0)
    scale = float(np.abs(exact[finite]).max())
    error = float(np.abs(value[finite] - exact[finite]).max())
    theirs = float(np.abs(framework[finite] - exact[finite]).max())
    least = max(theirs, _unit(own) * scale, float(np.finfo(np.float64).tiny))
    return Measured(error / least, error, theirs, scale)


def _counted(result: Array, own: Array, double: Array | None) -> Measured:
    """Of integers and truth values the elements that differ are the error.

    Where they follow from floats, as in ``floor(x).long()``, a rounding moves some of them in the
    framework, too.
    """
    wrong = int((result != own).sum())
    text = f"{wrong} of {own.size} elements differ" if wrong else ""
    if double is None or double.shape != own.shape or double.dtype != own.dtype:
        double = own
    theirs = int(np.not_equal(double, own).sum())
    if not wrong or not theirs:
        return Measured(_INFINITE if wrong else 0.0, difference=text)
    error = int(np.not_equal(result, double).sum())
    return Measured(error / theirs, float(error), float(theirs), float(own.size))


def kind(array: Array) -> str:
    """The dtype and the shape of ``array``, as in ``float32 (2, 3)``."""
    return f"{array.dtype} {tuple(map(int, array.shape))}"


def _special(value: Array, framework: Array, finite: Array) -> str:
    """How NaN and infinities are elsewhere than in the framework's value; "" if they are not."""
    new = int((~np.isfinite(value) & finite).sum())
    if new:
        name = "NaN" if np.isnan(value[finite]).any() else "infinite"
        return f"{new} of {value.size} elements are {name}, and numbers in the framework"
    same = (value == framework) | (np.isnan(value) & np.isnan(framework)) | finite
    lost = int((~same).sum())
    if lost:
        return (
            f"{lost} of {value.size} elements are NaN or infinite in the framework, and not in TVM"
        )
    return ""


def _float64(array: Array) -> Array:
    return array.astype(np.float64)


def _unit(own: Array) -> float:
    if own.dtype == np.float64:
        return _WIDE_UNIT
    if own.dtype.name == "bfloat16":
        return 2.0**-7
    return float(np.finfo(own.dtype).eps)
