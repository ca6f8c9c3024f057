"""Attributes of nodes in every form: empty lists, and each of the forms of a Constant."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import (
    FaultPart,
    Fix,
    MethodRebinding,
    Rebinding,
    invalid,
    refuse,
)
from relaxcheck.fixes.framework.patch import Method, NewFile
from relaxcheck.fixes.frontends.onnx.casting.formats import NARROW, held
from relaxcheck.fixes.frontends.onnx.converting import IMPORTER, Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.probing import fails, node_model
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/onnx/attributes.py")

PACKED = ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")
"""Dtypes that share bytes, for which Relax has no tensors at run time."""

_SINGLE = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 11: "sparse_tensor", 13: "tp"}
_LISTS = {
    6: "floats",
    7: "ints",
    8: "strings",
    9: "tensors",
    10: "graphs",
    12: "sparse_tensors",
    14: "type_protos",
}
"""The fields of an attribute by its type."""


def parse_attr(importer: Any, attributes: Iterable[Any]) -> dict[str, Any]:
    """The values of ``attributes`` by name; lists as tuples."""
    return {each.name: _value(each) for each in attributes}


def _value(attribute: Any) -> Any:
    kind = attribute.type
    if not kind:
        # Old models state no type.
        kind = next(
            (number for number, field in _SINGLE.items() if attribute.HasField(field)), kind
        ) or next((number for number, field in _LISTS.items() if len(getattr(attribute, field))), 0)
    if kind in _SINGLE:
        return getattr(attribute, _SINGLE[kind])
    if kind in _LISTS:
        return tuple(getattr(attribute, _LISTS[kind]))
    raise ValueError(f"the attribute {attribute.name} has neither a type nor a value")


def constant(node: Node) -> Expr:
    """The value of a Constant, in whichever attribute it is.

    Raises:
        OpNotImplemented: it is text, or of floats of 4 bits.
        ValueError: there is none.
    """
    values = {name: each for name, each in node.attributes.items() if name != "tvm_custom"}
    if len(values) != 1:
        raise invalid("Constant", "a single one is needed", attributes=sorted(values))
    ((name, value),) = values.items()
    array = _array(name, value)
    if array is None or array.dtype.kind in "OSU":
        raise refuse("Constant", **{name: "text"})
    if array.dtype.name in NARROW:
        array = array.astype(held(array.dtype.name))
    if array.dtype.name in PACKED:
        raise refuse("Constant", **{name: array.dtype.name})
    return tvm_api.const(array)


def _array(name: str, value: Any) -> NDArray[Any] | None:
    from onnx import numpy_helper

    match name:
        case "value":
            return np.asarray(numpy_helper.to_array(value)).reshape(tuple(value.dims))
        case "sparse_value":
            return dense(value)
        case "value_float" | "value_floats":
            return np.array(value, np.float32)
        case "value_int" | "value_ints":
            return np.array(value, np.int64)
    return None


def dense(sparse: Any) -> NDArray[Any]:
    """The array that ``sparse`` describes: values, and their places flat or as coordinates."""
    from onnx import numpy_helper

    values, where = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    array = np.zeros(tuple(sparse.dims), values.dtype)
    if where.ndim == 1:
        array.reshape(-1)[where] = values
    else:
        array[tuple(where.T)] = values
    return array


CONVERSIONS: dict[str, Convert] = {"Constant": constant}


def _rebindings() -> tuple[Rebinding | MethodRebinding, ...]:
    from tvm.relax.frontend.onnx import onnx_frontend

    method = MethodRebinding(onnx_frontend.ONNXGraphImporter, "_parse_attr", parse_attr)
    return (method, *rebindings(CONVERSIONS)())


def _refuses_integers() -> bool:
    model = node_model("Constant", {}, 13, value_ints=[3, 1])
    return fails(model, [], [np.array([3, 1], np.int64)])


def _refuses_empty_list() -> bool:
    model = node_model("Constant", {}, 13, value_ints=[1])
    del model.graph.node[0].attribute[0].ints[:]
    return fails(model, [], [np.zeros(0, np.int64)])


FIX = Fix(
    name="onnx_attributes",
    operators=("Constant",),
    fault="ONNX attributes that are empty lists, constants that are no tensors, are not imported",
    issue=None,
    parts=(
        FaultPart("a constant of integers", _refuses_integers),
        FaultPart("an empty list", _refuses_empty_list),
    ),
    rebindings=_rebindings,
    after="onnx_graph",
    patch=(
        Method(IMPORTER, "ONNXGraphImporter", "_parse_attr", parse_attr),
        *patch(CONVERSIONS),
    ),
)
