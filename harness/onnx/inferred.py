"""The dtypes and shapes that ONNX infers for the values of a model."""

import onnx
from onnx import shape_inference

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.values import constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.proto import dtype_of, model_proto


def types_of(case: OnnxCase) -> dict[str, tuple[str, tuple[Dim, ...]]]:
    """The dtype and shape of each value of ``case`` whose shape is known, by name."""
    proto = model_proto(case.model, constants(case))
    try:
        inferred = shape_inference.infer_shapes(proto, data_prop=True)
    except shape_inference.InferenceError:
        return {}
    found: dict[str, tuple[str, tuple[Dim, ...]]] = {}
    for value in (*inferred.graph.value_info, *inferred.graph.output):
        shape = _shape(value, case)
        if shape is not None:
            found[value.name] = dtype_of(value.type.tensor_type.elem_type), shape
    return found


def _shape(value: onnx.ValueInfoProto, case: OnnxCase) -> tuple[Dim, ...] | None:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    shape: list[Dim] = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value"):
            shape.append(int(dim.dim_value))
        elif dim.dim_param in case.model.symbols:
            shape.append(str(dim.dim_param))
        else:
            return None
    return tuple(shape)
