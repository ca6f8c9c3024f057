"""Each verdict about values, from outputs made by hand."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from relaxcheck.generators.core.program import Input, Node, Program
from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.harness.compiling.judgement import SHAPE, Expected, judge
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import judge as judging
from relaxcheck.harness.programs.judge import Question, all_expected, expected
from relaxcheck.oracles.answer import Bounded, Unsupported

PROGRAM = Program(
    (Input("x", (2, 2), "float32"), Input("y", (2, 2), "float32")),
    (Node("sum", "add", ("x", "y")),),
    ("sum",),
)
ARRAYS = {name: np.full((2, 2), value, np.float32) for name, value in (("x", 0.1), ("y", 0.7))}
RIGHT = ARRAYS["x"] + ARRAYS["y"]
Oracle = Callable[[Program, Mapping[str, Array]], tuple[Array, ...]]


def verdict_on(actual: Array) -> tuple[Verdict, str]:
    wanted = expected(PROGRAM, ARRAYS, mixed_precision=False)
    judgement = judge(PROGRAM.outputs, {}, (actual,), wanted)
    return judgement.verdict, judgement.message


def off_by_two_ulps() -> Array:
    """Off by two units in the last place, where half of one is all that rounding may do."""
    wrong = RIGHT.copy()
    wrong[1, 0] = np.nextafter(np.nextafter(wrong[1, 0], np.float32(2)), np.float32(2))
    return wrong


def test_the_worst_float_of_a_wrong_output_is_kept() -> None:
    wanted = expected(PROGRAM, ARRAYS, mixed_precision=False)
    right = float(RIGHT[1, 0])
    worst = judge(PROGRAM.outputs, {}, (off_by_two_ulps(),), wanted).worst
    assert worst is not None
    assert worst.actual == right + 2 * worst.ulp
    assert abs(worst.expected - right) <= worst.bound < worst.ulp
    assert worst.dtype == "float32"
    nan = judge(PROGRAM.outputs, {}, (RIGHT * np.float32(np.nan),), wanted).worst
    assert nan is not None
    assert nan.actual is None
    assert judge(PROGRAM.outputs, {}, (RIGHT,), wanted).worst is None


@pytest.mark.parametrize(
    ("actual", "verdict", "fragment"),
    [
        (RIGHT, Verdict.PASS, ""),
        (RIGHT.astype(np.float64), Verdict.WRONG_DTYPE, "dtype float64, not float32"),
        (np.zeros(2, SHAPE), Verdict.WRONG_DTYPE, "a shape, not a tensor of float32"),
        (RIGHT.reshape(4), Verdict.WRONG_SHAPE, "shape (4,), not (2, 2)"),
        (RIGHT[:, :1], Verdict.WRONG_SHAPE, "shape (2, 1), not (2, 2)"),
        (off_by_two_ulps(), Verdict.WRONG_VALUE, "1 of 4 elements outside their bound"),
        (RIGHT * np.float32(np.nan), Verdict.WRONG_VALUE, "4 of 4"),
        (RIGHT * np.float32(np.inf), Verdict.WRONG_VALUE, "4 of 4"),
        (np.zeros_like(RIGHT), Verdict.WRONG_VALUE, "4 of 4"),
    ],
)
def test_an_output_gets_the_verdict_that_fits(
    actual: Array, verdict: Verdict, fragment: str
) -> None:
    result, message = verdict_on(actual)
    assert result is verdict
    assert fragment in message
    assert bool(message) is (verdict is not Verdict.PASS)


def test_a_message_names_the_output_and_the_binding_if_there_is_any() -> None:
    wanted = expected(PROGRAM, ARRAYS, mixed_precision=False)
    (name,) = PROGRAM.outputs
    for binding, where in (({}, name), ({"n": 2}, f"{name} at {{'n': 2}}")):
        judgement = judge(PROGRAM.outputs, binding, (RIGHT.reshape(4),), wanted)
        assert judgement.message == f"output {where}: shape (4,), not (2, 2)"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e4m3fn"])
def test_nan_differs_from_other_wrong_values(dtype: str) -> None:
    """Whatever NumPy takes the dtype for: bfloat16 is no float to it."""
    wanted = Expected((Bounded(np.ones(2), np.zeros(2), dtype),), ("reference",), {}, {})
    for value, nan in ((np.nan, True), (2, False)):
        wrong = np.array([1, value]).astype(numpy_dtype(dtype))
        judgement = judge(("y",), {}, (wrong,), wanted)
        assert (judgement.verdict, judgement.nan) == (Verdict.WRONG_VALUE, nan)


def test_an_output_missing_or_too_many_is_a_wrong_shape() -> None:
    wanted = expected(PROGRAM, ARRAYS, mixed_precision=False)
    assert judge(PROGRAM.outputs, {}, (RIGHT, RIGHT), wanted).verdict is Verdict.WRONG_SHAPE
    assert judge(PROGRAM.outputs, {}, (), wanted).verdict is Verdict.WRONG_SHAPE


def test_a_failure_by_a_single_oracle_says_so() -> None:
    wanted = replace(expected(PROGRAM, ARRAYS, mixed_precision=False), agreeing=("onnxruntime",))
    strong = judge(PROGRAM.outputs, {}, (off_by_two_ulps(),), wanted)
    weak = judge(PROGRAM.outputs, {}, (off_by_two_ulps(),), replace(wanted, weak=True))
    assert weak.verdict is strong.verdict is Verdict.WRONG_VALUE
    assert weak.message == f"{strong.message} (by onnxruntime alone: a weaker verdict)"
    assert judge(PROGRAM.outputs, {}, (RIGHT,), replace(wanted, weak=True)).message == ""


def off(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    return (arrays["x"] + arrays["y"] + np.float32(1e-3),)


def right(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    return (arrays["x"] + arrays["y"],)


def unable(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    raise Unsupported("unable: has no addition")


@pytest.mark.parametrize(
    ("oracles", "actual", "verdict"),
    [
        ((right, right), RIGHT, Verdict.PASS),
        ((right, unable), RIGHT, Verdict.PASS),
        ((right, unable), RIGHT + 1, Verdict.WRONG_VALUE),
        ((right, off), RIGHT, Verdict.ORACLE_SPLIT),
        ((right, off), RIGHT + 1, Verdict.ORACLE_SPLIT),
        ((off, unable), RIGHT, Verdict.ORACLE_SPLIT),
        ((unable, unable), RIGHT, Verdict.NO_ORACLE),
        ((unable, unable), RIGHT + 1, Verdict.NO_ORACLE),
    ],
)
def test_the_answers_of_the_oracles_decide_the_verdict(
    monkeypatch: pytest.MonkeyPatch,
    oracles: tuple[Oracle, Oracle],
    actual: Array,
    verdict: Verdict,
) -> None:
    monkeypatch.setattr(judging, "ORACLES", dict(zip(("one", "other"), oracles, strict=True)))
    assert verdict_on(actual)[0] is verdict
    agreeing = sum(oracle is right for oracle in oracles)
    assert len(expected(PROGRAM, ARRAYS, mixed_precision=False).agreeing) == agreeing


def test_questions_asked_together_have_the_answers_of_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, float]] = []

    def oracle(name: str) -> Oracle:
        def evaluate(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
            x = float(arrays["x"][0, 0])
            asked.append((name, x))
            if x == 2:
                raise KeyError(name)
            return off(program, arrays) if x == 1 else right(program, arrays)

        return evaluate

    monkeypatch.setattr(judging, "ORACLES", {name: oracle(name) for name in ("one", "other")})
    values = (0.0, 1.0, 2.0, 3.0)
    questions = [
        Question(PROGRAM, {**ARRAYS, "x": np.full((2, 2), value, np.float32)}, value == 3)
        for value in values
    ]
    open_for: list[int] = []

    @contextmanager
    def on(number: int) -> Iterator[None]:
        open_for.append(number)
        yield

    result = all_expected(questions, on)
    # The reference, one oracle, the other; what failed once is not asked again.
    assert open_for == [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 3]
    assert asked == [("one", x) for x in values] + [("other", x) for x in values if x != 2]
    assert isinstance(result[2], KeyError)
    for number in (0, 1, 3):
        question, together = questions[number], result[number]
        assert isinstance(together, Expected)
        alone = expected(question.program, question.arrays, mixed_precision=number == 3)
        assert (together.agreeing, together.splits) == (alone.agreeing, alone.splits)
        assert bool(together.splits) is (number == 1)
        for output, other in zip(together.outputs, alone.outputs, strict=True):
            np.testing.assert_array_equal(output.value, other.value)
            np.testing.assert_array_equal(output.bound, other.bound)
    with pytest.raises(KeyError):
        expected(PROGRAM, questions[2].arrays, mixed_precision=False)
