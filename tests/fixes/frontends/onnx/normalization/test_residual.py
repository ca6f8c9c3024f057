"""SkipLayerNormalization and EmbedLayerNormalization agree with ONNX Runtime and with NumPy."""

from collections.abc import Iterator

import numpy as np
import pytest

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.frontends.onnx.normalization.residual import FIX
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_nodes import Array, NodeCase, check

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

MICROSOFT = "com.microsoft"
RANDOM = np.random.default_rng(0)


def sample(*shape: int, dtype: str = "float32") -> Array:
    return RANDOM.standard_normal(shape).astype(dtype)


PROGRAMS: whole.Programs = {
    FIX.name: {
        "skip": (whole.upstream("onnx_residual_normalization", "sum_is_an_output"),),
        "embeddings": (whole.upstream("onnx_residual_normalization", "embeddings"),),
    }
}

CURES: whole.Cures = {
    "onnx-skip-layer-norm-no-bias": ((FIX.name, "skip"),),
}


@pytest.fixture(autouse=True)
def importing(fixes_off: None) -> Iterator[None]:
    with installation.install([FIX]):
        yield


@pytest.mark.parametrize("beta", [False, True])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_skip(dtype: str, bias: bool, beta: bool) -> None:
    inputs: dict[str, Array | None] = {
        "input": sample(2, 3, 4, dtype=dtype),
        "skip": sample(2, 3, 4, dtype=dtype),
        "gamma": sample(4, dtype=dtype),
        "beta": sample(4, dtype=dtype) if beta else None,
        "bias": sample(4, dtype=dtype) if bias else None,
    }
    settings = {"domain": MICROSOFT, "epsilon": 0.01}
    shapes: dict[str, tuple[int | str, ...]] = {"input": ("B", "S", 4), "skip": ("B", "S", 4)}
    check(NodeCase("SkipLayerNormalization", 17, inputs, settings))
    check(NodeCase("SkipLayerNormalization", 17, inputs, settings, shapes=shapes))


def test_all_outputs_of_skip() -> None:
    """ONNX Runtime leaves the statistics out."""
    data, skip = sample(2, 3, 4), sample(2, 3, 4)
    total = data + skip
    mean = total.mean(2, keepdims=True)
    inverse = 1 / np.sqrt(total.var(2, keepdims=True) + np.float32(0.01))
    gamma = sample(4)
    expected = ((total - mean) * inverse * gamma, mean, inverse, total)
    check(
        NodeCase(
            "SkipLayerNormalization",
            17,
            {"input": data, "skip": skip, "gamma": gamma},
            {"domain": MICROSOFT, "epsilon": 0.01},
            outputs=4,
            expected=expected,
        )
    )


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("segmented", [False, True])
@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_embeddings(masked: bool, placed: bool, segmented: bool, symbolic: bool) -> None:
    def ids(most: int) -> Array:
        return RANDOM.integers(0, most, (2, 3)).astype(np.int32)

    inputs: dict[str, Array | None] = {
        "input_ids": ids(7),
        "segment_ids": ids(2) if segmented else None,
        "word_embedding": sample(7, 4),
        "position_embedding": sample(5, 4),
        "segment_embedding": sample(2, 4) if segmented else None,
        "gamma": sample(4),
        "beta": sample(4),
        "mask": ids(2) if masked else None,
        "position_ids": ids(5) if placed else None,
    }
    wanted = ("input_ids", "segment_ids", "mask", "position_ids") if symbolic else ()
    shapes = {name: ("B", "S") for name in wanted if inputs[name] is not None}
    settings = {"domain": MICROSOFT, "epsilon": 0.01}
    operator = "EmbedLayerNormalization"
    check(NodeCase(operator, 17, inputs, settings, shapes=shapes, outputs=2))
    check(NodeCase(operator, 17, inputs, settings, shapes=shapes, outputs=3))
