"""Compiled expressions in this process: values, indices and sizes, one found among many."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tvm.error import InternalError

from relaxcheck import fixes
from relaxcheck.fixes import bundled
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.passes import falling_indices
from relaxcheck.fixes.shapes import shape_guard
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    EXTENT,
    INDEX,
    NEGATIVE,
    PARAMETER,
    POSITIONS,
    SHAPE,
    SIZES,
    UNDEFINED,
    VALUE,
    ExpressionCase,
)
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import (
    Expression,
    Variable,
    apply,
    constant,
    variable,
)
from relaxcheck.harness.expressions import kernels
from relaxcheck.harness.expressions.compiled import RAISES, compiled_faults
from relaxcheck.harness.expressions.execute import execute_expressions
from relaxcheck.harness.expressions.kernel_plans import kernel_plan, windows
from relaxcheck.harness.expressions.kernels import How
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from tests.harness.expressions.compiled_subjects import BELOW, SUBJECTS, X, Y, subject, x, y

FAMILY = family()
POINT = complete(FAMILY.axes, {"kind": "tree", "depth": 3})
BLOCK = replace(FAMILY.build(POINT, 11), count=40)
LOOP = Variable("i", "int32", 0, 5)


def outcome_of(case: Any) -> Outcome:
    return execute_expressions(case, lambda stage: None)


COMPILED = [position for position in POSITIONS if position != ANALYZED]


@pytest.mark.parametrize("position", COMPILED)
def test_compiled_expressions_are_right(position: str) -> None:
    assert compiled_faults(SUBJECTS, position, How()) == [()] * len(SUBJECTS)


@pytest.mark.parametrize("position", COMPILED)
def test_one_that_is_compiled_wrong_is_found_among_many(
    position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong, right = SUBJECTS[6].expression, kernels.emitted

    def emitted(expression: Expression, names: Mapping[str, Any]) -> Any:
        if expression == wrong:
            expression = apply("-", wrong, apply("//", x, constant(4, "int64")))
        return right(expression, names)

    monkeypatch.setattr(kernels, "emitted", emitted)
    result = compiled_faults(SUBJECTS, position, How())
    (fault,) = (faults for faults in result if faults)
    assert result[6] == fault
    assert fault[0].check.startswith(position)
    assert fault[0].witness["x"] >= 4
    at = fault[0].witness
    value = at["x"] * 7 // at["y"] + at["x"]
    made = value - at["x"] // 4
    answer = {
        PARAMETER: f"is {value}, and a tensor of {value} is refused",
        EXTENT: f"is {value}, and the tensor has {made}",
    }
    assert answer.get(position, f"is {made}, and should be {value}") in fault[0].message


@pytest.mark.parametrize("position", COMPILED)
def test_one_that_raises_is_found_among_many(
    position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong, right = SUBJECTS[3].expression, kernels.emitted
    error: Exception = InternalError("not this one")

    def emitted(expression: Expression, names: Mapping[str, Any]) -> Any:
        if expression == wrong:
            raise error
        return right(expression, names)

    monkeypatch.setattr(kernels, "emitted", emitted)
    result = compiled_faults(SUBJECTS, position, How())
    assert [number for number, faults in enumerate(result) if faults] == [3]
    (fault,) = result[3] or ()
    assert (fault.check, fault.message) == (RAISES, "InternalError: not this one")
    for text in ("in function f has not been computed", "is not computed"):
        error = InternalError(f"PrimExpr x * 4 // y {text}")
        ((fault,),) = (faults or () for faults in compiled_faults(SUBJECTS[3:4], position, How()))
        assert fault.message == f"InternalError: PrimExpr … {text}"
    # The same of our own making is no answer of TVM's.
    error = ValueError("ours")
    with pytest.raises(ValueError, match="ours"):
        compiled_faults(SUBJECTS, position, How())


def test_where_there_is_no_value_nothing_is_computed() -> None:
    zero = Variable("y", "int64", 0, 3)
    divided = subject(apply("%", x, variable(zero)), X, zero)
    for position in COMPILED:
        assert compiled_faults([divided], position, How()) == [()]


def test_an_index_is_used_forwards_and_backwards_and_for_every_number_of_iterations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []
    call = kernels.call

    def counted(function: Any, table: Any, arrays: Any) -> Any:
        calls.append(len(arrays[1]))
        written = call(function, table, arrays).copy()
        # The second half: what the table holds backwards.
        written[-1] += 1
        return written

    monkeypatch.setattr(kernels, "call", counted)
    loops = (Variable("x", "int32", 0, 3), Variable("y", "int32", 0, 8))
    index = apply("+", apply("*", variable(loops[0]), constant(8)), variable(loops[1]))
    ((fault,),) = (
        faults or () for faults in compiled_faults([subject(index, *loops)], INDEX, How())
    )
    assert calls == list(range(9))
    assert fault.check == "index-reversed"
    assert "at x = 3, y = 7 and n = 0 is" in fault.message


def test_an_index_beyond_the_table_tells_itself() -> None:
    """TVM takes -2 for a divisor that counts down: it reads before the first element."""
    negative = Variable("x", "int32", -1, 0)
    halved = subject(apply("//", variable(negative), constant(-2)), negative)
    for _ in range(3):
        (wrong,) = compiled_faults([halved], INDEX, How())
        assert [fault.message for fault in wrong or ()][:1] == [
            "x // (-2) at x = 0 is -1, and should be 0"
        ]


@pytest.mark.parametrize("length", [1, 7, 4096])
def test_around_a_table_its_numbers_go_on(length: int) -> None:
    table = kernels.table(length)
    assert table.tolist() == list(range(length))
    assert table.ctypes.data % 64 == 0
    whole = table.base
    assert whole is not None
    places = (table.ctypes.data - whole.ctypes.data) // 8
    around = whole[places - 4096 : places + length + 4096]
    assert around.tolist() == list(range(-4096, length + 4096))


def test_with_the_fixes_on_their_passes_run(monkeypatch: pytest.MonkeyPatch) -> None:
    # A test of another room may have run before in this process, and have put them on.
    fixes.uninstall()
    ran = []
    (fix,) = installation.chosen([falling_indices.FIX])

    def chosen(arguments: Any) -> tuple[Any, ...]:
        ran.append(arguments)
        return (fix,)

    monkeypatch.setattr(bundled, "chosen", chosen)
    falling = subject(apply("//", apply("-", constant(5), variable(LOOP)), constant(2)), LOOP)
    two = constant(2, "int64")
    by_negative = subject(apply("//", apply("%", x, two), constant(-2, "int64")), X)
    for position, refused in ((INDEX, falling), (SHAPE, by_negative)):
        ran.clear()
        (wrong,) = compiled_faults([refused], position, How())
        assert (ran, [fault.check for fault in wrong or ()][:1]) == ([], [position])
        assert compiled_faults([refused], position, How(fixes=True)) == [()]
        assert ran


def test_the_fixes_refuse_negative_extents() -> None:
    (wrong,) = compiled_faults([BELOW], EXTENT, How(), NEGATIVE)
    assert [fault.message for fault in wrong or ()] == ["InternalError: std::bad_alloc"]
    three, two = constant(3, "int64"), constant(2, "int64")
    number = subject(apply("-", apply("-", x, x), three), X)
    bounded = subject(apply("-", apply("%", x, two), three), X)
    with installation.install([shape_guard.FIX]):
        for below in (BELOW, number, bounded):
            assert compiled_faults([below], EXTENT, How(fixes=True), NEGATIVE) == [()]
        assert compiled_faults([BELOW], EXTENT, How(fixes=True)) == [()]


def test_values_without_room_at_a_position_are_not_checked() -> None:
    condition = subject(apply("<", x, y))
    huge = subject(apply("*", x, constant(4096, "int64")))
    narrow = subject(apply("+", variable(Variable("x", "int32", 0, 3)), constant(1)))
    assert compiled_faults([condition, huge, SUBJECTS[0]], INDEX, How()) == [None, None, ()]
    assert compiled_faults([condition, narrow], SHAPE, How()) == [None, None]
    assert compiled_faults([condition, huge], VALUE, How()) == [(), ()]
    alone = ExpressionCase(family="algebra", at={**POINT, "position": INDEX}, subject=condition)
    assert outcome_of(alone).verdict is Verdict.NO_ORACLE
    block = replace(BLOCK, at={**POINT, "position": SHAPE, "dtype": "int32"}, count=4)
    assert outcome_of(block).checked == 0


@pytest.mark.parametrize(
    ("dtype", "low", "high", "room"),
    [
        ("int8", 0, 127, True),
        ("int8", -1, 127, False),
        ("int8", -128, -1, True),
        ("int8", -128, 0, False),
        ("uint8", 0, 255, True),
        ("int16", -3000, 1000, True),
        ("int64", -(2**63), -(2**63) + 4095, True),
    ],
)
def test_an_index_into_a_table_does_not_overflow(
    dtype: str, low: int, high: int, room: bool
) -> None:
    """It is the distance from the lower end, in the dtype of the expression."""
    choice = Variable("x", dtype, 0, 1)
    ends = (constant(high, dtype), constant(low, dtype))
    picked = apply("if_then_else", apply("==", variable(choice), constant(1, dtype)), *ends)
    assert (kernel_plan(subject(picked, choice), INDEX) is not None) is room
    if not dtype.startswith("u"):
        assert compiled_faults([subject(picked, choice)], INDEX, How()) == [() if room else None]


def test_a_loop_ends_below_the_largest_value_of_its_dtype() -> None:
    """Its end is one more than its last value."""
    for dtype, end in (("int8", 127), ("uint16", 2**16 - 1), ("int64", 2**63 - 1)):
        last, alone = Variable("x", dtype, end - 3, end), Variable("x", dtype, end, end)
        plan = kernel_plan(subject(variable(last), last), VALUE)
        assert plan is not None
        assert plan.wanted.astype(np.uint64).tolist() == [end - 3, end - 2, end - 1]
        both = [subject(variable(high), high) for high in (last, alone)]
        assert compiled_faults(both, VALUE, How()) == [(), None]


def test_undefined_values_are_not_checked() -> None:
    nowhere = subject(apply("//", x, apply("-", x, x)))
    assert compiled_faults([nowhere], VALUE, How()) == [None]


@pytest.mark.parametrize("position", SIZES)
def test_where_a_divisor_is_zero_it_only_has_to_live(
    position: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    zero = Variable("y", "int64", 0, 3)
    divided = subject(apply("//", x, variable(zero)), X, zero)
    calls = []
    error: Exception = InternalError("division by zero")

    def refused(argument: Any) -> Any:
        calls.append(argument)
        raise error

    monkeypatch.setattr(kernels, "_shape", refused)
    both = compiled_faults([SUBJECTS[0], divided], position, How(), UNDEFINED)
    assert both == [None, ()]
    assert calls == [[n, 0] for n in range(9)]
    at = {**POINT, "position": position, "dtype": "int64", "points": UNDEFINED}
    calls.clear()
    assert (
        outcome_of(ExpressionCase(family="algebra", at=at, subject=divided)).verdict is Verdict.PASS
    )
    assert calls
    error = ValueError("ours")
    with pytest.raises(ValueError, match="ours"):
        compiled_faults([divided], position, How(), UNDEFINED)


def test_a_window_is_part_of_the_range() -> None:
    wide = Variable("x", "int64", -(2**40), 2**41)
    result = {windows((wide, X, Y), text)[0] for text in map(str, range(30))}
    assert len(result) == 3
    assert all(wide.low <= window.low <= window.high <= wide.high for window in result)
    assert {window.high - window.low for window in result} == {7}
    assert windows((X,), "") == (X,)


def test_failures_only_together_with_others_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    build = kernels.kernels_built

    def together(made: list[list[Any]], how: How) -> Any:
        if sum(map(len, made)) > 2:
            raise InternalError("too many")
        return build(made, how)

    monkeypatch.setattr(kernels, "kernels_built", together)
    result = compiled_faults(SUBJECTS[:4], VALUE, How())
    assert result[1:] == [()] * 3
    assert [(fault.check, fault.message) for fault in result[0] or ()] == [
        (RAISES, "InternalError: too many")
    ]
    assert compiled_faults(SUBJECTS[:2], VALUE, How()) == [()] * 2
