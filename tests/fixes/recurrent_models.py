"""ONNX models of a single LSTM, GRU or RNN, and their results in TVM and ONNX Runtime."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import tvm
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from tvm.relax.frontend.onnx import from_onnx

from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import compiled

Array = NDArray[Any]
Run = Callable[[Mapping[str, Array]], list[Array]]

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
INPUTS = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
FED = ("X", "sequence_lens", "initial_h", "initial_c")
"""The inputs of the model; the rest are constants within it."""
_AXES = {
    "X": ("length", "batch", None),
    "sequence_lens": ("batch",),
    "initial_h": (None, "batch", None),
    "initial_c": (None, "batch", None),
}


def arrays(
    operator: str,
    length: int,
    batch: int,
    *names: str,
    directions: int = 1,
    lengths: Sequence[int] = (),
    dtype: str = "float32",
) -> dict[str, Array]:
    """Inputs with 2 features and 3 hidden units; X, W, R and those of ``names``."""
    rows, states = GATES[operator] * 3, (directions, batch, 3)
    shapes = {
        "X": (length, batch, 2),
        "W": (directions, rows, 2),
        "R": (directions, rows, 3),
        "B": (directions, 2 * rows),
        "initial_h": states,
        "initial_c": states,
        "P": (directions, 9),
    }
    result = {
        name: compiled.sample(shape, dtype, seed=seed)
        for seed, (name, shape) in enumerate(shapes.items())
        if name in ("X", "W", "R", *names)
    }
    if lengths:
        result["sequence_lens"] = np.array(lengths, "int32")
    return result


def model(
    operator: str,
    feeds: Mapping[str, Array],
    *,
    outputs: Sequence[str] = (),
    shapes: Mapping[str, Sequence[Any] | None] | None = None,
    opset: int = 14,
    **attributes: Any,
) -> Any:
    """A model whose only node is of ``operator``; batch and length are symbols.

    ``shapes`` replace shapes of the model's inputs, None for an unknown shape.
    """
    names = [name if name in feeds else "" for name in INPUTS]
    while not names[-1]:
        names.pop()
    outputs = outputs or (["Y", "Y_h", "Y_c"] if operator == "LSTM" else ["Y", "Y_h"])
    node = helper.make_node(operator, names, outputs, **{"hidden_size": 3, **attributes})
    kind = {name: helper.np_dtype_to_tensor_dtype(array.dtype) for name, array in feeds.items()}
    fed = [name for name in FED if name in feeds]
    declared = {
        name: (
            size if axis is None else axis
            for axis, size in zip(_AXES[name], feeds[name].shape, strict=True)
        )
        for name in fed
    }
    declared |= shapes or {}
    graph = helper.make_graph(
        [node],
        operator,
        [
            helper.make_tensor_value_info(
                name, kind[name], None if declared[name] is None else list(declared[name])
            )
            for name in fed
        ],
        [
            helper.make_tensor_value_info(name, kind["X"], [None] * (4 if name == "Y" else 3))
            for name in outputs
            if name
        ],
        [numpy_helper.from_array(array, name) for name, array in feeds.items() if name not in fed],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def imported(proto: Any, **options: Any) -> Any:
    """The Relax module of a model."""
    return from_onnx(proto, **options)


def built(module: Any, pipeline: Any = "default") -> Run:
    """``main`` of ``module``, compiled: the inputs by name to the outputs, in order."""
    machine = compiled.machine(module, relax_pipeline=pipeline)
    names = [tvm_api_shapes.name_of(param) for param in module["main"].params]

    def run(feeds: Mapping[str, Array]) -> list[Array]:
        tensors = [
            tvm.runtime.tensor(np.ascontiguousarray(feeds[name]).reshape(feeds[name].shape))
            for name in names
        ]
        result = machine["main"](*tensors)
        several = [result] if hasattr(result, "numpy") else list(result)
        return [np.asarray(tensor.numpy()) for tensor in several]

    return run


def tvm_of(proto: Any) -> Run:
    """TVM's results for a model."""
    return built(imported(proto))


def no_answer(operator: str, length: int, batch: int) -> bool:
    """True if ONNX Runtime 1.31 has no result for an input without elements.

    Without a sequence, LSTM and GRU abort the process; without a step, GRU does, and LSTM never
    writes its final states.
    """
    return operator != "RNN" and not (length and batch)


def onnxruntime_of(proto: onnx.ModelProto) -> Run:
    """ONNX Runtime's results for a model, at sizes for which it has any."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [tensor.name for tensor in session.get_inputs()]

    def run(feeds: Mapping[str, Array]) -> list[Array]:
        length, batch, _ = feeds["X"].shape
        assert not no_answer(proto.graph.node[0].op_type, length, batch)
        return list(session.run(None, {name: feeds[name] for name in names}))

    return run


def agrees_with_onnxruntime(
    operator: str,
    arrays_fed: Mapping[str, Array],
    sizes: Sequence[Mapping[str, Array]] = (),
    **more: Any,
) -> None:
    """TVM's outputs agree with ONNX Runtime's, within the error bounds."""
    result = model(operator, arrays_fed, **more)
    run, other = tvm_of(result), onnxruntime_of(result)
    for feeds in (arrays_fed, *sizes):
        for actual, expected in zip(run(feeds), other(feeds), strict=True):
            np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-3)
