"""The control is right where one can see it by eye, and a wrong one would be seen."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Point, complete
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.judgement import judge
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.judge import expected
from tests.measure.quality.control import evaluate as control
from tests.measure.quality.control import layouts
from tests.measure.quality.control.operators import attention
from tests.measure.quality.control.operators import transposed_convolution as convolution
from tests.measure.quality.control.summation import Freedom, Term, summed

LAYOUTS = ("NCHW", "NHWC", "CWHN", "NCHW4c", "NHWC2c", "CNHW8c", "HN4cWC")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_written_layouts_are_read_back(layout: str) -> None:
    array = np.arange(2 * 8 * 3 * 5).reshape(2, 8, 3, 5)
    assert np.array_equal(layouts.read(layouts.write(array, layout, "NCHW"), layout, "NCHW"), array)


def test_a_packed_layout_puts_neighbouring_channels_side_by_side() -> None:
    packed = layouts.write(np.arange(8).reshape(1, 8, 1), "NCW4c", "NCW")
    assert packed.tolist() == [[[[0, 1, 2, 3]], [[4, 5, 6, 7]]]]


@pytest.mark.parametrize("layout", ["NCHWC", "NCHX", "NCH", "NCHW4", "NCHWc", "N4CHW", "NCHW2c2c"])
def test_invalid_layouts(layout: str) -> None:
    with pytest.raises(layouts.LayoutError):
        layouts.parse(layout, "NCHW")


@given(
    st.integers(0, 2**32),
    st.sampled_from(["float16", "float32", "float64", "int8"]),
    st.lists(st.integers(-3, 3), max_size=9),
)
def test_every_order_sums_small_integers_exactly(seed: int, dtype: str, values: list[int]) -> None:
    terms = [Term(np.array([value], dtype), np.array([2], dtype)) for value in values]
    total = summed(terms, (1,), dtype, Freedom(seed))
    assert total.dtype == dtype
    assert total.tolist() == [2 * sum(values)]


def test_orders_differ() -> None:
    values = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    terms = [Term(value[None], value[None]) for value in values]
    sums = {float(summed(terms, (1,), np.float32, Freedom(seed))[0]) for seed in range(30)}
    assert len(sums) > 3


def test_absent_terms_take_no_part() -> None:
    infinite = Term(np.array([np.inf, 2.0]), np.array([0.0, 3.0]), np.array([False, True]))
    with np.errstate(invalid="ignore"):
        for seed in range(20):
            assert summed([infinite], (2,), np.float64, Freedom(seed)).tolist() == [0.0, 6.0]


@pytest.mark.parametrize(
    ("mask", "window", "seen"),
    [
        (None, None, [[0, 1, 2], [0, 1, 2]]),
        ("TopLeft", None, [[0], [0, 1]]),
        ("BottomRight", None, [[0, 1], [0, 1, 2]]),
        (None, 1, [[0, 1, 2], [1, 2]]),
        ("TopLeft", 1, [[0], [1]]),
        ("BottomRight", 2, [[0, 1], [1, 2]]),
    ],
)
def test_keys_that_two_queries_see_of_three(
    mask: str | None, window: int | None, seen: list[list[int]]
) -> None:
    sight = attention.Sight(mask, window)
    assert [sight.keys(query, 2, 3) for query in range(2)] == seen


def test_a_tap_of_stride_two_reaches_every_other_output() -> None:
    axis = convolution.Axis(size=3, taps=2, stride=2, dilation=1, begin=1, end=0, extra=1)
    assert axis.out == 6
    sources, reached = axis.sources(0)
    assert reached.tolist() == [False, True, False, True, False, False]
    assert sources[[1, 3]].tolist() == [1, 2]


def judged(name: str, chosen: Point) -> Verdict:
    member = family(name, tuple(PIPELINES))
    case: Case = member.build(complete(member.axes, chosen), seed=3)
    values = arrays(case, 0)
    wanted = expected(case.program, values, mixed_precision=False)
    run_time = [values[tensor.name] for tensor in case.program.inputs if not tensor.constant]
    actual = control.evaluate(case, run_time)
    return judge(case.program.outputs, case.bindings[0], actual, wanted).verdict


WRONG: dict[str, tuple[str, Point, type, str, Callable[[Any], Any]]] = {
    "padding begins one later": (
        *("conv2d_transpose", {"stride.h": 2}, convolution.Axis, "sources"),
        lambda axis: replace(axis, begin=axis.begin + 1, end=axis.end - 1),
    ),
    "taps are further apart": (
        *("conv2d_transpose", {"kernel.w": 3}, convolution.Axis, "sources"),
        lambda axis: replace(axis, dilation=axis.dilation + 1, end=axis.end + axis.taps - 1),
    ),
    "the last input is dropped": (
        *("conv1d_transpose", {}, convolution.Axis, "sources"),
        lambda axis: replace(axis, size=axis.size - 1, end=axis.end - axis.stride),
    ),
    "the window is one wider": (
        *("attention", {"window_size": 2}, attention.Sight, "keys"),
        lambda sight: replace(sight, window_size=sight.window_size + 1),
    ),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_control_would_be_seen(monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    name, chosen, kind, method, change = WRONG[fault]
    assert judged(name, chosen) is Verdict.PASS
    right = getattr(kind, method)
    monkeypatch.setattr(kind, method, lambda self, *arguments: right(change(self), *arguments))
    assert judged(name, chosen) is Verdict.WRONG_VALUE
