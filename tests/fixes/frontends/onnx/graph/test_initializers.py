"""The initializers of a graph, sparse ones among them, and the names of parameters."""

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from relaxcheck.fixes.tvm_api import shapes
from tests.fixes import onnx_texts
from tests.fixes import whole_programs as whole
from tests.fixes.onnx_texts import floats

SUM = "f (float[3] x) => (float[3] z) { y = Add (x, w) z = Mul (y, v) }"


def sparse(values: Any, places: Any, shape: list[int], name: str) -> Any:
    return helper.make_sparse_tensor(
        numpy_helper.from_array(np.array(values, np.float32), name),
        numpy_helper.from_array(np.array(places, np.int64), f"{name}_places"),
        shape,
    )


@pytest.mark.parametrize("places", [[1, 4], [[0, 1], [1, 1]]])
def test_sparse_initializers(places: Any, fixes_on: None) -> None:
    model = onnx_texts.model_of("f (float[2,3] x) => (float[2,3] y) { y = Add (x, w) }")
    model.graph.sparse_initializer.append(sparse([5, 7], places, [2, 3], "w"))
    (actual,) = onnx_texts.compiled(onnx_texts.imported(model))(floats(2, 3))
    assert actual.tolist() == [[0, 6, 2], [3, 11, 5]]


@pytest.mark.parametrize("first", ["w", "onnx::w"])
@pytest.mark.parametrize("other", ["w", "x"])
def test_names_behind_a_prefix(first: str, other: str, fixes_on: None) -> None:
    """A weight may have the name of another one, or of an input, behind ``onnx::``."""
    model = onnx_texts.model_of(SUM)
    names = {"w": other if other == "w" else "onnx::x", "v": "onnx::w"}
    if first == "onnx::w":
        names = {"w": names["v"], "v": names["w"]}
    for node in model.graph.node:
        node.input[1] = names[node.input[1]]
    for number, name in enumerate(names.values()):
        held = np.full(3, number + 2, np.float32)
        model.graph.initializer.append(numpy_helper.from_array(held, name))
    module = onnx_texts.imported(model, keep_params_in_input=True)
    kept = [shapes.name_of(each) for each in module["main"].params]
    assert len(set(kept)) == len(kept) == 3
    weights = [each.numpy() for each in module["main"].attrs["params"]]
    (actual,) = onnx_texts.compiled(module)(floats(3), *weights)
    assert actual.tolist() == [6, 9, 12]


PROGRAMS: whole.Programs = {
    "onnx_initializers": {
        "sparse ones": (whole.upstream("onnx_initializers", "a_sparse_one"),),
        "weights of one name": (whole.upstream("onnx_initializers", "two_of_one_name"),),
    },
}
