"""A draft writes axes, limits and sizes as its opset has them."""

import numpy as np
import onnxruntime
import pytest

from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.graphs.drafting import Drafting, bindings_of
from relaxcheck.generators.onnx.model import NODE, Model
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.generators.onnx.sketch import ALL, BATCH, STATIC


def _run(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The value of the input ``x``, and the first output."""
    case = OnnxCase("onnx-graph", model, seed=3)
    proto = model_proto(model, constants(case))
    session = onnxruntime.InferenceSession(proto.SerializeToString())
    feeds = arrays(case, 0)
    return feeds["x"], session.run(None, {"x": feeds["x"]})[0]


@pytest.mark.parametrize("opset", [9, 11, 13, 18, 21])
@pytest.mark.parametrize("held", ["initializer", NODE])
def test_nodes_mean_the_same_in_every_opset(opset: int, held: str) -> None:
    draft = Drafting(opset, held=held, dims=STATIC)
    value = draft.data("x", (4, 6))
    value = draft.clipped(value, -0.5, 1.0)
    value = draft.padded(value, 0, 1, 0, 0)
    first, _ = draft.split(value, 1, 3, 4)
    value = draft.sliced(first, 0, 1, -1)
    value = draft.unsqueezed(value, 0)
    value = draft.reduced("ReduceSum", value, 2)
    value = draft.reduced("ReduceMean", value, 0, keep=False)
    draft.outputs = [draft.squeezed(value, 1)]
    x, result = _run(draft.model())
    wide = np.pad(np.clip(x, -0.5, 1.0), ((0, 0), (1, 0)))[1:-1, :3]
    np.testing.assert_allclose(result, wide.sum(1), rtol=1e-6)


def test_casts_name_the_dtype() -> None:
    draft = Drafting(18, dims=STATIC)
    draft.outputs = [draft.cast(draft.data("x", (3,)), "int64")]
    x, result = _run(draft.model())
    assert result.dtype == np.int64
    assert result.tolist() == np.trunc(x).tolist()


@pytest.mark.parametrize(("dims", "symbols"), [(ALL, {"B", "S"}), (BATCH, {"B"}), (STATIC, set())])
def test_bindings_are_of_the_symbols_that_are_left(dims: str, symbols: set[str]) -> None:
    draft = Drafting(18, dims=dims)
    draft.outputs = [draft.call("Relu", draft.data("x", (draft.batch, draft.length)))]
    rows = bindings_of(draft)
    assert all(set(row) == symbols for row in rows)
    assert len(rows) == (3 if symbols else 1)
