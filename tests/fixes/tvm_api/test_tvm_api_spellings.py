"""The spellings of older TVM releases, and the error for an expression without a shape."""

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from tests.fixes.compiled import build, module


def test_the_type_of_an_expression_was_called_struct_info() -> None:
    kind = tvm_api.tensor_type((2, 3), "float16")
    old: Any = SimpleNamespace(struct_info_=kind)
    assert tvm_api.type_of(old) is kind
    assert tvm_api.dtype_of(old) == "float16"
    assert tvm_api.has_shape(old)
    assert tvm_api.is_tensor(old)
    assert list(map(int, tvm_api.shape_of(old))) == [2, 3]


def test_a_dtype_was_its_own_text() -> None:
    assert tvm_api.dtype_of(SimpleNamespace(dtype="int8")) == "int8"
    assert tvm_api.dtype_of(SimpleNamespace(ty=SimpleNamespace(dtype="int16"))) == "int16"
    value = SimpleNamespace(ty=None, struct_info_=SimpleNamespace(dtype="int32"))
    assert tvm_api.dtype_of(value) == "int32"


def test_the_tensor_of_a_constant() -> None:
    numbers = np.arange(6, dtype="int64").reshape(2, 3)
    constant = tvm_api.const(numbers)
    np.testing.assert_array_equal(tvm_api.tensor_of(constant).numpy(), numbers)
    old: Any = SimpleNamespace(data=numbers)
    assert tvm_api.tensor_of(old) is numbers


def test_an_expression_without_a_shape_is_shown_with_its_type() -> None:
    variable = relax.Var("x", tvm_api.unshaped_type(2, "float32"))
    text = 'x: its shape is not known, only R.Tensor(dtype="float32", ndim=2)'
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        tvm_api.shape_of(variable)


def test_non_tensors_have_no_shape() -> None:
    builder = relax.BlockBuilder()
    pair = builder.normalize(relax.Tuple([relax.const(1.0), relax.const(2.0)]))
    assert not tvm_api.is_tensor(pair)
    assert not tvm_api.has_shape(pair)
    assert tvm_api.is_tensor(relax.const(1.0))


def test_symbols_and_integers_have_64_bits() -> None:
    symbol = tvm_api.shape_var("n")
    assert (symbol.name, tvm_api.dtype_of(symbol)) == ("n", "int64")
    assert tvm_api.dtype_of(tvm_api.integer(1 << 40)) == "int64"
    assert int(tvm_api.integer(1 << 40)) == 1 << 40
    for made in (tvm_api.floordiv(7, symbol), tvm_api.floormod(7, symbol)):
        assert tvm_api.dtype_of(made) == "int64"
    assert tvm_api.dtype_of(tvm_api.at_least_one(symbol)) == "int64"


def test_conditions() -> None:
    prove = tvm_api.analyzer().can_prove
    n = tvm_api.shape_var("n")
    assert prove(tvm_api.equal(n + n, 2 * n))
    assert prove(tvm_api.equal(3, tvm_api.integer(3)))
    assert prove(tvm_api.negated(tvm_api.equal(3, 4)))
    assert not prove(tvm_api.equal(n, 4))
    # The larger of 1 and an unknown that is at least 1 is the unknown.
    extent = tvm_api.at_least_one(1)
    assert extent == 1
    assert prove(tvm_api.at_least_one(n) >= 1)
    assert not prove(tvm_api.at_least_one(n) >= 2)
    assert prove(tvm_api.equal(tvm_api.at_least_one(n * 0 - 5), 1))


def test_dimensions_are_shown_without_their_dtype() -> None:
    n = tvm_api.shape_var("n")
    assert tvm_api.show(()) == "()"
    assert tvm_api.show((n,)) == "(n)"
    assert tvm_api.show([[1, n], 2]) == "((1, n), 2)"
    assert tvm_api.show(tvm_api.floordiv(n, 3) - 7) == "n // 3 - 7"
    assert tvm_api.show(tirx.max(n, tvm_api.integer(-3))) == "T.max(n, -3)"
    assert tvm_api.show(n - n + 12) == "12"


def test_a_constant_of_an_array_that_is_not_contiguous() -> None:
    array = np.arange(12, dtype="int16").reshape(3, 4).T[::2]
    constant = tvm_api.const(array)
    zeros = np.zeros(array.shape, array.dtype)
    added = module(lambda x: relax.op.add(x, constant), array.shape, dtypes=("int16",))
    np.testing.assert_array_equal(build(added)(zeros), array)
    assert tvm_api.dtype_of(constant) == "int16"


def test_dtypes_of_tensors_of_te() -> None:
    tensor = te.placeholder((2, 3), dtype="bfloat16")
    assert tvm_api.dtype_of(tensor) == "bfloat16"
    assert tvm_api.dtype_of(tensor[0, 1]) == "bfloat16"
    assert tvm_api.dtype_of(te.compute((2,), lambda i: tensor[i, 0] * 2)) == "bfloat16"


def test_names_of_attributes_are_sorted_and_none_is_private() -> None:
    attrs = SimpleNamespace(window=1, axis=2, _hidden=3)
    assert tvm_api.attribute_names(attrs) == ["axis", "window"]


def test_a_dtype_that_is_not_given_is_none() -> None:
    attrs = SimpleNamespace(out_dtype="", data_layout="", groups=0)
    assert tvm_api.attribute_values(attrs) == {"data_layout": "", "groups": 0, "out_dtype": None}
    assert tvm_api.attribute_values(SimpleNamespace(out_dtype="int8")) == {"out_dtype": "int8"}


def test_unnormalized_expressions_are_no_tensors_yet() -> None:
    x = relax.Var("x", tvm_api.tensor_type((2, 3), "float32"))
    made = relax.op.nn.relu(x)
    assert not tvm_api.is_tensor(made)
    assert not tvm_api.has_shape(made)
