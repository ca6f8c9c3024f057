"""Dimensions of the inputs of exported programs, which PyTorch writes as expressions of SymPy.

One that may vary (``Dim.AUTO``), but that the program makes a number, is such an expression too.
"""

from collections.abc import Iterator, MutableMapping
from functools import reduce
from operator import add, mul
from types import SimpleNamespace
from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, MethodRebinding
from relaxcheck.fixes.framework.patch import Method, NewFile
from relaxcheck.fixes.frontends.torch.converting import IMPORTER, OWNER
from relaxcheck.fixes.frontends.torch.probing import exported
from relaxcheck.fixes.tvm_api import PrimExpr

UPSTREAM = NewFile("relax/frontend/torch/dimensions.py")

METHOD = "_process_derived_symbol"

Variables = MutableMapping[str, Any]
"""The variables of TIR by the names of PyTorch's symbols; those that are missing are added."""


def name_and_expression(importer: Any, symbol: Any, variables: Variables) -> tuple[str, Any]:
    """A name of the dimension ``symbol``, and its expression of ``variables``.

    The expression is None for a symbol, which is a variable of its own, and for functions that
    TVM's sizes do not have.
    """
    import sympy

    if isinstance(symbol, sympy.Symbol):
        return str(symbol), None
    expression = size_of(symbol, variables)
    parts = list(map(str, symbol.args))
    if isinstance(symbol, sympy.Add | sympy.Mul) and len(parts) == 2 and symbol.args[1].is_Symbol:
        # SymPy puts numbers first. PyTorch's own names, too, are made of symbol and number.
        joint = "___" if isinstance(symbol, sympy.Add) else "_"
        return f"{parts[1]}{joint}{parts[0]}", expression
    return str(symbol), expression


def size_of(symbol: Any, variables: Variables) -> PrimExpr | None:
    """The expression of TIR of ``symbol``, None where TIR has none for one of its functions."""
    import sympy

    if isinstance(symbol, sympy.Integer):
        return tvm_api.integer(int(symbol))
    if isinstance(symbol, sympy.Symbol):
        return variables.setdefault(str(symbol), tvm_api.shape_var(str(symbol)))
    parts = [size_of(each, variables) for each in _factors(symbol)]
    if not parts or any(part is None for part in parts):
        return None
    return reduce(add if isinstance(symbol, sympy.Add) else mul, parts)


def _factors(symbol: Any) -> Iterator[Any]:
    """What ``symbol`` is the sum or product of; nothing for other functions."""
    import sympy

    if isinstance(symbol, sympy.Add | sympy.Mul):
        yield from symbol.args
    if isinstance(symbol, sympy.Pow) and symbol.exp.is_Integer and symbol.exp.is_positive:
        yield from [symbol.base] * int(symbol.exp)


def _rebindings() -> tuple[MethodRebinding, ...]:
    from tvm.relax.frontend.torch import exported_program_translator

    owner = getattr(exported_program_translator, OWNER)
    return (MethodRebinding(owner, METHOD, name_and_expression),)


def _dimension(*symbols: Any) -> Any:
    """The dimension that the importer gives an input of the product of ``symbols``."""
    import sympy
    import torch
    from torch.fx.experimental.symbolic_shapes import ShapeEnv, SymNode
    from tvm.relax.frontend.torch import from_exported_program

    graph = torch.fx.Graph()
    data = graph.placeholder("data")
    graph.output((data,))
    program = exported(graph, [np.zeros(2, np.float32)])[0]
    node = SymNode(sympy.Mul(*symbols), ShapeEnv(), int, 4)
    shaped = SimpleNamespace(shape=(torch.SymInt(node),), dtype=torch.float32)
    next(iter(program.graph.nodes)).meta |= {"val": shaped, "tensor_meta": shaped}
    main = from_exported_program(program, run_ep_decomposition=False)["main"]
    return tvm_api.shape_of(main.params[0])[0]


def _varies() -> bool:
    """True if a dimension that the program fixes becomes a variable."""
    return tvm_api.as_int(_dimension(4)) != 4


def _is_alone() -> bool:
    """True if a square becomes a variable of its own."""
    import sympy

    symbol = sympy.Symbol("s0", integer=True, positive=True)
    return tvm_api.is_variable(_dimension(symbol, symbol))


FIX = Fix(
    name="torch_dimensions",
    operators=(),
    fault="dimensions of PyTorch programs that are numbers or squares become new variables",
    issue=None,
    parts=(FaultPart("numbers", _varies), FaultPart("squares", _is_alone)),
    rebindings=_rebindings,
    after="torch_symbols",
    patch=(Method(IMPORTER, OWNER, METHOD, name_and_expression),),
    one_fault=True,
)
