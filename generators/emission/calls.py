"""Emission of calls of functions beside the operators: of TIR, packed ones, and closures."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import tvm
from tvm import relax, te
from tvm.script import tirx as script

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import calls as tvm_api_calls
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from relaxcheck.generators.core.called.meanings import (
    DPS_PACKED,
    INPLACE_PACKED,
    TIR_INPLACE,
    dims_of,
    function_of,
    result_shapes,
)
from relaxcheck.generators.core.called.sources import (
    inplace_indices,
    inplace_source,
    packed_name,
    packed_source,
    variables,
)
from relaxcheck.generators.core.called.tir_functions import CALL_TIR, FUNCTIONS, argument_dims
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.program import Node
from relaxcheck.generators.emission.dims import emitted_dim

Sizes = Mapping[str, Any]


def tir_call(builder: Any, node: Node, operands: Sequence[Any], sizes: Sizes) -> Any:
    """The call of a function of TIR, which the module then has."""
    name = str(node.attributes["function"])
    if node.operator == CALL_TIR:
        (to,) = _types([dims_of(node.attributes["shape"])], node, sizes)
        function = builder.add_func(_one_tensor(node), name)
        return relax.op.call_tir(function, list(operands), to)
    types = _types(result_shapes(node), node, sizes)
    if node.operator == TIR_INPLACE:
        function = builder.add_func(_inplace(node), name)
        indices = list(inplace_indices(node))
        return relax.op.call_tir_inplace(function, list(operands), indices, types)
    function = builder.add_func(_with_sizes(node), name)
    gradient = str(node.attributes["te_grad_name"])
    further = [emitted_dim(dim, sizes) for dim in dims_of(node.attributes.get("extent", ()))]
    numbers = [tvm_api.integer(dim) if isinstance(dim, int) else dim for dim in further]
    return tvm_api_calls.call_tir_with_grad(function, operands, numbers, types, gradient)


def packed_call(node: Node, operands: Sequence[Any], sizes: Sizes) -> Any:
    """The call of a packed function, which this process then has."""
    exec("\n".join(packed_source(node)), {"tvm": tvm, "np": np})
    name, types = packed_name(node), _types(result_shapes(node), node, sizes)
    arguments = [*operands]
    if "lead" in node.attributes:
        lead = dims_of(node.attributes["lead"])
        arguments.append(relax.ShapeExpr([emitted_dim(dim, sizes) for dim in lead]))
    numbers = [emitted_dim(dim, sizes) for dim in dims_of(node.attributes.get("extent", ()))]
    numbers += [node.attributes[name] for name in ("low", "high") if name in node.attributes]
    arguments += map(tvm_api_shapes.packed_number, numbers)
    if node.operator == DPS_PACKED:
        return relax.op.call_dps_packed(name, arguments, types)
    if node.operator == INPLACE_PACKED:
        return tvm_api_calls.call_inplace_packed(name, arguments, inplace_indices(node), types)
    return tvm_api_calls.call_packed(name, arguments, types)


def closure_call(
    builder: Any,
    node: Node,
    operands: Sequence[Any],
    sizes: Sizes,
    called: Mapping[str, Any],
    made: dict[Hashable, Any],
) -> Any:
    """The call of a closure, whose last operands are captured; those ``made`` so far are used."""
    captured = node.attributes["captured"]
    assert isinstance(captured, int)
    count = len(operands) - captured
    name = str(node.attributes["function"])
    key = ("closure", name, node.arguments[count:])
    if key not in made:
        closure: Any = relax.op.make_closure(called[name], list(operands[count:]))
        made[key] = builder.emit(closure, name_hint=f"{node.name}_closure")
    (to,) = _types([dims_of(node.attributes["shape"])], node, sizes)
    return getattr(relax.op, node.operator)(made[key], list(operands[:count]), to)


def _types(shapes: Sequence[Sequence[Dim]], node: Node, sizes: Sizes) -> list[Any]:
    dtype = str(node.attributes["dtype"])
    return [
        tvm_api.tensor_type([emitted_dim(dim, sizes) for dim in shape], dtype) for shape in shapes
    ]


def _one_tensor(node: Node) -> Any:
    """The function of one tensor that a node of ``call_tir`` calls."""
    x = _placeholder(argument_dims(node), node)
    names = {"te": te, "tir_x": x, "tir_k": te.reduce_axis((0, x.shape[-1]))}
    # Written as text, for the scripts that are made of a finding have it so.
    result = eval(FUNCTIONS[str(node.attributes["function"])].source, names)
    return te.create_prim_func([x, result]).without_attr("global_symbol")


def _with_sizes(node: Node) -> Any:
    """The function of tensors, and of a size, that a node of ``call_tir_with_grad`` calls."""
    function = function_of(node)
    of = variables(dims_of(node.attributes["of"]))
    tensors = [_placeholder(of, node)]
    if function.arguments > 1:
        tensors.append(te.placeholder(tensors[0].shape, str(node.attributes["dtype"]), name="y"))
    names: dict[str, Any] = {"te": te, "tirx": tvm.tirx, "tir_size": tvm_api.shape_var("size")}
    names |= {f"tir_{tensor.op.name}": tensor for tensor in tensors}
    if of:
        names["tir_k"] = te.reduce_axis((0, tensors[0].shape[-1]))
    results = [eval(result.tensor, names) for result in function.results]
    sizes = [names["tir_size"]] if function.further else []
    parameters = tvm_api_calls.parameters(tensors, sizes, results)
    return te.create_prim_func(parameters).without_attr("global_symbol")


def _placeholder(of: Sequence[Dim], node: Node) -> Any:
    axes = {symbol: tvm_api.shape_var(symbol) for dim in of for symbol in symbols(dim)}
    # A number of Python's would be 32 bits wide.
    dims = (emitted_dim(dim, axes) for dim in of)
    shape = [tvm_api.integer(dim) if isinstance(dim, int) else dim for dim in dims]
    return te.placeholder(shape, str(node.attributes["dtype"]), name="x")


def _inplace(node: Node) -> Any:
    """The function that a node of ``call_tir_inplace`` calls."""
    source = "\n".join(inplace_source(node))
    return tvm.script.from_source(source, extra_vars={"T": script})
