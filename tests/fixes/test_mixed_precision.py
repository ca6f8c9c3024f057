"""ToMixedPrecision with the fix computes the same function as before."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

import fixes
from tests.fixes import compiled, reference

SHAPE = (1, 3, 2, 4)
# float16 holds 11 bits; inputs, and the output, are rounded to it.
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
    module = compiled.module(lambda *given: relax.op.nn.attention(*given, **kw), *shapes)
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
    # 64 * 127 * 127 is above the largest float16 and needs more bits than it has.
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
