"""ONNX's LayerNormalization and RMSNormalization agree with ONNX Runtime and with NumPy."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.normalization.layers import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check, programs

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RANDOM = np.random.default_rng(0)
DATA = RANDOM.standard_normal((2, 3, 4)).astype(np.float32)


def statistics(data: Array, axis: int) -> tuple[Array, Array, Array]:
    """The normalized data, their mean, and one over their standard deviation."""
    axes = tuple(range(axis % data.ndim, data.ndim))
    mean = data.mean(axes, keepdims=True)
    inverse = 1 / np.sqrt(data.var(axes, keepdims=True) + np.float32(1e-5))
    return (data - mean) * inverse, mean, inverse


def layer(
    data: Array, axis: int, scale: Array, bias: Array | None, *, outputs: int = 1
) -> NodeCase:
    inputs = {"X": data, "Scale": scale} | ({} if bias is None else {"B": bias})
    normal, *further = statistics(data, axis)
    result = normal * scale + (0 if bias is None else bias)
    expected = (result, *further)[:outputs]
    return NodeCase(
        "LayerNormalization",
        17,
        inputs,
        {"axis": axis},
        outputs=outputs,
        expected=tuple(each.astype(data.dtype) for each in expected),
    )


PROGRAMS: whole.Programs = {
    FIX.name: {
        "statistics": programs(layer(DATA, 1, DATA[0], None, outputs=3)),
        "scales that broadcast": programs(
            NodeCase("RMSNormalization", 23, {"X": DATA, "scale": DATA[0, 0]}, {"axis": 1})
        ),
    }
}

CURES: whole.Cures = {
    "onnx-layer-norm-statistics": ((FIX.name, "statistics"),),
    "onnx-layer-norm-scale-of-one": ((FIX.name, "scales that broadcast"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_layers(axis: int) -> None:
    scale = RANDOM.standard_normal(DATA.shape[axis:]).astype(np.float32)
    check(layer(DATA, axis, scale, None))
    check(layer(DATA, axis, scale, 2 * scale, outputs=3))
    check(layer(DATA, axis, scale.ravel()[:1], None))


@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes_and_a_symbolic_batch(axis: int, dtype: str) -> None:
    data = DATA.astype(dtype)
    scale = RANDOM.standard_normal(DATA.shape[axis:]).astype(dtype)
    shapes = {"X": ("B", 3, 4)}
    settings = {"axis": axis}
    inputs = {"X": data, "Scale": scale}
    check(NodeCase("LayerNormalization", 17, inputs, settings, shapes=shapes))
    check(NodeCase("RMSNormalization", 23, {"X": data, "scale": scale}, settings, shapes=shapes))


def test_statistics_of_float16_are_of_float32() -> None:
    data = DATA.astype(np.float16)
    normal, mean, inverse = statistics(data.astype(np.float32), -1)
    expected = (normal.astype(np.float16), mean, inverse)
    inputs = {"X": data, "Scale": np.ones(4, np.float16)}
    check(NodeCase("LayerNormalization", 17, inputs, outputs=3, expected=expected))


def test_errors_name_operator_and_attribute() -> None:
    inputs = {"X": DATA, "Scale": DATA[0, 0]}
    for name, value in (("axis", 3), ("stash_type", 7)):
        with pytest.raises(ValueError, match=rf"LayerNormalization is invalid with {name}={value}"):
            check(NodeCase("LayerNormalization", 17, inputs, {name: value}))
