"""The control's gradients: PyTorch differentiates, by one of its modes, in one of two dtypes.

The formulas and orders of sums are PyTorch's own. Reverse mode accumulates from the target down,
forward mode from each element of an operand up; both are correct, and round in other places. The
functions that are differentiated are those of the PyTorch oracle. The reference shares nothing with
them, so that a bound that is too narrow, or a wrong rule of the reference, shows.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import torch
from torch.autograd import forward_ad

from relaxcheck.generators.core.program import GRADIENT, Node, Program
from relaxcheck.oracles.pytorch.evaluate import OPERATORS, evaluate
from relaxcheck.oracles.pytorch.tensors import FLOATS, Held
from tests.measure.quality.control.summation import Freedom

Array = np.ndarray[Any, Any]

_FEW = 48
"""Forward mode runs the program once for each element of an operand: so many at most."""


_CANCELS = "nn.log_softmax"
"""Forward mode adds up the shares of a row that cancel, and rounds them; reverse mode has none."""


def made(program: Program) -> tuple[Node, ...]:
    """The nodes of ``program`` that are gradients."""
    return tuple(node for node in program.nodes if node.operator == GRADIENT)


def differentiated(
    program: Program, arrays: Mapping[str, Array], freedom: Freedom
) -> tuple[Array, ...]:
    """The outputs of ``program``, which returns gradients, in their order and in its dtypes."""
    own = evaluate(program, arrays)
    way = freedom.choice(("reverse", "forward", "wide"))
    if way == "wide" and _is_single(program):
        return _wide(program, arrays, own)
    few = all(arrays[node.arguments[1]].size <= _FEW for node in made(program))
    cancels = any(node.operator == _CANCELS for node in program.nodes)
    if way == "forward" and few and not cancels:
        by_name = dict(zip(program.outputs, own, strict=True))
        return tuple(_forward(program, arrays, by_name).values())
    return own


def _is_single(program: Program) -> bool:
    """True if all floats are float32, and no attribute names a dtype."""
    floats = {tensor.dtype for tensor in program.inputs if tensor.dtype in FLOATS}
    named = {
        value
        for node in program.nodes
        for value in node.attributes.values()
        if isinstance(value, str)
    }
    return floats == {"float32"} and named.isdisjoint(FLOATS)


def _wide(program: Program, arrays: Mapping[str, Array], own: Sequence[Array]) -> tuple[Array, ...]:
    """As in float64, each output rounded once."""
    inputs = tuple(
        msgspec.structs.replace(tensor, dtype="float64") if tensor.dtype == "float32" else tensor
        for tensor in program.inputs
    )
    wide = {
        name: array.astype(np.float64) if array.dtype == np.float32 else array
        for name, array in arrays.items()
    }
    outputs = evaluate(msgspec.structs.replace(program, inputs=inputs), wide)
    with np.errstate(all="ignore"):
        return tuple(
            _where_finite(output.astype(like.dtype), like)
            for output, like in zip(outputs, own, strict=True)
        )


def _where_finite(other: Array, own: Array) -> Array:
    """``other``, if it and ``own`` are finite all over.

    A number that is finite in a wider dtype only, or a product with the derivative of another
    element that is not finite, is no freedom of an implementation.
    """
    return other if np.isfinite(other).all() and np.isfinite(own).all() else own


def _forward(
    program: Program, arrays: Mapping[str, Array], own: Mapping[str, Array]
) -> dict[str, Array]:
    """The outputs ``own``, with those gradients in place that PyTorch has in forward mode."""
    outputs = dict(own)
    for node in made(program):
        if node.name not in outputs:
            continue
        target, operand = node.arguments
        size = arrays[operand].size
        try:
            partials = [_directional(program, arrays, target, operand, at) for at in range(size)]
        except NotImplementedError:
            continue
        like = own[node.name]
        with np.errstate(over="ignore"):
            other = np.array(partials, like.dtype).reshape(like.shape)
        outputs[node.name] = _where_finite(other, like)
    return outputs


def _directional(
    program: Program, arrays: Mapping[str, Array], target: str, operand: str, at: int
) -> float:
    """The derivative of ``target`` in the element ``at`` of ``operand``, counted in C order.

    Raises:
        NotImplementedError: PyTorch does not differentiate an operator forward.
    """
    with forward_ad.dual_level(), torch.enable_grad():
        values: dict[str, Held] = {}
        for source in program.inputs:
            array = arrays[source.name]
            floats = source.dtype in FLOATS
            tensor = torch.from_numpy(
                np.array(array, order="C") if floats else array.astype(np.int64)
            )
            if source.name == operand:
                tangent = torch.zeros(tensor.numel(), dtype=tensor.dtype)
                tangent[at] = 1
                tensor = forward_ad.make_dual(tensor, tangent.reshape(tensor.shape))
            values[source.name] = Held(tensor, source.dtype)
        for node in program.nodes:
            if node.operator != GRADIENT:
                operands = [values[name] for name in node.arguments]
                values[node.name] = OPERATORS[node.operator](node, operands)
        tangent = forward_ad.unpack_dual(values[target].tensor).tangent
    return 0.0 if tangent is None else float(tangent)
