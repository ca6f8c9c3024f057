"""ONNX Runtime's values of a model, and ONNX's own evaluator's in float64."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx.reference import ReferenceEvaluator

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.models.frameworks.inputs import Input, Symbol
from relaxcheck.harness.models.values import Values

# ONNX has no type information of its own.
Model = Any

_QUIET = 4
_NARROW = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)
_DTYPES = ("to", "dtype", "stash_type", "output_dtype", "softmax_precision")
"""Attributes that name the dtype in which something is held or computed."""

_TRUSTED = 1e-2
"""The distance from ONNX Runtime's value, relative to the largest one, from which on the evaluator
is wrong itself: float32 is not that far off float64 in one node."""


def inputs(model: Model) -> tuple[tuple[Input, ...], tuple[Symbol, ...]]:
    """The tensors that the user passes, in order, and the symbolic dimensions of their shapes."""
    held = {each.name for each in model.graph.initializer}
    found: list[Input] = []
    symbols: dict[str, Symbol] = {}
    for value in model.graph.input:
        if value.name in held:
            continue
        kind = value.type.tensor_type
        dims: list[int | str] = []
        for axis, dim in enumerate(kind.shape.dim):
            if dim.HasField("dim_value"):
                dims.append(int(dim.dim_value))
                continue
            name = dim.dim_param or f"{value.name}_{axis}"
            symbols.setdefault(name, Symbol(name))
            dims.append(name)
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
        found.append(Input(value.name, tuple(dims), dtype))
    return tuple(found), tuple(symbols.values())


class Runtime:
    """ONNX Runtime on a model without optimisation, so that each node keeps its meaning."""

    def __init__(self, model: Model, names: Collection[str] = ()) -> None:
        """``names`` are tensors whose values are wanted besides the outputs.

        Raises:
            Exception: ONNX Runtime refuses the model.
        """
        wider = onnx.ModelProto()
        wider.CopyFrom(model)
        have = {each.name for each in model.graph.output}
        made = {name for node in model.graph.node for name in node.output}
        self.names = [name for name in names if name in made]
        wider.graph.output.extend(
            onnx.helper.make_empty_tensor_value_info(name)
            for name in self.names
            if name not in have
        )
        self.session = onnxruntime.InferenceSession(
            wider.SerializeToString(), _options(), providers=["CPUExecutionProvider"]
        )

    def run(self, feeds: Mapping[str, Array], names: Sequence[str]) -> dict[str, Array]:
        """The values of the tensors ``names``.

        Raises:
            Exception: ONNX Runtime's own.
        """
        values = self.session.run(list(names), dict(feeds))
        return {
            name: np.array(value)
            for name, value in zip(names, values, strict=True)
            if isinstance(value, np.ndarray | np.generic)
        }


@cache
def _options() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _QUIET
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def values(
    model: Model, feeds: Mapping[str, Array], names: Collection[str]
) -> tuple[Values, Values]:
    """The outputs of ``model``, by number, and the values of the tensors ``names``.

    In float64 the outputs are those of the whole model; a tensor is that of its node alone, of
    ONNX Runtime's operands. Where the evaluator has no operator, or gives something else than ONNX
    Runtime does, ONNX Runtime's value takes its place.

    Raises:
        Exception: ONNX Runtime's own.
    """
    every = [name for node in model.graph.node for name in node.output if name]
    runtime = Runtime(model, every)
    outputs = [each.name for each in model.graph.output]
    own = runtime.run(feeds, list(dict.fromkeys([*every, *outputs])))
    known = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    known |= dict(feeds) | own
    wanted = frozenset(names)
    chained = {name: _wide(array) for name, array in known.items() if name not in own}
    alone: dict[str, Array] = {}
    opsets = {each.domain: each.version for each in model.opset_import}
    for node in model.graph.node:
        plain = {name: _wide(known[name]) for name in node.input if name in known}
        single = _evaluated(node, opsets, plain)
        whole = _evaluated(
            node, opsets, {name: chained[name] for name in node.input if name in chained}
        )
        for name in node.output:
            if name not in own:
                continue
            kept = single.get(name)
            if name in wanted and kept is not None and _near(kept, own[name]):
                alone[name] = kept
            chain = whole.get(name)
            fits = chain is not None and _near(single.get(name, chain), own[name])
            chained[name] = chain if fits and chain is not None else _wide(own[name])
    numbered = {f"output {n}": name for n, name in enumerate(outputs)}
    results = Values(
        {number: own.get(name, known.get(name, np.zeros(0))) for number, name in numbered.items()},
        {number: chained[name] for number, name in numbered.items() if name in chained},
    )
    return results, Values({name: own[name] for name in names if name in own}, alone)


def _wide(array: Array) -> Array:
    return (
        array.astype(np.float64)
        if array.dtype.kind == "f" or array.dtype.name == "bfloat16"
        else array
    )


def _near(wide: Array, own: Array) -> bool:
    if wide.shape != own.shape:
        return False
    if own.dtype.kind != "f":
        return bool(np.array_equal(wide, own))
    finite = np.isfinite(own) & np.isfinite(wide)
    if not finite.any():
        return True
    apart = np.abs(wide[finite] - own[finite].astype(np.float64)).max()
    return bool(apart <= _TRUSTED * np.abs(own[finite].astype(np.float64)).max())


def _evaluated(
    node: Any, opsets: Mapping[str, int], feeds: Mapping[str, Array]
) -> dict[str, Array]:
    """The outputs of ``node`` by ONNX's evaluator in float64; none where it cannot."""
    if any(each.HasField("g") or each.graphs for each in node.attribute):
        return {}
    wider = onnx.NodeProto()
    wider.CopyFrom(node)
    for attribute in wider.attribute:
        if attribute.name in _DTYPES and attribute.i in _NARROW:
            attribute.i = onnx.TensorProto.DOUBLE
    try:
        with np.errstate(all="ignore"):
            results = ReferenceEvaluator(wider, opsets=dict(opsets)).run(None, dict(feeds))
    except Exception:  # The evaluator fails in any way; ONNX Runtime's value stands in.
        return {}
    return {
        name: _wide(np.asarray(value))
        for name, value in zip(node.output, results, strict=False)
        if isinstance(value, np.ndarray | np.generic)
    }
