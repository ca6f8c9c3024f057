"""Which products the fix of mixed precision leaves to TVM, and which it leaves as they are."""

from typing import Any

import pytest
from tvm import relax

import fixes
from tests.fixes import compiled


def mixed(module: Any, out_dtype: str) -> str:
    return str(relax.transform.ToMixedPrecision(out_dtype)(module))


@pytest.mark.parametrize("out_dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    ("dtype", "result"),
    [
        ("float32", None),
        ("float16", None),
        ("float16", "float32"),
        ("float32", "float16"),
    ],
)
def test_floats_are_left_to_tvm(dtype: str, result: str | None, out_dtype: str) -> None:
    def make(left: Any, right: Any) -> Any:
        return relax.op.matmul(left, right, out_dtype=result)

    module = compiled.module(make, (2, 3), (3, 4), dtypes=(dtype, dtype))
    want = mixed(module, out_dtype)
    with fixes.install():
        assert mixed(module, out_dtype) == want


@pytest.mark.parametrize(
    ("dtype", "result"),
    [("bfloat16", None), ("float64", None), ("float16", "float64"), ("int8", "int32")],
)
def test_other_dtypes_stay(fixes_on: None, dtype: str, result: str | None) -> None:
    def make(data: Any, kernel: Any) -> Any:
        return relax.op.nn.conv1d(data, kernel, out_dtype=result)

    module = compiled.module(make, (1, 2, 3), (2, 2, 2), dtypes=(dtype, dtype))
    for out_dtype in ("float16", "float32"):
        made = relax.transform.ToMixedPrecision(out_dtype)(module)
        assert str(made) == str(module)


@pytest.mark.parametrize("operator", ["attention", "attention_bias", "attention_var_len"])
def test_attention_stays_but_for_its_operands(fixes_on: None, operator: str) -> None:
    shape = (1, 3, 2, 4)
    more: dict[str, tuple[Any, ...]] = {
        "attention": (),
        "attention_bias": ((1, 2, 3, 3),),
        "attention_var_len": ((3,), (), (3,), ()),
    }
    shapes = (shape, shape, shape, *more[operator])
    dtypes = tuple("float32" if len(shape) == 4 else "int32" for shape in shapes)
    module = compiled.module(
        lambda *given: getattr(relax.op.nn, operator)(*given, scale=0.25, causal_mask="TopLeft"),
        *shapes,
        dtypes=dtypes,
    )
    made = relax.transform.ToMixedPrecision("float32")(module)
    assert f"relax.nn.{operator}" in compiled.calls(made)
    assert 'scale=T.float32(0.25), causal_mask="TopLeft"' in str(made)
