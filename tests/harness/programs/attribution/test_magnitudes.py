"""Magnitudes of inputs that a failure takes, with nothing compiled."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import arrays
from relaxcheck.harness.outcomes.attribution import Attribution, Condition
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.programs.attribution.magnitudes import before_largest, milder, of_limits
from relaxcheck.reports.programs.attribution_text import (
    attribution_text,
    has_magnitudes,
    innocent_axes,
    settings,
)
from tests.harness.programs.attribution.test_attribution import PASS, WRONG, attributed

WRONG_IF = {True: WRONG, False: PASS}
PROGRAM = Program((Input("x", (1,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))

Fails = Callable[[NDArray[np.float64]], bool]


def case_of(regime: str, values: tuple[float, ...] | None = None, dtype: str = "float32") -> Case:
    """A case of six inputs that are drawn, or written out."""
    fill = {} if values is None else {"fill": Literal(values)}
    size = 6 if values is None else len(values)
    program = Program((Input("x", (size,), dtype, **fill),), (Node("y", "exp", ("x",)),), ("y",))
    return Case("exp", program, regime=regime, seed=10)


def text_of(case: Case, fails: Fails) -> tuple[list[str], str]:
    """The blamed settings, and all of the text, where inputs of a kind give wrong values."""
    trials = milder(case, WRONG)
    conditions: tuple[Condition, ...] | None = None
    try:
        tried = next(trials)
        while True:
            wrong = fails(arrays(tried, 0)["x"].astype("float64"))
            tried = trials.send(WRONG if wrong else PASS)
    except StopIteration as end:
        conditions = end.value
    assert conditions is not None
    result = Attribution(2, 2, conditions)
    return settings(result), attribution_text(result, case, WRONG.stage)


@pytest.mark.parametrize(
    ("fails", "was", "to"),
    [
        (lambda x: (x > 50).any(), "as large as", "up to"),
        (lambda x: (x < -30).any(), "as low as", "down to"),
        (lambda x: (np.abs(x[x != 0]) < 3e-4).any(), "as small as", "no closer to 0 than"),
    ],
)
def test_only_the_magnitudes_that_matter_are_named(fails: Fails, was: str, to: str) -> None:
    every = (103.25, -71.5, 1.4e-6, 0.5, 1.5, -2.0)
    blamed, text = text_of(case_of("boundary", every), fails)
    (words,) = blamed
    start, _, number = words.rpartition(" ")
    assert start == f"inputs {was}"
    assert f"; passes with inputs {to} " in text
    passing = float(text.partition(f"passes with inputs {to} ")[2].split(" ")[0].rstrip("."))
    # They are of neighbouring powers of ten, each with digits of its own, and the milder pass.
    assert fails(np.array([float(number)]))
    assert not fails(np.array([passing]))
    apart = passing / float(number) if was == "as small as" else float(number) / passing
    assert 1 < apart < 100


def test_a_magnitude_whose_own_digits_come_out_right_is_tried_with_others() -> None:
    def fails(x: NDArray[np.float64]) -> bool:
        lucky = np.isclose(x / 10 ** np.floor(np.log10(x)), 1.23456, rtol=1e-5) & (x < 1e4)
        return bool(((x > 2) & ~lucky).any())

    (words,), _ = text_of(case_of("boundary", (123456.0,)), fails)
    assert float(words.removeprefix("inputs as large as ")) < 100


def test_digits_stay_where_magnitudes_do_not_matter() -> None:
    """Rounded to float32, an element is off; 2 would not be."""
    case = case_of("boundary", (2.526968123456789e150,), "float64")

    def rounded(x: NDArray[np.float64]) -> bool:
        with np.errstate(over="ignore"):
            return bool((x.astype("float32") != x).any())

    blamed, text = text_of(case, rounded)
    assert blamed == []
    assert "Also fails with other inputs between -2 and 2" in text


def test_magnitudes_that_are_written_out_are_made_milder_too() -> None:
    def low(tried: Case) -> Outcome:
        return WRONG if (arrays(tried, 0)["x"] < -4).any() else PASS

    result, _ = attributed(case_of("normal", (-10.0,)), low)
    (words,) = settings(result)
    assert -10 <= float(words.removeprefix("inputs as low as ")) < -4
    result, _ = attributed(case_of("normal", (-10.0,)), lambda tried: WRONG)
    assert settings(result) == []
    # Ordinary ones have no magnitude to name.
    result, tried = attributed(case_of("normal", (0.1,)), lambda tried: WRONG)
    assert not result.conditions
    assert all(each.regime != "ordinary" for each in tried)


def test_infinities_are_named_only_where_no_number_will_do() -> None:
    drawn = case_of("special")
    assert np.isinf(arrays(drawn, 0)["x"]).any()
    most = float(np.finfo("float32").max)

    def from_on(least: float) -> list[str]:
        def large(tried: Case) -> Outcome:
            return WRONG if (arrays(tried, 0)["x"] >= least).any() else PASS

        result, _ = attributed(drawn, large)
        assert not innocent_axes(result)
        assert has_magnitudes(result) is (least < most)
        return settings(result)

    assert from_on(3.4e38) == ["inputs as large as 3.4e+38 (the limit of float32)"]
    # Of all numbers the largest alone is like an infinity: few readers would think of it.
    assert from_on(most) == ["NaN, infinities and the like among the inputs"]

    def infinite(tried: Case) -> Outcome:
        return WRONG if np.isinf(arrays(tried, 0)["x"]).any() else PASS

    result, _ = attributed(drawn, infinite)
    assert settings(result) == ["NaN, infinities and the like among the inputs"]


@pytest.mark.parametrize(
    ("infinity", "words"), [(np.inf, "inf or the largest"), (-np.inf, "-inf or the lowest")]
)
def test_nothing_but_infinities_and_the_largest_number_is_named(
    infinity: float, words: str
) -> None:
    # The first drawn element that is this infinity.
    seeds = (Case("exp", PROGRAM, regime="special", seed=seed) for seed in range(2000))
    case = next(each for each in seeds if arrays(each, 0)["x"][0] == infinity)
    most = float(np.finfo("float32").max)

    def comes(tried: Case) -> Outcome:
        return WRONG if (np.sign(infinity) * arrays(tried, 0)["x"] >= most).all() else PASS

    result, tried = attributed(case, comes)
    assert settings(result) == [f"inputs that are all {words} float32"]
    sign = "-" if infinity < 0 else ""
    text = attribution_text(result, case, WRONG.stage)
    assert f"passes with inputs that are all {sign}3.4028233e+38." in text
    made = {float(arrays(each, 0)["x"][0]) for each in tried}
    assert {np.sign(infinity) * most, np.sign(infinity) * before_largest("float32")} <= made


def test_the_largest_number_that_is_written_out_is_named_without_infinities() -> None:
    most = float(ml_dtypes.finfo("bfloat16").max)

    def comes(tried: Case) -> Outcome:
        return WRONG if (arrays(tried, 0)["x"].astype("float64") >= most).all() else PASS

    result, _ = attributed(case_of("normal", (most, most), "bfloat16"), comes)
    assert settings(result) == ["inputs that are all the largest bfloat16"]
    # With another number beside it, how large it is is all that is known.
    result, _ = attributed(
        case_of("normal", (most, 1.0), "bfloat16"),
        lambda tried: WRONG_IF[bool((arrays(tried, 0)["x"].astype("float64") >= most).any())],
    )
    assert settings(result) == ["inputs as large as 3.39e+38 (the limit of bfloat16)"]


@pytest.mark.parametrize(
    ("dtype", "value", "kind", "passing"),
    [
        ("int32", -(2**31), "lowest", "-2147483647"),
        ("int32", 2**31 - 1, "highest", "2147483646"),
        ("uint8", 0, "lowest", "1"),
        ("int64", 2**63 - 1, "highest", "9223372036854773760"),
    ],
)
def test_nothing_but_an_integer_at_its_limit_is_named(
    dtype: str, value: int, kind: str, passing: str
) -> None:
    case = case_of("normal", (value, value), dtype)

    def comes(tried: Case) -> Outcome:
        array = arrays(tried, 0)["x"]
        if "float" in str(array.dtype):
            return PASS
        limits = np.iinfo(array.dtype)
        return WRONG if (array == (limits.min if kind == "lowest" else limits.max)).all() else PASS

    result, _ = attributed(case, comes)
    words = f"inputs that are all the {kind} integer of their dtype"
    assert words in settings(result)
    assert f"inputs that are all {passing}" in attribution_text(result, case, WRONG.stage)
    # Each sibling is tried at its own limit, which is none of a float's.
    assert all("float" not in str(each.differences[0].to) for each in result.siblings)
    assert {each.differences[0].to for each in result.siblings} >= {"int8", "uint16"} - {dtype}


def test_integers_that_differ_or_fail_at_the_next_one_are_not_at_a_limit() -> None:
    for values in ((-(2**31), 1), (5, 5)):
        result, _ = attributed(case_of("normal", values, "int32"), lambda tried: WRONG)
        assert "integer of their dtype" not in ", ".join(settings(result))
    at_limit = case_of("normal", (-(2**31),), "int32")
    result, _ = attributed(at_limit, lambda tried: WRONG)
    assert settings(result) == []


def test_integers_that_float64_cannot_tell_apart_differ() -> None:
    trials = of_limits(case_of("normal", (2**63 - 1, 2**63 - 5), "int64"), WRONG)
    with pytest.raises(StopIteration) as end:
        next(trials)
    assert end.value.value is None


def test_the_largest_numbers_are_tried_with_other_digits() -> None:
    largest = float(np.finfo("float64").max)
    trials = milder(case_of("normal", (largest,), "float64"), WRONG)
    first = [next(trials), trials.send(WRONG)]
    assert [arrays(each, 0)["x"].item() for each in first] == [largest, before_largest("float64")]
    tried = [trials.send(WRONG), *(trials.send(PASS) for _ in range(7))]
    mildest = {arrays(each, 0)["x"].item() for each in tried}
    assert len(mildest) == 8
    assert all(0.1 <= value < 1 for value in mildest)


def test_milder_integers_are_named_as_they_are_tried() -> None:
    program = Program((Input("x", (4,), "int32"),), (Node("y", "exp", ("x",)),), ("y",))

    def large(tried: Case) -> Outcome:
        return WRONG if (arrays(tried, 0)["x"].astype("float64") > 15).any() else PASS

    drawn = (Case("exp", program, seed=seed, regime="special") for seed in range(100))
    case = next(each for each in drawn if large(each) is WRONG)
    result, tried = attributed(case, large)
    (condition,) = (each for each in result.conditions if each.differences[0].name == "large")
    was, to = condition.differences[0].was, condition.differences[0].to
    made = [arrays(each, 0)["x"] for each in tried]
    largest = {int(each.max()) for each in made if each.dtype == "int32"}
    assert {was, to} <= largest
    assert isinstance(was, float)
    assert isinstance(to, float)
    assert to <= 15 < was


def test_ordinary_integers_are_not_said_to_have_been_made_milder() -> None:
    """There is nothing between -2 and 2 that they were replaced by."""
    trials = milder(case_of("special", (1, 2, 0), "int32"), WRONG)
    next(trials)
    with pytest.raises(StopIteration) as end:
        trials.send(WRONG)
    assert end.value.value == ()


def test_a_setting_is_put_back_with_more_draws_where_not_every_draw_fails() -> None:
    program = Program((Input("x", (2,), "float16"),), (Node("y", "exp", ("x",)),), ("y",))
    case = Case("exp", program, seed=0)

    def comes(tried: Case) -> Outcome:
        half = tried.program.inputs[0].dtype == "float16"
        return WRONG if tried.seed in ({0} if half else {7}) else PASS

    result, _ = attributed(case, comes)
    assert settings(result) == []
    text = attribution_text(result, case, WRONG.stage)
    assert "Also fails with x in float32 (with 1 of the 6 draws)." in text
    assert "Changes were tried with 6 draws of the inputs." in text
