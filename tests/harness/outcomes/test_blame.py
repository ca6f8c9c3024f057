"""Whose an exception is, of some that TVM raises and some that it does not."""

from collections.abc import Callable

import pytest
import tvm
from tvm import tirx
from tvm.error import InternalError

from relaxcheck.harness.outcomes.blame import called, is_of_tvm

OF_TVM: dict[str, Callable[[], object]] = {
    "a value that no int32 has": lambda: tirx.const(2**40, "int32"),
    "an operand that is none": lambda: tirx.Add(None, tirx.const(1, "int32")),
    "a shape that is none": lambda: tvm.runtime.ShapeTuple(["a"]),
}


@pytest.mark.parametrize("error", OF_TVM)
def test_errors_raised_within_tvm_are_its_own(error: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011
        OF_TVM[error]()
    assert not type(raised.value).__module__.startswith("tvm")
    assert is_of_tvm(raised.value)


def test_a_class_of_tvm_is_enough() -> None:
    assert is_of_tvm(InternalError("no"))


def test_the_same_of_our_own_making_is_not() -> None:
    with pytest.raises(ValueError, match="invalid") as raised:
        int("tvm")
    assert not is_of_tvm(raised.value)


def test_the_function_of_tvm_that_was_called_is_named() -> None:
    for error, name in (("a value that no int32 has", "const"), ("an operand that is none", "")):
        with pytest.raises(ValueError, match="Check failed") as raised:
            OF_TVM[error]()
        assert called(raised.value) == name
