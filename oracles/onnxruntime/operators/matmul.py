"""ONNX's MatMul."""

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, is_float


@operator("matmul")
def _matmul(call: Call) -> Wire:
    dtype = call.node.attributes.get("out_dtype") or call.operands[0].dtype
    if not isinstance(dtype, str):
        raise ValueError(f"out_dtype {dtype!r} is not text")
    a, b = (call.graph.cast(each, dtype) for each in call.operands)
    shape = _matmul_shape(a.shape, b.shape)
    if 0 in (*a.shape, *b.shape):
        # The kernel refuses some such shapes, and leaves results as they were in memory for others.
        kind = np.float64 if dtype == "float64" else np.float32
        zeros = np.zeros(shape, kind if is_float(dtype) else np.int64)
        return Wire(call.graph.constant(zeros), shape, dtype)
    return call.graph.settle(call.graph.call("MatMul", a.name, b.name), shape, dtype)


def _matmul_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    outer = np.broadcast_shapes(a[:-2], b[:-2])
    return (*outer, *a[-2:-1], *(b[-1:] if len(b) > 1 else ()))
