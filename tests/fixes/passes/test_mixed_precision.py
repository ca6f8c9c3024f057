"""ToMixedPrecision with the fix computes the same function as before."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from tests.fixes import compiled, reference
from tests.fixes import whole_programs as whole

SHAPE = (1, 3, 2, 4)
# float16 has 11 bits; inputs and output are rounded to it.
HALF = 1e-2


def mixed(module: Any, out_dtype: str = "float32") -> Any:
    return relax.transform.ToMixedPrecision(out_dtype)(module)


ATTENTION: list[tuple[int, dict[str, Any]]] = [
    (3, {"scale": 0.1}),
    (3, {"causal_mask": "TopLeft"}),
    (3, {"causal_mask": "BottomRight", "window_size": 1}),
    (4, {}),
]


@pytest.mark.parametrize(("count", "kw"), ATTENTION)
def test_attention_keeps_its_attributes(count: int, kw: dict[str, Any]) -> None:
    shapes = [SHAPE, SHAPE, SHAPE, (1, 2, 3, 3)][:count]
    tensors = [compiled.sample(shape, "float32", seed) for seed, shape in enumerate(shapes)]
    want = reference.attention(*tensors, **kw)
    module = compiled.module(lambda *operands: relax.op.nn.attention(*operands, **kw), *shapes)
    with fixes.install():
        out = compiled.build(mixed(module))(*tensors)
        assert 'dtype="float16"' in str(mixed(module))
    assert np.abs(out - want).max() < HALF


def test_sequences_stay_apart() -> None:
    tensors = [compiled.sample(SHAPE, "float32", seed) for seed in range(3)]
    module = compiled.module(
        relax.op.nn.attention_var_len,
        *(SHAPE, SHAPE, SHAPE, (3,), ()),
        dtypes=("float32",) * 3 + ("int32",) * 2,
    )
    with fixes.install():
        out = compiled.build(mixed(module))(
            *tensors, np.array([0, 1, 3], "int32"), np.array(2, "int32")
        )
    want = reference.attention_var_len(*tensors, [0, 1, 3], [0, 1, 3])
    assert np.abs(out - want).max() < HALF


@pytest.mark.parametrize("out_dtype", ["float32", "float16"])
@pytest.mark.parametrize(("dtype", "result"), [("int8", "int32"), ("float64", None)])
def test_products_beyond_half_precision_stay_exact(
    dtype: str, result: str | None, out_dtype: str
) -> None:
    # 64 * 127 * 127 exceeds float16, and needs more bits than it has.
    data, kernel = np.full((1, 64, 1), 127, dtype), np.full((64, 1, 1), 127, dtype)
    kernel[0] = 126
    module = compiled.module(
        lambda x, w: relax.op.nn.conv1d_transpose(x, w, out_dtype=result),
        data.shape,
        kernel.shape,
        dtypes=(dtype, dtype),
    )
    with fixes.install():
        out = compiled.build(mixed(module, out_dtype))(data, kernel)
    assert out.dtype == np.dtype(result or dtype)
    assert out.item() == 63 * 127 * 127 + 127 * 126


def test_products_of_floats_are_still_lowered(fixes_on: None) -> None:
    module = compiled.module(relax.op.matmul, (2, 3), (3, 4))
    assert 'out_dtype="float32"' in str(mixed(module))
    assert 'dtype="float16"' in str(mixed(module))


def mixes(operator: str, *more: Any, dtypes: tuple[str, ...]) -> None:
    """Every attribute and argument of attention remains after ToMixedPrecision."""
    make = partial(getattr(relax.op.nn, operator), scale=0.25, causal_mask="TopLeft")
    module = compiled.module(make, SHAPE, SHAPE, SHAPE, *more, dtypes=dtypes)
    text = str(relax.transform.ToMixedPrecision()(module))
    assert f"R.nn.{operator}(" in text
    assert "TopLeft" in text
    assert "0.25" in text


def mixed_text(module: Any, out_dtype: str) -> str:
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
    want = mixed_text(module, out_dtype)
    with fixes.install():
        assert mixed_text(module, out_dtype) == want


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
        lambda *tensors: getattr(relax.op.nn, operator)(
            *tensors, scale=0.25, causal_mask="TopLeft"
        ),
        *shapes,
        dtypes=dtypes,
    )
    made = relax.transform.ToMixedPrecision("float32")(module)
    assert f"relax.nn.{operator}" in compiled.calls(made)
    assert 'scale=T.float32(0.25), causal_mask="TopLeft"' in str(made)


PROGRAMS: whole.Programs = {
    "mixed_precision_attention": {
        "attributes": (partial(mixes, "attention", dtypes=()),),
        "biases": (partial(mixes, "attention_bias", (1, 1, 3, 3), dtypes=()),),
        "sequences": (
            partial(
                mixes,
                *("attention_var_len", (3,), ()),
                dtypes=("float32", "float32", "float32", "int32", "int32"),
            ),
        ),
    },
    "mixed_precision_products": {
        name: tuple(
            whole.upstream(
                "mixed_precision_products",
                "nothing_is_cast",
                operator=operator,
                dtype=dtype,
                out_dtype=out_dtype,
            )
            for operator in (relax.op.nn.conv1d, relax.op.nn.conv1d_transpose)
        )
        for name, dtype, out_dtype in (
            ("integers", "int8", "int32"),
            ("float64", "float64", "float64"),
            ("bfloat16", "bfloat16", "bfloat16"),
        )
    },
}

CURES: whole.Cures = {
    "attention-bias-mixed-precision": (("mixed_precision_attention", "biases"),),
    "attention-scale-mixed-precision": (("mixed_precision_attention", "attributes"),),
    "attention-window-mixed-precision": (("mixed_precision_attention", "attributes"),),
    "attention-var-len-mixed-precision": (("mixed_precision_attention", "sequences"),),
}
