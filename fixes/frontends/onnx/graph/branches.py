"""ONNX's If: a branch sees the names around it, and returns values of one type with the other."""

from collections.abc import Sequence
from typing import Any

from tvm import relax
from tvm.relax.utils import copy_with_new_vars

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.graph import known
from relaxcheck.fixes.tvm_api import Expr, shapes

UPSTREAM = NewFile("relax/frontend/onnx/branches.py")


def outputs(importer: Any, node: Any, condition: Expr, attributes: Any) -> list[Any]:
    """The outputs of ``node``, an If. Of a known condition, only its branch is imported."""
    decided = known.known(condition, {})
    if decided is not None and decided.values.size == 1:
        taken = "then_branch" if all(decided.values.flat) else "else_branch"
        return inlined(importer, attributes[taken])
    names = ("then_branch", "else_branch")
    bodies = [_body(importer, node, attributes[name]) for name in names]
    wanted = _merged(node, *(tvm_api.type_of(body.body) for body in bodies))
    calls = [_called(importer.bb, body, name) for body, name in zip(bodies, names, strict=True)]
    then_branch, else_branch = (relax.SeqExpr([], call) for call in calls)
    scalar = condition
    if tvm_api.has_shape(condition) and tvm_api.shape_of(condition):
        scalar = importer.bb.emit(relax.op.reshape(condition, relax.ShapeExpr([])))
    chosen = importer.bb.emit(relax.If(scalar, then_branch, else_branch))
    if not shapes.alike(tvm_api.type_of(chosen), wanted):
        chosen = importer.bb.match_cast(chosen, wanted)
    if len(node.output) == 1:
        return [_whole(importer.bb, chosen)]
    fields = range(len(node.output))
    return [_whole(importer.bb, importer.bb.emit(relax.TupleGetItem(chosen, at))) for at in fields]


def _body(importer: Any, node: Any, graph: Any) -> Any:
    """The bindings of ``graph`` and its result, which see the names around it."""
    before = importer._nodes
    importer.bb._begin_binding_block()
    importer._nodes = dict(before)
    values = [_value(importer, node, each) for each in _walked(importer, graph)]
    result = _bound(importer.bb, values)
    importer._nodes = before
    return importer.bb.normalize(relax.SeqExpr([importer.bb._end_block()], result))


def _called(builder: Any, body: Any, name: str) -> Expr:
    """A call of a new function with ``body``, whose parameters are the variables around it.

    In a function of its own its memory is planned alone: TVM would give memory that one branch
    allocates to tensors of another.
    """
    variables = [each for each in relax.analysis.free_vars(body) if not _is_symbol(each)]
    function = relax.Function(variables, body)
    # Sizes that no parameter has alone.
    symbols = list(relax.analysis.free_symbolic_vars(function))
    arguments: list[Expr] = list(variables)
    if symbols:
        sizes = relax.Var("sizes", shapes.shape_type(symbols))
        function = relax.Function([*variables, sizes], body)
        arguments.append(relax.ShapeExpr(symbols))
    copied = copy_with_new_vars(function)
    return relax.Call(builder.add_func(copied, name), arguments)


def _is_symbol(variable: Expr) -> bool:
    return known.is_shape(variable) and not isinstance(variable, relax.ShapeExpr)


def inlined(importer: Any, graph: Any) -> list[Any]:
    """The outputs of ``graph``, its nodes added to those around it."""
    before = importer._nodes
    importer._nodes = dict(before)
    try:
        return _walked(importer, graph)
    finally:
        importer._nodes = before


def _walked(importer: Any, graph: Any) -> list[Any]:
    for initializer in graph.initializer:
        importer._nodes[initializer.name] = relax.const(importer._parse_array(initializer))
    importer._construct_nodes(graph)
    return [importer._nodes[output.name] for output in graph.output]


def _value(importer: Any, node: Any, value: Any) -> Expr:
    if not isinstance(value, relax.Expr):
        raise refuse("If", output="an optional without a value", node=node.name)
    return importer.bb.normalize(value)


def _bound(builder: Any, values: Sequence[Expr]) -> Expr:
    """The result of a branch: its only value, or a tuple of several."""
    if len(values) == 1:
        return builder.emit(values[0])
    return builder.emit(relax.Tuple(list(values)))


def _whole(builder: Any, value: Expr) -> Expr:
    """``value``; a sequence as a literal tuple."""
    count = len(shapes.fields_of(tvm_api.type_of(value)))
    if not count:
        return value
    return relax.Tuple([builder.emit(relax.TupleGetItem(value, at)) for at in range(count)])


def _merged(node: Any, left: Any, right: Any) -> Any:
    fields, more = shapes.fields_of(left), shapes.fields_of(right)
    if fields or more:
        if len(fields) != len(more):
            lengths = (len(fields), len(more))
            raise refuse("If", branches=node.name, lengths_of_sequences=lengths)
        pairs = zip(fields, more, strict=True)
        return shapes.tuple_type([_merged(node, *pair) for pair in pairs])
    if not (shapes.is_tensor_type(left) and shapes.is_tensor_type(right)):
        raise refuse("If", then_branch=left, else_branch=right)
    if tvm_api.dtype_of(left) != tvm_api.dtype_of(right):
        raise invalid("If", "the branches differ in dtype", then_branch=left, else_branch=right)
    if int(left.ndim) != int(right.ndim) or int(left.ndim) < 0:
        raise refuse("If", then_branch=left, else_branch=right)
    unknown: list[Any] = [None] * int(left.ndim)
    dims, others = (shapes.dims_of(each) or unknown for each in (left, right))
    pairs = zip(dims, others, strict=True)
    merged = [
        dim if dim is not None and shapes.alike(dim, size) else tvm_api.shape_var(f"branch_{at}")
        for at, (dim, size) in enumerate(pairs)
    ]
    return tvm_api.tensor_type(merged, tvm_api.dtype_of(left))
