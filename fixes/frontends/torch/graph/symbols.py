"""Arithmetic of floats that symbolic sizes make, as scale factors are.

Such a float is a tensor of float64 without dimensions, since Relax has no symbolic floats.
"""

import operator
from collections.abc import Callable
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.torch import operands
from relaxcheck.fixes.frontends.torch.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.torch.probing import made_of
from relaxcheck.fixes.tvm_api import Expr

UPSTREAM = NewFile("relax/frontend/torch/symbols.py")

_DTYPE = "float64"
"""PyTorch's floats of Python."""


def convert_float(node: Node) -> Any:
    """The symbolic integer as a float; a number stays one."""
    (value,) = _arguments(node)
    return float(value) if isinstance(value, int | float) else _float(node, value)


def convert_arithmetic(node: Node) -> Any:
    """The sum, difference, product, quotient or negative of numbers of which some are symbolic.

    A quotient of integers is a float too.
    """
    values = _arguments(node)
    name = node.operator
    if name != "truediv" and not any(map(_is_float, values)):
        # Integers are numbers, expressions of TIR, or, for TVM's own entry, tensors.
        whole = not any(map(operands.is_tensor, values))
        return getattr(operator, name)(*values) if whole else node.converted()
    if all(isinstance(value, int | float) for value in values):
        return getattr(operator, name)(*values)
    return node.emit(_OPERATORS[name](*(_float(node, value) for value in values)))


_OPERATORS: dict[str, Callable[..., Expr]] = {
    "add": relax.op.add,
    "sub": relax.op.subtract,
    "mul": relax.op.multiply,
    "truediv": relax.op.divide,
    "neg": relax.op.negative,
}


def _arguments(node: Node) -> list[Any]:
    """The arguments of a function of Python: Relax values, expressions of TIR, or numbers."""
    return [node.importer._retrieve_args(each) for each in node.call.args]


def _is_float(value: Any) -> bool:
    is_own = operands.is_tensor(value) and tvm_api.dtype_of(value) == _DTYPE
    return isinstance(value, float) or is_own


def _float(node: Node, value: Any) -> Expr:
    return operands.tensor(node, value, _DTYPE)


CONVERSIONS: dict[str, Convert] = {
    "sym_float": convert_float,
    **dict.fromkeys(_OPERATORS, convert_arithmetic),
}


def _lacks_floats() -> bool:
    """True if TVM does not import the product of a tensor with a fraction of its size."""
    import torch

    def call(graph: Any, data: Any) -> Any:
        size = graph.call_function(torch.ops.aten.sym_size.int, (data, 0))
        whole = graph.call_function(torch.sym_float, (size,))
        less = graph.call_function(operator.sub, (whole, 1.0))
        return graph.call_function(operator.truediv, (less, 19.0))

    try:
        result = made_of(call, [([tvm_api.shape_var("n")], "float32")])
    except Exception:
        # Of any kind: the importer does not convert it.
        return True
    return tvm_api.dtype_of(result) != _DTYPE


FIX = Fix(
    name="torch_symbols",
    operators=tuple(CONVERSIONS),
    fault="PyTorch programs that compute floats from symbolic sizes are not imported",
    issue=None,
    parts=(FaultPart("floats", _lacks_floats),),
    rebindings=rebindings(CONVERSIONS),
    after="torch_reshaping",
    patch=patch(CONVERSIONS),
)
