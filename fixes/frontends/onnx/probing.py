"""Probes of the importer: a model of one node, imported, compiled and run."""

import contextlib
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relaxcheck.fixes.framework.probes import Array


def node_model(
    operator: str,
    inputs: Mapping[str, Array | None],
    opset: int,
    *,
    held: Sequence[str] = (),
    shapes: Mapping[str, Sequence[int | str]] | None = None,
    outputs: int = 1,
    **attributes: Any,
) -> Any:
    """A model of one node of ``operator`` in the version of ``opset``.

    ``inputs`` are its inputs by name, in order, None for one that is left out; those named in
    ``held`` become initializers, the others inputs of the model, of their own shape or of the one
    in ``shapes``. The outputs have no types. An attribute ``domain`` is the node's.
    """
    import onnx
    from onnx import helper, numpy_helper

    arrays = {name: array for name, array in inputs.items() if array is not None}
    names = [name if name in arrays else "" for name in inputs]
    results = [f"output_{index}" for index in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operator, names, results, **attributes)],
        "graph",
        [
            helper.make_tensor_value_info(
                name,
                helper.np_dtype_to_tensor_dtype(array.dtype),
                list((shapes or {}).get(name, array.shape)),
            )
            for name, array in arrays.items()
            if name not in held
        ],
        [onnx.ValueInfoProto(name=name) for name in results],
        [numpy_helper.from_array(arrays[name], name) for name in held if name in arrays],
    )
    imports = [helper.make_opsetid("", opset)]
    if "domain" in attributes:
        imports.append(helper.make_opsetid(attributes["domain"], 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def outputs(model: Any, *data: Array) -> list[Array]:
    """The outputs of ``model`` for ``data``, imported and compiled by ``relax.build``.

    Raises:
        Exception: TVM's own, where it cannot import, compile or run the model.
    """
    return outputs_of(built(model), *data)


def built(model: Any) -> Any:
    """The executable of ``model``, imported and compiled by ``relax.build``.

    Raises:
        Exception: TVM's own, where it cannot import or compile the model.
    """
    from tvm.relax.frontend.onnx import from_onnx

    return relax.build(from_onnx(model), tvm.target.Target({"kind": "llvm", "opt-level": 0}))


def outputs_of(executable: Any, *data: Array) -> list[Array]:
    """The outputs of ``executable`` for ``data``.

    Raises:
        Exception: TVM's own, where it cannot run.
    """
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    result = main(*(tvm.runtime.tensor(array) for array in data))
    several = [result] if hasattr(result, "numpy") else list(result)
    return [np.asarray(tensor.numpy()) for tensor in several]


def fails(model: Any, data: Sequence[Array], expected: Sequence[Array]) -> bool:
    """True if TVM does not compute ``expected`` (to 1e-3, shapes and dtypes too) for ``data``."""
    try:
        # The importer prints the node that it fails on.
        with contextlib.redirect_stdout(io.StringIO()):
            actual = outputs(model, *data)
    except Exception:
        # The importer refuses it or dies of it: either way it does not compute the model.
        return True
    return len(actual) != len(expected) or not all(map(_equal, actual, expected))


def _equal(actual: Array, expected: Array) -> bool:
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    close = np.allclose(
        actual.astype(np.float64), expected.astype(np.float64), 1e-3, 1e-3, equal_nan=True
    )
    return bool(close)
