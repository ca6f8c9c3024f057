"""An ONNX model under construction, and its run by ONNX Runtime."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.answer import Array, Unsupported

OPSET = 23
"""The first opset with the Attention operator."""

_OLDER = {"GridSample": 21, "MaxRoiPool": 21, "RoiAlign": 21}
"""Operators of which ONNX Runtime has no kernel for the opset above, and the last one that it has.

A model with one of them is of that opset.
"""

_IR_VERSION = 10

_FLOATS = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float32", "float64")

onnxruntime.disable_telemetry_events()


@dataclass(frozen=True, slots=True)
class Wire:
    """A value in the graph: its name there, its shape, TVM's name of its dtype.

    It is *stored* as double for float64, as float for the other floating-point dtypes (already
    rounded to theirs: ONNX Runtime's CPU kernels have few float16 and no bfloat16 kernels) and as
    int64 (already wrapped around) for integers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str


def stored_type(dtype: str) -> int:
    """The ONNX element type that holds a value of ``dtype``.

    Raises:
        Unsupported: uint64, whose values do not fit int64.
    """
    if dtype == "uint64":
        raise Unsupported("onnxruntime: uint64 does not fit int64")
    if dtype == "float64":
        return int(TensorProto.DOUBLE)
    return int(TensorProto.FLOAT if dtype in _FLOATS else TensorProto.INT64)


def is_float(dtype: str) -> bool:
    """True if ``dtype`` is a floating-point format."""
    return dtype in _FLOATS


class _Input(NamedTuple):
    name: str
    kind: int
    rank: int


class _Node(NamedTuple):
    operator: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[tuple[str, Any], ...]


class _Model(NamedTuple):
    """All that an ONNX model says; ``outputs`` are names and element types."""

    nodes: tuple[_Node, ...]
    inputs: tuple[_Input, ...]
    outputs: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class Graph:
    """Nodes and inputs, in the order they were added.

    Constants are inputs as well, and no input has a fixed size: the model of a program is then the
    same for all shapes and values, and to make it ready for a run takes longer than the run.
    """

    nodes: list[_Node] = field(default_factory=list)
    inputs: list[_Input] = field(default_factory=list)
    feeds: dict[str, Array] = field(default_factory=dict)

    def input(self, name: str, array: Array, dtype: str) -> Wire:
        """A graph input fed with ``array``."""
        stored = array.astype(helper.tensor_dtype_to_np_dtype(stored_type(dtype)))
        self._feed(name, stored)
        return Wire(name, array.shape, dtype)

    def constant(self, array: Array) -> str:
        """The name of a graph input fed with ``array``, in its own dtype."""
        name = f"constant_{len(self.inputs)}"
        self._feed(name, array)
        return name

    def _feed(self, name: str, array: Array) -> None:
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        self.inputs.append(_Input(name, int(kind), array.ndim))
        self.feeds[name] = np.array(array, order="C")

    def integers(self, values: Sequence[int]) -> str:
        """The name of a graph input fed with an int64 vector."""
        return self.constant(np.array(values, np.int64))

    def call(self, operator: str, *arguments: str, **attributes: Any) -> str:
        """The name of the single output of a new node."""
        (name,) = self.calls(operator, 1, *arguments, **attributes)
        return name

    def calls(
        self, operator: str, count: int, *arguments: str, **attributes: Any
    ) -> tuple[str, ...]:
        """The names of the ``count`` outputs of a new node."""
        names = tuple(f"value_{len(self.nodes)}_{item}" for item in range(count))
        pairs = ((key, _hashable(value)) for key, value in attributes.items())
        self.nodes.append(_Node(operator, arguments, names, tuple(pairs)))
        return names

    def reshape(self, name: str, shape: Sequence[int]) -> str:
        """``name`` in ``shape``, which may hold zeros."""
        return self.call("Reshape", name, self.integers(shape), allowzero=1)

    def cast(self, wire: Wire, dtype: str) -> Wire:
        """``wire`` cast to ``dtype``, as a program that casts explicitly means it.

        Raises:
            ValueError: from floating point to an integer.
        """
        if wire.dtype == dtype:
            return wire
        if is_float(wire.dtype) and not is_float(dtype):
            raise ValueError(f"a cast from {wire.dtype} to {dtype} is not defined here")
        name = wire.name
        if stored_type(wire.dtype) != stored_type(dtype):
            name = self.call("Cast", name, to=stored_type(dtype))
        return self.settle(name, wire.shape, dtype)

    def settle(self, name: str, shape: tuple[int, ...], dtype: str) -> Wire:
        """The stored value ``name`` rounded or wrapped around to ``dtype``."""
        if dtype not in ("float32", "float64", "int64"):
            narrow = helper.np_dtype_to_tensor_dtype(numpy_dtype(dtype))
            name = self.call("Cast", self.call("Cast", name, to=narrow), to=stored_type(dtype))
        return Wire(name, shape, dtype)

    def run(self, outputs: Sequence[Wire]) -> tuple[Array, ...]:
        """The arrays of ``outputs``, in their own dtypes.

        Raises:
            Unsupported: ONNX Runtime has no kernel for a node.
        """
        names = [self.call("Identity", wire.name) for wire in outputs]
        kinds = [stored_type(wire.dtype) for wire in outputs]
        typed_names = tuple(zip(names, kinds, strict=True))
        model = _Model(tuple(self.nodes), tuple(self.inputs), typed_names)
        results = _ready(model).run(names, self.feeds)
        return tuple(
            np.asarray(result).astype(numpy_dtype(wire.dtype))
            for result, wire in zip(results, outputs, strict=True)
        )


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


# A case runs several times one after the other; the next one has another model.
@lru_cache(maxsize=4)
def _ready(model: _Model) -> onnxruntime.InferenceSession:
    return session(_written(model))


def _opset(model: _Model) -> int:
    """The opset of ``model``.

    Raises:
        Unsupported: one of its operators is too new for another.
    """
    opset = min((_OLDER.get(node.operator, OPSET) for node in model.nodes), default=OPSET)
    for node in model.nodes if opset < OPSET else ():
        if not onnx.defs.has(node.operator, opset):
            raise Unsupported(f"onnxruntime: {node.operator} is not in opset {opset}")
    return opset


def _written(model: _Model) -> onnx.ModelProto:
    nodes = [
        helper.make_node(node.operator, node.arguments, node.outputs, **dict(node.attributes))
        for node in model.nodes
    ]
    inputs = [
        helper.make_tensor_value_info(tensor.name, tensor.kind, [None] * tensor.rank)
        for tensor in model.inputs
    ]
    outputs = [helper.make_tensor_value_info(name, kind, None) for name, kind in model.outputs]
    graph = helper.make_graph(nodes, "program", inputs, outputs)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", _opset(model))], ir_version=_IR_VERSION
    )


def session(model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    """``model`` ready to run.

    Raises:
        Unsupported: ONNX Runtime has no kernel for a node.
    """
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), _options(), providers=["CPUExecutionProvider"]
        )
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented as error:
        reason = str(error).strip().splitlines()[0]
        raise Unsupported(f"onnxruntime: {reason}") from error


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return options
