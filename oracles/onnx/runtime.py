"""ONNX Runtime, on a model as it is: no optimization by default, one thread."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import msgspec
import numpy as np
import onnxruntime

from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.generators.onnx.model import INITIALIZER, STATED, Model
from relaxcheck.generators.onnx.proto import code_of, dtype_of
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.kept import PROTOS, Kept

_QUIET = 4
"""The severity of messages from which ONNX Runtime logs: fatal ones."""

onnxruntime.set_default_logger_severity(_QUIET)


def outputs(
    model: Model, arrays: Mapping[str, Array], *, optimized: bool = False
) -> tuple[Array, ...]:
    """The outputs of ``model`` for ``arrays``, the values of all its tensors by name.

    Where it is ``optimized``, ONNX Runtime folds constants, fuses nodes and chooses layouts first.

    Raises:
        Unsupported: ONNX Runtime cannot load or run the model; the message says why.
    """
    model = _holding(model, arrays)
    try:
        session = _optimized(model, arrays) if optimized else _SESSIONS(model, arrays)
        feeds = {tensor.name: _value(arrays[tensor.name], tensor.dtype) for tensor in model.inputs}
        values = session.run_with_ort_values(list(model.outputs), feeds)
        return tuple(map(_array, values))
    except Exception as error:
        # Its exceptions have no class of their own beside RuntimeError.
        raise Unsupported(f"onnxruntime: {_line(error)}") from error


def _session(
    model: Model, constants: Mapping[str, Array], *, optimized: bool = False
) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(
        PROTOS(model, constants).SerializeToString(),
        _options(optimized),
        providers=["CPUExecutionProvider"],
    )


_SESSIONS = Kept(_session, 1)


def _optimized(model: Model, arrays: Mapping[str, Array]) -> onnxruntime.InferenceSession:
    """A session for one run: BatchNormalization of float16 overwrites constants that it folded."""
    constants = {tensor.name: arrays[tensor.name] for tensor in model.tensors if tensor.constant}
    return _session(model, constants, optimized=True)


_PACKED = ("int4", "uint4", "int2", "uint2", "float4_e2m1fn")
"""The dtypes of which ONNX Runtime has several elements in a byte: its Python face cannot pass
them, and an initializer can."""


def _holding(model: Model, arrays: Mapping[str, Array]) -> Model:
    """``model`` with its inputs of ``_PACKED`` dtypes as initializers."""
    if not any(tensor.dtype in _PACKED for tensor in model.inputs):
        return model
    tensors = tuple(
        msgspec.structs.replace(
            tensor, held=INITIALIZER, states=STATED, shape=arrays[tensor.name].shape
        )
        if tensor.dtype in _PACKED and not tensor.constant
        else tensor
        for tensor in model.tensors
    )
    return msgspec.structs.replace(model, tensors=tensors)


@cache
def _options(optimized: bool) -> Any:
    levels = onnxruntime.GraphOptimizationLevel
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = (
        levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    )
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    return options


def _value(array: Array, dtype: str) -> Any:
    code = code_of(dtype)
    held = np.array(array, order="C")
    if held.dtype.kind == "V":
        # A dtype that NumPy lacks: ONNX Runtime takes its bits and its number.
        bits = held.view(np.dtype(f"u{held.dtype.itemsize}"))
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, code)
    return onnxruntime.OrtValue.ortvalue_from_numpy(held)


def _array(value: Any) -> Array:
    if not value.is_tensor():
        raise Unsupported("onnxruntime: an output is no tensor")
    dtype = numpy_dtype(dtype_of(value.element_type()))
    # An output may be the memory of an input, which ends with this call.
    array: Array = value.numpy().copy()
    if array.dtype != dtype and dtype.name in _PACKED:
        raise Unsupported(f"onnxruntime: an output of {dtype}")
    return array if array.dtype == dtype else array.view(dtype)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
