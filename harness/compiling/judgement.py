"""Judging TVM's outputs by those of a reference that oracles agree with."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.harness.outcomes.deviation import Deviation
from relaxcheck.harness.outcomes.outcome import Check, Verdict
from relaxcheck.harness.wording import outside_of, plural
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within

_FEWEST_DIGITS, _MOST_DIGITS = 6, 17
"""Significant digits of a reference value in a message; 17 are all that float64 has."""

SHAPE = np.dtype([("extent", np.int64)])
"""The dtype of the sizes of an output that is no tensor, but a shape of TVM's."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The reference's outputs at one binding, and the oracles' judgement of them.

    ``agreeing`` oracles lie within the reference's bounds; ``splits`` maps the others to how they
    differ; ``unsupported`` maps those that could not run to their reason. ``weak``: the outputs are
    those of a single oracle, and no reference bounds them.
    """

    outputs: tuple[Bounded, ...]
    agreeing: tuple[str, ...]
    splits: Mapping[str, str]
    unsupported: Mapping[str, str]
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict at one binding, with its checks and a description of the difference.

    ``nan``: a wrong element of some output is NaN where the reference is finite. ``worst`` is the
    worst element of the output that the message is about, if that is of floats.
    """

    verdict: Verdict
    checks: tuple[Check, ...]
    message: str = ""
    nan: bool = False
    worst: Deviation | None = None


def judge(
    outputs: Sequence[str],
    binding: Mapping[str, int],
    actual: tuple[Array, ...],
    wanted: Expected,
    regime: str = "normal",
) -> Judgement:
    """The verdict on TVM's outputs ``actual`` at ``binding``, for inputs drawn in ``regime``.

    ``outputs`` are their names.
    """
    if len(actual) != len(wanted.outputs):
        return Judgement(
            Verdict.WRONG_SHAPE,
            (),
            f"{plural(len(actual), 'output')} where the program has {len(wanted.outputs)}",
        )
    checks: list[Check] = []
    worst = (Verdict.PASS, "")
    deviation = None
    for name, array, reference in zip(outputs, actual, wanted.outputs, strict=True):
        held = hold(array, reference)
        checks.append(
            Check(
                *(dict(binding), name, held.ratio, wanted.agreeing),
                *(array.size, held.unconstrained, regime),
            )
        )
        if held.verdict is not Verdict.PASS and worst[0] is Verdict.PASS:
            where = f"{name} at {dict(binding)}" if binding else name
            worst = (held.verdict, f"output {where}: {held.message}")
            deviation = held.worst
    if not wanted.agreeing and not wanted.splits:
        reasons = "; ".join(wanted.unsupported.values())
        return Judgement(Verdict.NO_ORACLE, tuple(checks), f"no oracle ran: {reasons}")
    if wanted.splits:
        # Oracles that differ from the reference say nothing certain about TVM, right or wrong.
        splits = "; ".join(f"{name}: {how}" for name, how in wanted.splits.items())
        return Judgement(Verdict.ORACLE_SPLIT, tuple(checks), splits)
    nan = worst[0] is Verdict.WRONG_VALUE and any(map(_has_nan, actual, wanted.outputs))
    message = worst[1]
    if wanted.weak and message:
        message += f" (by {', '.join(wanted.agreeing)} alone: a weaker verdict)"
    return Judgement(worst[0], tuple(checks), message, nan, deviation)


def _to_the_bound(value: Any, bound: float) -> str:
    """``value`` as text, with the digits that ``bound`` leaves certain: at least 6, at most 17."""
    magnitude = abs(float(value))
    certain = 0 < bound < magnitude < math.inf
    digits = math.ceil(math.log10(magnitude / bound)) + 1 if certain else _FEWEST_DIGITS
    return f"{value:.{min(max(digits, _FEWEST_DIGITS), _MOST_DIGITS)}g}"


@dataclass(frozen=True, slots=True)
class Held:
    """An output held to its reference.

    ``ratio`` is the largest error by bound (None: infinite), ``worst`` that element if it is wrong
    and a float, ``unconstrained`` the number of elements that were not compared.
    """

    verdict: Verdict
    message: str
    ratio: float | None = None
    unconstrained: int = 0
    worst: Deviation | None = None


def hold(array: Array, reference: Bounded) -> Held:
    """``array`` held to ``reference``."""
    if array.dtype == SHAPE:
        return Held(Verdict.WRONG_DTYPE, f"a shape, not a tensor of {reference.dtype}")
    if array.shape != reference.value.shape:
        return Held(Verdict.WRONG_SHAPE, f"shape {array.shape}, not {reference.value.shape}")
    if array.dtype != numpy_dtype(reference.dtype):
        return Held(Verdict.WRONG_DTYPE, f"dtype {array.dtype}, not {reference.dtype}")
    compared = within(array, reference)
    ratio = float(compared.ratio) if np.isfinite(compared.ratio) else None
    if compared.ok:
        return Held(Verdict.PASS, "", ratio, compared.unconstrained)
    assert compared.worst is not None
    actual, wanted = array[compared.worst], reference.value[compared.worst]
    bound = float(reference.bound[compared.worst])
    message = (
        f"{outside_of(compared.outside, array.size)}; worst at "
        f"{list(compared.worst)}: {actual} for {_to_the_bound(wanted, bound)} ± {bound:.3g}"
    )
    worst = None
    if array.dtype.kind not in "iub" and np.isfinite(float(wanted)):
        number = float(actual) if np.isfinite(float(actual)) else None
        worst = Deviation(number, float(wanted), bound, reference.dtype)
    return Held(Verdict.WRONG_VALUE, message, ratio, compared.unconstrained, worst)


def _has_nan(array: Array, reference: Bounded) -> bool:
    """True if an element of ``array`` is NaN where the reference is finite, and so is its bound."""
    if array.dtype.kind in "iub" or array.dtype == SHAPE or array.shape != reference.value.shape:
        return False
    numbers = np.isfinite(reference.value) & np.isfinite(reference.bound)
    return bool((np.isnan(array.astype(np.float64)) & numbers).any())
