"""Compiled sizes of tensors: parameters of another size and negative extents are refused."""

from collections.abc import Callable
from typing import Any

import pytest
from tvm.error import InternalError

from relaxcheck.generators.expressions.cases import (
    EXTENT,
    NEGATIVE,
    PARAMETER,
)
from relaxcheck.generators.expressions.language import (
    apply,
    constant,
)
from relaxcheck.harness.expressions import kernels
from relaxcheck.harness.expressions.compiled import RAISES, compiled_faults
from relaxcheck.harness.expressions.kernels import How
from tests.harness.expressions.compiled_subjects import BELOW, SUBJECTS, X, subject, x, y

Main = Callable[..., Any]


def called(monkeypatch: pytest.MonkeyPatch, built: str, change: Callable[[Main], Main]) -> None:
    """Call the functions that ``kernels`` builds as ``change`` has it."""
    build = getattr(kernels, built)
    monkeypatch.setattr(kernels, built, lambda *arguments: change(build(*arguments)))


def test_a_tensor_of_another_size_than_a_parameter_has_to_be_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text: Exception | None = None
    sizes = set()

    def changed(main: Main) -> Main:
        def call(numbers: Any, size: Any) -> object:
            sizes.add((numbers[0], size[0]))
            try:
                return main(numbers, size)
            except RuntimeError:
                if text is not None:
                    raise text from None
                return ()

        return call

    assert compiled_faults([BELOW, SUBJECTS[0]], PARAMETER, How()) == [(), ()]
    called(monkeypatch, "parameters_built", changed)
    result = compiled_faults([BELOW, SUBJECTS[0]], PARAMETER, How())
    assert [each.check for faults in result for each in faults or ()] == ["parameter-accepted"] * 2
    assert {(n, n - 3) for n in range(3, 9)} < sizes
    assert {(3, 1), (8, 4), (0, 0)} < sizes
    text = InternalError("another size")
    ((fault,),) = (faults or () for faults in compiled_faults([BELOW], PARAMETER, How()))
    assert (fault.check, fault.witness) == ("parameter-untold", {"x": 3})
    # At x = 3 it is 0, and TVM says to have computed another number.
    text = InternalError("Check failed: input_shape[i] == heap_data[reg] (1 vs. 2) : shape[0]")
    ((fault,),) = (faults or () for faults in compiled_faults([BELOW], PARAMETER, How()))
    assert (fault.check, fault.witness) == ("parameter-computed", {"x": 3})
    assert "is 0, and a tensor of 1 is compared with 2: " in fault.message


def test_a_tensor_that_is_made_has_the_extent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compiled_faults([BELOW, SUBJECTS[0]], EXTENT, How()) == [(), ()]
    called(
        monkeypatch,
        "extents_built",
        lambda main: lambda numbers: [max(1, size) for size in main(numbers)],
    )
    result, right = compiled_faults([BELOW, subject(apply("+", x, y))], EXTENT, How())
    assert right == ()
    assert [(fault.check, fault.witness) for fault in result or ()] == [("extent", {"x": 3})]


@pytest.mark.parametrize(
    ("message", "faults"),
    [
        ("an extent of {}", []),
        ("bad_alloc", [(RAISES, "InternalError: bad_alloc")]),
        ("", [("extent", "x - 3 at x = 0 is -3, and the tensor has 0")]),
    ],
)
def test_a_negative_extent_has_to_be_refused_by_an_error_that_tells_it(
    message: str, faults: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(numbers: Any) -> object:
        if not message:
            return (0,)
        raise InternalError(message.format(numbers[0] - 3))

    called(monkeypatch, "extents_built", lambda main: call)
    never, result = compiled_faults([SUBJECTS[0], BELOW], EXTENT, How(), NEGATIVE)
    assert never is None
    assert [(fault.check, fault.message) for fault in result or ()] == faults


@pytest.mark.parametrize(
    ("highest", "message", "is_right"),
    [
        (-2, "int8, at most -2", True),
        (-2, "at most -1", True),
        (-2, "x % 2 - 3 is below 0", False),
        (-2, "at most -3", False),
        (0, "at most -1", False),
    ],
)
def test_an_always_negative_extent_may_be_refused_at_compile_time(
    highest: int, message: str, is_right: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: Any) -> None:
        raise InternalError(message)

    monkeypatch.setattr(kernels, "extents_built", refused)
    negative = subject(
        apply("+", apply("%", x, constant(-2, "int64")), constant(highest, "int64")), X
    )
    (result,) = compiled_faults([negative], EXTENT, How(), NEGATIVE)
    wanted = [] if is_right else [(RAISES, f"InternalError: {message}")]
    assert [(fault.check, fault.message) for fault in result or ()] == wanted
