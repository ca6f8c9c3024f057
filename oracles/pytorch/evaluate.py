"""The PyTorch oracle: PyTorch's own kernels, in the program's own dtypes.

Integers are computed in int64 and wrapped around to their dtype after each operator. Attributes go
to PyTorch as they are; masks come from ``tril`` and ``triu``, layouts from ``einsum``. Nothing here
is derived from what another oracle or the reference uses.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import torch

from relaxcheck.extensions import entry_points
from relaxcheck.generators.core.program import GRADIENT, Node, Program
from relaxcheck.generators.core.values import numpy_dtype
from relaxcheck.oracles.answer import Array, Unsupported
from relaxcheck.oracles.limitations import ANY, Operand, check, check_input, dtype
from relaxcheck.oracles.pytorch.tensors import FLOATS, FOREIGN, Held, Operator, limit, operator
from relaxcheck.oracles.pytorch.tensors import OPERATORS as OPERATORS
from relaxcheck.oracles.registry import discover, extend

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = False  # oneDNN is slower on tensors this small
# NNPACK, taken for batches of 16 and more, transforms its operands: no sum of products any more.
torch.backends.nnpack.set_flags(False)

discover("relaxcheck.oracles.pytorch.operators")
extend(entry_points.PYTORCH, operator, OPERATORS)

limit(ANY, dtype("uint64"), "uint64 does not fit int64")


def evaluate(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of ``program`` for the input ``arrays``, in its output dtypes.

    Raises:
        Unsupported: PyTorch cannot evaluate an operator, dtype or shape of the program.

    The program must be valid; the reference refuses one that is not.
    """
    values: dict[str, Held] = {}
    for source in program.inputs:
        array = arrays[source.name]
        if not _is_only_cast(program, source.name, array):
            check_input("pytorch", array.shape, source.dtype)
        values[source.name] = _held(array, source.dtype)
    made = [node for node in program.nodes if node.operator == GRADIENT]
    if made:
        _require(values[node.arguments[1]] for node in made)
    with torch.enable_grad() if made else torch.inference_mode():
        for node in program.nodes:
            if node.operator == GRADIENT:
                continue
            operands = [values[name] for name in node.arguments]
            check(
                "pytorch",
                node,
                (
                    Operand(tuple(each.tensor.shape), each.dtype, name not in arrays)
                    for name, each in zip(node.arguments, operands, strict=True)
                ),
            )
            if node.operator not in OPERATORS:
                raise Unsupported(f"pytorch: no operator {node.operator}")
            values[node.name] = _called(OPERATORS[node.operator], node, operands)
    for node in made:
        values[node.name] = _gradient(*(values[name] for name in node.arguments))
    return tuple(_array(values[name]) for name in program.outputs)


def _is_only_cast(program: Program, name: str, array: Array) -> bool:
    """True for unsigned integers that fit int64 and take part in no arithmetic."""
    used = {node.operator for node in program.nodes if name in node.arguments}
    return array.dtype == np.uint64 and used == {"astype"} and bool((array < 2**63).all())


def _require(operands: Iterable[Held]) -> None:
    for operand in operands:
        operand.tensor.requires_grad_()


def _gradient(target: Held, operand: Held) -> Held:
    """The gradient by PyTorch's own differentiation; zeros where ``target`` does not depend."""
    result = None
    if target.tensor.requires_grad:
        (result,) = torch.autograd.grad(
            target.tensor, operand.tensor, retain_graph=True, allow_unused=True
        )
    return Held(torch.zeros_like(operand.tensor) if result is None else result, operand.dtype)


def _called(function: Operator, node: Node, operands: list[Held]) -> Held:
    try:
        return function(node, operands)
    except (NotImplementedError, RuntimeError) as error:
        # A kernel that lacks a dtype says so in these words, whichever of the two it raises.
        if "not implemented for" not in str(error):
            raise
        raise Unsupported(f"pytorch: {str(error).splitlines()[0]}") from error


def _held(array: Array, dtype: str) -> Held:
    if dtype in FOREIGN:
        bits = np.array(array, order="C").view(f"i{array.itemsize}")
        return Held(torch.from_numpy(bits).view(FLOATS[dtype]), dtype)
    if dtype in FLOATS:
        return Held(torch.from_numpy(np.array(array, order="C")), dtype)
    return Held(torch.from_numpy(array.astype(np.int64)), dtype)


def _array(held: Held) -> Array:
    held = Held(held.tensor.detach(), held.dtype)
    if held.dtype in FOREIGN:
        whole = torch.int16 if held.dtype == "bfloat16" else torch.int8
        bits: Array = held.tensor.contiguous().view(whole).numpy()
        return bits.view(numpy_dtype(held.dtype))
    array: Array = held.tensor.numpy().astype(numpy_dtype(held.dtype), order="C", copy=False)
    return array
