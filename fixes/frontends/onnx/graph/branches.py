"""ONNX's If: a branch sees the names around it, and returns values of one type with the other."""

from collections.abc import Sequence
from typing import Any

from tvm import relax

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
    before = importer._nodes
    blocks, results = [], []
    for name in ("then_branch", "else_branch"):
        importer.bb._begin_binding_block()
        importer._nodes = dict(before)
        values = [_value(importer, node, each) for each in _walked(importer, attributes[name])]
        results.append(_bound(importer.bb, values))
        blocks.append(importer.bb._end_block())
        importer._nodes = before
    types = [tvm_api.type_of(result) for result in results]
    result_type = _common(node, *types)
    then_branch, else_branch = (
        relax.SeqExpr([block], result) for block, result in zip(blocks, results, strict=True)
    )
    scalar = condition
    if tvm_api.has_shape(condition) and tvm_api.shape_of(condition):
        scalar = importer.bb.emit(relax.op.reshape(condition, ()))
    chosen = importer.bb.emit(relax.If(scalar, then_branch, else_branch))
    if result_type is not None:
        chosen = importer.bb.match_cast(chosen, result_type)
    if len(node.output) == 1:
        return [_whole(importer.bb, chosen)]
    fields = range(len(node.output))
    return [_whole(importer.bb, importer.bb.emit(relax.TupleGetItem(chosen, at))) for at in fields]


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


def _common(node: Any, left: Any, right: Any) -> Any:
    """The type to cast the result to, where the branches differ in sizes; None where they agree."""
    if shapes.alike(left, right):
        return None
    merged = _merged(node, left, right)
    return None if shapes.alike(merged, left) else merged


def _merged(node: Any, left: Any, right: Any) -> Any:
    fields, others = shapes.fields_of(left), shapes.fields_of(right)
    if fields or others:
        if len(fields) != len(others):
            lengths = (len(fields), len(others))
            raise refuse("If", branches=node.name, lengths_of_sequences=lengths)
        pairs = zip(fields, others, strict=True)
        return shapes.tuple_type([_merged(node, *pair) for pair in pairs])
    if not (shapes.is_tensor_type(left) and shapes.is_tensor_type(right)):
        raise refuse("If", then_branch=left, else_branch=right)
    if tvm_api.dtype_of(left) != tvm_api.dtype_of(right):
        raise invalid("If", "the branches differ in dtype", then_branch=left, else_branch=right)
    dims, sizes = shapes.dims_of(left), shapes.dims_of(right)
    if dims is None or sizes is None or len(dims) != len(sizes):
        raise refuse("If", then_branch=left, else_branch=right)
    merged = [
        dim if shapes.alike(dim, size) else tvm_api.shape_var(f"branch_{at}")
        for at, (dim, size) in enumerate(zip(dims, sizes, strict=True))
    ]
    return tvm_api.tensor_type(merged, tvm_api.dtype_of(left))
