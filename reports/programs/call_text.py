"""Calls of functions beside the operators, as lines of a script: of TIR, packed ones, closures."""

from collections.abc import Sequence

from relaxcheck.generators.core.called.meanings import (
    DPS_PACKED,
    INPLACE_PACKED,
    TIR_INPLACE,
    Shape,
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
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.program import Node
from relaxcheck.reports.programs.python.source import dim_text, shape_text

_OLDER = 'hasattr(relax, "TensorStructInfo")'
"""An expression that is true on releases with other names for types."""


def type_text(shape: Sequence[Dim], dtype: object) -> str:
    """The type of a tensor."""
    return f'R.Tensor({shape_text(shape, in_tvm=True)}, "{dtype}")'


def tir_lines(node: Node, arguments: Sequence[str]) -> tuple[list[str], str]:
    """The lines that make a function of TIR, and the call of it."""
    operands = ", ".join(arguments)
    if node.operator == CALL_TIR:
        to = type_text(dims_of(node.attributes["shape"]), node.attributes["dtype"])
        lines = [
            *_placeholder(argument_dims(node), node),
            *_reduced(source := FUNCTIONS[str(node.attributes["function"])].source),
            f"tir_y = {source}",
            _added("[tir_x, tir_y]", node),
        ]
        return lines, f"relax.op.call_tir(tir, [{operands}], {to})"
    types = _types(node)
    if node.operator == TIR_INPLACE:
        added = f'tir = bb.add_func(tir, "{node.attributes["function"]}")'
        indices = list(inplace_indices(node))
        call = f"relax.op.call_tir_inplace(tir, [{operands}], {indices}, {types})"
        return [*inplace_source(node), added], call
    return _with_sizes(node, arguments, types)


def _with_sizes(node: Node, arguments: Sequence[str], types: str) -> tuple[list[str], str]:
    """The lines that make a function of tensors, and of a size; and ``call_tir_with_grad``."""
    function = function_of(node)
    of = variables(dims_of(node.attributes["of"]))
    tensors = ["tir_x", "tir_y"][: function.arguments]
    lines = _placeholder(of, node)
    if function.arguments > 1:
        lines.append(f'tir_y = te.placeholder(tir_x.shape, "{node.attributes["dtype"]}", name="y")')
    results = []
    for at, result in enumerate(function.results):
        results.append(f"result{at}")
        lines += [*_reduced(result.tensor), f"result{at} = {result.tensor}"]
    parameters, operands = [*tensors, *results], ", ".join(arguments)
    gradient = f'"{node.attributes["te_grad_name"]}"'
    if "extent" not in node.attributes:
        lines.append(_added(f"[{', '.join(parameters)}]", node))
        return lines, f"relax.op.call_tir_with_grad(tir, [{operands}], {types}, {gradient})"
    (dim,) = dims_of(node.attributes["extent"])
    size = f'tirx.IntImm("int64", {dim})' if isinstance(dim, int) else dim_text(dim)
    plain, last = ", ".join(tensors), ", ".join(results)
    lines = [
        'tir_size = tirx.Var("size", "int64")',
        *lines,
        # Older releases take sizes behind all tensors.
        f"last = {_OLDER}",
        f"parameters = [{plain}, {last}, tir_size] if last else [{plain}, tir_size, {last}]",
        _added("parameters", node),
        f"arguments = [{operands}] if last else [{operands}, {size}]",
        f'sizes = {{"tir_vars": [{size}]}} if last else {{}}',
    ]
    return lines, f"relax.op.call_tir_with_grad(tir, arguments, {types}, {gradient}, **sizes)"


def _placeholder(dims: Shape, node: Node) -> list[str]:
    parts = [
        f'tirx.Var("{dim}", "int64")' if isinstance(dim, str) else f'tirx.IntImm("int64", {dim})'
        for dim in dims
    ]
    dtype = node.attributes["dtype"]
    return [f'tir_x = te.placeholder([{", ".join(parts)}], "{dtype}", name="x")']


def _reduced(source: str) -> list[str]:
    return ["tir_k = te.reduce_axis((0, tir_x.shape[-1]))"] if "tir_k" in source else []


def _added(parameters: str, node: Node) -> str:
    made = f'te.create_prim_func({parameters}).without_attr("global_symbol")'
    return f'tir = bb.add_func({made}, "{node.attributes["function"]}")'


def packed_lines(node: Node, arguments: Sequence[str]) -> tuple[list[str], str]:
    """The lines that register a packed function, and the call of it."""
    operands = list(arguments)
    if "lead" in node.attributes:
        lead = ", ".join(map(dim_text, dims_of(node.attributes["lead"])))
        operands.append(f"relax.ShapeExpr([{lead}])")
    numbers = [dim_text(dim) for dim in dims_of(node.attributes.get("extent", ()))]
    numbers += [str(node.attributes[name]) for name in ("low", "high") if name in node.attributes]
    # Older releases take a PrimValue only.
    wrap = 'relax.PrimValue if hasattr(relax, "PrimValue") else relax.prim_value'
    operands += [f"({wrap})({number})" for number in numbers]
    name, types = packed_name(node), _types(node)
    lines = packed_source(node)
    if node.operator == DPS_PACKED:
        return lines, f'relax.op.call_dps_packed("{name}", [{", ".join(operands)}], {types})'
    keywords = f'**{{"sinfo_args" if {_OLDER} else "ty_args": {types}}}'
    if node.operator == INPLACE_PACKED:
        keywords = f"inplace_indices={list(inplace_indices(node))}, {keywords}"
    called = ", ".join([f'"{name}"', *operands, keywords])
    return lines, f"relax.op.{node.operator}({called})"


def _types(node: Node) -> str:
    types = [type_text(shape, node.attributes["dtype"]) for shape in result_shapes(node)]
    return f"[{', '.join(types)}]"


def closure_lines(
    node: Node, name: str, arguments: Sequence[str], made: dict[str, str]
) -> tuple[list[str], str]:
    """The line that makes a closure, unless it is ``made`` already; and the call of it."""
    captured = node.attributes["captured"]
    assert isinstance(captured, int)
    count = len(arguments) - captured
    bound = ", ".join(arguments[count:])
    to = type_text(dims_of(node.attributes["shape"]), node.attributes["dtype"])
    text = f"relax.op.make_closure({node.attributes['function']}, [{bound}])"
    lines = [] if text in made else [f"{name}_closure = bb.emit({text})"]
    closure = made.setdefault(text, f"{name}_closure")
    return lines, f"relax.op.{node.operator}({closure}, [{', '.join(arguments[:count])}], {to})"
