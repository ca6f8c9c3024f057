"""The control computes every operator within the reference's bounds, and a wrong one does not."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from relaxcheck.generators.core.program import USUAL_REGIMES, WHOLE_RANGE, Case, Program
from relaxcheck.generators.core.values import Array, arrays, numpy_dtype
from relaxcheck.generators.operators import OPERATORS as RECORDS
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.reference import evaluate as reference
from tests.measure.quality.control import evaluate as control
from tests.measure.quality.control.operator import OPERATORS, Refused
from tests.measure.quality.control.operators import (
    elementwise,
    indexing,
    movement,
    normalization,
    reductions,
    windows,
)
from tests.measure.quality.control.operators.images import resizing
from tests.measure.quality.tests.control_calls import calls

FAMILIES = {
    *("nn.attention", "nn.attention_var_len"),
    *(f"nn.conv{rank}d_transpose" for rank in (1, 2, 3)),
}
"""Operators that only whole families call here: ``test_false_alarms`` runs them."""

WITHIN_GRAPHS = {"matmul", "shape_to_tensor"}


def test_the_control_has_every_operator_of_the_reference() -> None:
    assert reference.OPERATORS.keys() <= OPERATORS.keys()


def test_the_control_imports_nothing_of_the_oracles() -> None:
    folder = Path(control.__file__).parent
    # Gradients are PyTorch's, of the functions of its oracle.
    paths = [path for path in folder.rglob("*.py") if path.name != "gradients.py"]
    assert len(paths) > 12
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [str(getattr(node, "module", "")), *(each.name for each in node.names)]
                assert not any("oracles" in name for name in names), path


CALLED = sorted(reference.OPERATORS.keys() - FAMILIES - WITHIN_GRAPHS)


def _judged(program: Program, regime: str, seed: int) -> bool | None:
    """True if the control's result is within its bounds; None where both refuse the program."""
    case = Case("drawn", program, regime=regime, seed=seed)
    values = arrays(case, 0)
    if program.nodes[0].operator == "nn.batch_norm":
        # A variance is not negative.
        values["x4"] = np.abs(values["x4"])
    try:
        (wanted,) = reference.evaluate(program, values)
    except ValueError:
        with pytest.raises(Refused):
            control.check(case)
        return None
    control.check(case)
    run_time = [values[tensor.name] for tensor in program.inputs if not tensor.constant]
    (actual,) = control.evaluate(case, run_time)
    assert actual.dtype == numpy_dtype(wanted.dtype)
    return actual.shape == wanted.value.shape and within(actual, wanted).ok


@pytest.mark.parametrize("operator", CALLED)
def test_it_is_right(operator: str) -> None:
    programs = list(calls(operator))
    assert programs
    whole_range = operator in RECORDS and RECORDS[operator].elementary
    for at, program in enumerate(programs):
        for regime in (*USUAL_REGIMES, "special", *([WHOLE_RANGE] if whole_range else [])):
            assert _judged(program, regime, seed=at) is not False, (regime, program)


def _last_is_dropped(right: Callable[..., Any]) -> Callable[..., Any]:
    """Reductions without the last element of their axis."""
    return lambda values, *rest: right(values[: max(len(values) - 1, 1)], *rest)


def _moved_on(right: Callable[..., Any]) -> Callable[..., Any]:
    """Gathers one place further on, where there is one."""

    def wrong(x: Array, axis: int, places: Any) -> Any:
        return right(x, axis, (np.asarray(places, np.int64) + 1) % max(x.shape[axis], 1))

    return wrong


def _first_axis(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axes, *rest: right(x, tuple(range(len(tuple(axes)))), *rest)


def _later(right: Callable[..., Any]) -> Callable[..., Any]:
    def wrong(slide: windows.Slide, tap: int) -> Any:
        sources, inside = right(slide, tap)
        return np.minimum(sources + 1, slide.size - 1), inside

    return wrong


WRONG: dict[str, tuple[ModuleType | type, str, Callable[..., Any], str]] = {
    "a sum drops its last element": (reductions, "reduced", _last_is_dropped, "mean"),
    "a mean is over other axes": (reductions, "leading", _first_axis, "mean"),
    "a running sum is one behind": (
        *(reductions, "running", lambda right: lambda v, *rest: np.roll(right(v, *rest), 1, 0)),
        "cumsum",
    ),
    "a layer is normalized over other axes": (
        *(normalization, "leading", _first_axis),
        "nn.layer_norm",
    ),
    "a variance is of a sample": (
        *(normalization, "mean", lambda right: lambda v, f: right(v, f) * len(v) / (len(v) + 1)),
        "nn.batch_norm",
    ),
    "flip leaves what it should turn": (
        *(movement, "along", lambda right: lambda x, axis, places: x),
        "flip",
    ),
    "repeat takes the next element": (movement, "along", _moved_on, "repeat"),
    "concat joins in another order": (
        *(movement, "_joined", lambda right: lambda parts, axis: right(parts[::-1], axis)),
        "concat",
    ),
    "take reads the next element": (indexing, "along", _moved_on, "take"),
    "a slice begins one later": (
        *(indexing, "_places"),
        lambda right: (
            lambda size, begin, end, stride: (
                right(size, begin, end, stride)[1:] or right(size, begin, end, stride)
            )
        ),
        "strided_slice",
    ),
    "a convolution reads one further on": (windows.Slide, "sources", _later, "nn.conv2d"),
    "a pooling reads one further on": (windows.Slide, "sources", _later, "nn.max_pool1d"),
    "an average divides by one more": (
        *(windows, "divided", lambda right: lambda s, n, f: right(s, n + 1, f)),
        "nn.avg_pool2d",
    ),
    "an image is read from its first element": (
        *(resizing, "_nearest", lambda right: lambda *each: 0 * right(*each)),
        "image.resize2d",
    ),
    "pixels have corners": (
        *(resizing, "_line", lambda right: lambda n, m, _, f: right(n, m, "align_corners", f)),
        "image.resize2d",
    ),
    "cubic interpolation has another alpha": (
        *(resizing, "_convolved", lambda right: lambda *each: right(*each[:3], -0.6, *each[4:])),
        "image.resize2d",
    ),
    "the logistic function is one of 2x": (
        *(elementwise, "_exponential", lambda right: lambda x, f: right(x + x, f)),
        "nn.silu",
    ),
    "leaky values are cut": (
        *(elementwise, "number", lambda right: lambda node, name, *rest: 0.0),
        "nn.leakyrelu",
    ),
}


def _failing(operator: str) -> Iterator[bool]:
    for program in calls(operator):
        if program.inputs[0].dtype == "float32":
            try:
                yield _judged(program, "normal", seed=1) is False
            except (IndexError, ValueError, AssertionError):
                yield True


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_control_would_be_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    place, name, change, operator = WRONG[fault]
    assert not any(_failing(operator))
    monkeypatch.setattr(place, name, change(getattr(place, name)))
    assert any(_failing(operator))
