"""The initializers of a graph: sparse ones, and weights whose names differ by a prefix alone."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import tvm

from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding, invalid
from relaxcheck.fixes.framework.patch import Method, NewFile
from relaxcheck.fixes.framework.probes import Array
from relaxcheck.fixes.frontends.onnx.converting import IMPORTER
from relaxcheck.fixes.frontends.onnx.graph.attributes import dense
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model

UPSTREAM = NewFile("relax/frontend/onnx/initializers.py")

_PREFIX = "onnx::"
"""PyTorch puts it before the names of some weights."""


def parse_graph_initializers(importer: Any, graph: Any) -> None:
    """Make of each initializer of ``graph`` a constant, or a parameter if they are kept as inputs.

    Raises:
        ValueError: one has no name.
    """
    from tvm import relax

    arrays = dict(_arrays(importer, graph))
    taken = {*(value.name for value in graph.input), *arrays}
    for name, array in arrays.items():
        if not name.strip():
            raise invalid("The graph", "each initializer needs a name", initializer=name)
        if not importer._keep_params_in_input:
            importer._nodes[name] = relax.const(array)
            continue
        own = name.removeprefix(_PREFIX)
        while own != name and own in taken:
            own += "_"
        taken.add(own)
        variable = importer._new_var(own, shape=array.shape, dtype=array.dtype)
        importer._nodes[name] = variable
        importer._params[own] = (variable, array)


def _arrays(importer: Any, graph: Any) -> Iterator[tuple[str, Any]]:
    """The names and values of the initializers of ``graph``."""
    for tensor in graph.initializer:
        yield tensor.name, importer._parse_array(tensor)
    for sparse in graph.sparse_initializer:
        yield sparse.values.name, tvm.runtime.tensor(dense(sparse))


def _rebindings() -> tuple[MethodRebinding, ...]:
    from tvm.relax.frontend.onnx import onnx_frontend

    owner = onnx_frontend.ONNXGraphImporter
    return (MethodRebinding(owner, "_parse_graph_initializers", parse_graph_initializers),)


_DATA: Array = np.array([1, 2, 4], np.float32)


def _lacks_sparse() -> bool:
    """True if a sparse initializer is not imported."""
    from onnx import helper, numpy_helper

    model = node_model("Add", {"x": _DATA, "w": _DATA}, 13)
    del model.graph.input[1]
    values = numpy_helper.from_array(np.array([8], np.float32), "w")
    places = numpy_helper.from_array(np.array([1], np.int64), "w_places")
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [3]))
    return fails(model, [_DATA], [np.array([1, 10, 4], np.float32)])


def _mixes_names() -> bool:
    """True if two weights, whose names differ by the prefix alone, are not two parameters."""
    from tvm.relax.frontend.onnx import from_onnx

    model = node_model("Sum", {"x": _DATA, "w": _DATA, "onnx::w": _DATA}, 13, held=("w", "onnx::w"))
    try:
        return len(from_onnx(model, keep_params_in_input=True)["main"].params) != 3
    except Exception:
        # The first parameter is lost, and the function that uses it ill-formed.
        return True


FIX = Fix(
    name="onnx_initializers",
    operators=(),
    fault=(
        "sparse initializers of ONNX models are not imported; of two weights, the name of one of"
        " which is that of the other behind `onnx::`, one is lost"
    ),
    issue=None,
    parts=(
        FaultPart("sparse ones", _lacks_sparse),
        FaultPart("weights of one name", _mixes_names),
    ),
    rebindings=_rebindings,
    after="onnx_unsupported",
    patch=(
        Method(
            IMPORTER,
            "ONNXGraphImporter",
            "_parse_graph_initializers",
            parse_graph_initializers,
        ),
    ),
)
