"""A model in float64: the same nodes on wider tensors."""

from collections.abc import Mapping

import msgspec
import numpy as np

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.model import Model, Node, SparseValue, TensorValue, TypeValue
from relaxcheck.generators.onnx.proto import code_of
from relaxcheck.generators.onnx.schemas import schema

NARROW = ("float16", "float32", "bfloat16")
WIDE = "float64"

_DTYPES = ("to", "dtype", "stash_type", "output_dtype", "softmax_precision", "precision")
"""Attributes that name the dtype in which something is held or computed."""


def widened(model: Model, arrays: Mapping[str, Array]) -> tuple[Model, dict[str, Array]] | None:
    """``model`` and ``arrays`` with float64 in place of narrower floats; None where nodes forbid.

    A schema forbids it where a type parameter that takes float32 does not take float64.
    """
    for node in model.nodes:
        if node.domain or not _allows(node, model.opset):
            return None
    tensors = tuple(
        msgspec.structs.replace(tensor, dtype=WIDE) if tensor.dtype in NARROW else tensor
        for tensor in model.tensors
    )
    nodes = tuple(
        msgspec.structs.replace(
            node, attributes={name: _wide(name, each) for name, each in node.attributes.items()}
        )
        for node in model.nodes
    )
    values = {
        tensor.name: arrays[tensor.name].astype(np.float64)
        if tensor.dtype in NARROW
        else arrays[tensor.name]
        for tensor in model.tensors
    }
    return msgspec.structs.replace(model, tensors=tensors, nodes=nodes), values


def _allows(node: Node, opset: int) -> bool:
    try:
        version = schema(node.operator, opset)
    except KeyError:
        return False
    if version is None or any(_is_graph(each) for each in node.attributes.values()):
        return False
    fixed = {each.type for each in (*version.inputs, *version.outputs)}
    return "tensor(float)" not in fixed and all(
        WIDE in types for types in version.types.values() if "float32" in types
    )


def _is_graph(value: object) -> bool:
    return getattr(value, "nodes", None) is not None


def _wide(name: str, value: object) -> object:
    if isinstance(value, TensorValue | SparseValue | TypeValue) and value.dtype in NARROW:
        return msgspec.structs.replace(value, dtype=WIDE)
    if name in _DTYPES and value in {code_of(dtype) for dtype in NARROW}:
        return code_of(WIDE)
    return value
