import ml_dtypes
import numpy as np
import pytest
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api

DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "bool", "bfloat16")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0, 3), (2,)])
def test_constants_keep_dtype_shape_and_values(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    constant = tvm_api.const(array)
    assert tvm_api.dtype_of(constant) == dtype
    assert tuple(map(int, tvm_api.shape_of(constant))) == shape


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtype_has_one_spelling_everywhere(dtype: str) -> None:
    variable = relax.Var("x", tvm_api.tensor_type((2, tvm_api.shape_var("n")), dtype))
    values = (
        variable,
        tvm_api.type_of(variable),
        te.placeholder((2,), dtype=dtype),
        tirx.Var("v", dtype),
        dtype,
    )
    assert {tvm_api.dtype_of(value) for value in values} == {dtype}


def test_unknown_shape_is_an_error() -> None:
    variable = relax.Var("x", tvm_api.unshaped_type(2, "float32"))
    assert not tvm_api.has_shape(variable)
    with pytest.raises(ValueError, match="not known"):
        tvm_api.shape_of(variable)


def test_at_least_one_leaves_what_is_positive() -> None:
    n = tvm_api.shape_var("n")
    assert tvm_api.as_int(tvm_api.at_least_one(tvm_api.integer(3))) == 3
    assert tvm_api.as_int(tvm_api.at_least_one(tvm_api.integer(0))) == 1
    assert tvm_api.as_int(tvm_api.at_least_one(n)) is None


def test_dimensions_read_as_they_are_written() -> None:
    n = tvm_api.shape_var("n")
    assert tvm_api.show(n * 2 - 3) == "n * 2 - 3"
    assert tvm_api.show((3, n, tvm_api.integer(4))) == tvm_api.show([3, n, 4]) == "(3, n, 4)"
    assert tvm_api.show(tvm_api.integer(-1)) == "-1"
    variable = relax.Var("x", tvm_api.tensor_type((2, n + 1), "float32"))
    assert tvm_api.show(tvm_api.type_of(variable).shape.values) == "(2, n + 1)"


def test_division_by_one_leaves_the_dividend() -> None:
    n = tvm_api.shape_var("n")
    assert tvm_api.floordiv(n, 1) is n
    assert tvm_api.as_int(tvm_api.floormod(n, 1)) == 0
    assert tvm_api.as_int(tvm_api.floormod(n, tvm_api.integer(1))) == 0
    assert [tvm_api.as_int(tvm_api.floordiv(a, 3)) for a in (7, -7)] == [2, -3]
    assert [tvm_api.as_int(tvm_api.floormod(a, 3)) for a in (7, -7)] == [1, 2]


def test_a_dimension_is_an_integer_where_it_can_be_nothing_else() -> None:
    n = tvm_api.shape_var("n")
    assert [tvm_api.as_int(dim) for dim in (3, tvm_api.integer(3), n - n + 3)] == [3, 3, 3]
    assert tvm_api.as_int(n) is tvm_api.as_int(n + 3) is None


def test_attribute_names_are_those_of_the_call() -> None:
    x = relax.Var("x", tvm_api.tensor_type((1, 2, 3, 4), "float32"))
    names = tvm_api.attribute_names(relax.op.nn.attention(x, x, x).attrs)
    assert names == ["causal_mask", "scale", "window_size"]


def test_an_operator_that_does_not_exist_is_none() -> None:
    assert tvm_api.get_op("relax.nn.no_such_operator") is None
    assert tvm_api.get_op("relax.nn.attention").name == "relax.nn.attention"


def test_the_extent_itself_is_returned_where_it_is_at_least_one() -> None:
    for extent in (tvm_api.integer(1), tvm_api.integer(2), tvm_api.shape_var("n") * 0 + 1):
        assert tvm_api.at_least_one(extent) is extent
