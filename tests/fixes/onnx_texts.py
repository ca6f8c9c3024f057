"""ONNX models as text, and their results in TVM, which has the fixes that are on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnxruntime
import tvm
from numpy.typing import NDArray
from onnx import parser
from tvm import relax
from tvm.relax.frontend import onnx as frontend

Array = NDArray[Any]


def model_of(text: str, opset: int = 18, sizes: Mapping[str, Any] | None = None) -> Any:
    """The model that ``text`` writes, the names of dimensions replaced as in ``sizes``."""
    domains = f'["" : {opset}, "local" : 1, "com.microsoft" : 1]'
    model = parser.parse_model(f"<ir_version: 8, opset_import: {domains}>" + text)
    for value in model.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in (sizes or {}):
                dim.dim_param = (sizes or {})[dim.dim_param]
    return model


def imported(model: Any, **settings: Any) -> Any:
    """The module for ``model``."""
    return frontend.from_onnx(model, **settings)


def compiled(module: Any) -> Callable[..., list[Array]]:
    """``module``, to be called with arrays."""
    target = tvm.target.Target({"kind": "llvm", "opt-level": 0})
    main = relax.VirtualMachine(relax.build(module, target), tvm.cpu())["main"]

    def run(*arrays: Array) -> list[Array]:
        result = main(*(tvm.runtime.tensor(np.asarray(array)) for array in arrays))
        several = [result] if hasattr(result, "numpy") else list(result)
        return [np.asarray(tensor.numpy()) for tensor in several]

    return run


def by_onnxruntime(model: Any, arrays: Sequence[Array]) -> list[Array]:
    """The outputs of ``model`` in ONNX Runtime."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in session.get_inputs()]
    results = session.run(None, dict(zip(names, arrays, strict=True)))
    return [np.asarray(result) for result in results]


def agrees(
    text: str,
    *feeds: Sequence[Any],
    opset: int = 18,
    expected: Callable[..., Any] | None = None,
    sizes: Mapping[str, Any] | None = None,
    **settings: Any,
) -> None:
    """The model computes what ONNX Runtime does, or ``expected`` of the arrays, for each of feeds.

    It is imported and compiled once; ``settings`` are those of the importer.
    """
    model = model_of(text, opset, sizes)
    run = compiled(imported(model, **settings))
    for arrays in feeds or ((),):
        if expected is None:
            wanted = by_onnxruntime(model, arrays)
        else:
            result = expected(*arrays)
            wanted = list(result) if isinstance(result, tuple) else [np.asarray(result)]
        actual = run(*arrays)
        assert [each.shape for each in actual] == [each.shape for each in wanted]
        for here, there in zip(actual, wanted, strict=True):
            assert here.dtype == there.dtype
            np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-5)


def floats(*shape: int) -> Array:
    """The numbers from 0 on, in this shape."""
    return np.arange(np.prod(shape, dtype=int), dtype="float32").reshape(shape)


def integers(*values: Any) -> Array:
    """A vector, or more, of int64."""
    return np.array(values, "int64")
