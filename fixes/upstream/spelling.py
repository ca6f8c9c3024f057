"""Rewrites our modules as they would be written for the running TVM alone.

A feature test of ``tvm_api`` that is decided now ("has relax a TensorType?") is replaced by its
answer, the name in this TVM. Tests that depend on a value stay. Calls of our prover become calls of
TVM's analyzer.
"""

import ast
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.upstream.source import Edit, Source, bound

_ANALYZER = {"prover.proves": "tvm_api.proves", "prover.equal": "tvm_api.proves_equal"}
_PROVER = "from relaxcheck.fixes.proving import prover"
_INSTEAD = "from relaxcheck.fixes import tvm_api"


def by_analyzer(source: Source) -> Source:
    """``source`` with calls of the analyzer, at its default strength, in place of the prover's."""
    edits = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in _ANALYZER:
            text = _ANALYZER[ast.unparse(node)]
            edits.append(Edit(source.start(node), source.end(node), text))
        elif isinstance(node, ast.ImportFrom) and ast.unparse(node) == _PROVER:
            edits.append(Edit(source.start(node), source.end(node), _INSTEAD))
    return source.edited(edits)


def resolved(source: Source, known: dict[str, Any] | None = None) -> Source:
    """``source`` with each top-level alias replaced by the name that it stands for.

    ``known`` holds the values of its names; the default is those of ``tvm_api``.
    """
    values = vars(tvm_api) if known is None else known
    aliases: dict[str, str] = {}
    for node in source.tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            chosen = _chosen(node.value, values)
            if chosen is not None:
                aliases.update(
                    (name, chosen)
                    for name in bound(node)
                    if name.startswith("_") or chosen != ast.unparse(node.value)
                )
    edits = []
    for node in source.tree.body:
        own = set(bound(node)) & set(aliases)
        public = {name for name in own if not name.startswith("_")}
        if public and isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            # Other modules import it.
            (name,) = public
            edits.append(Edit(source.start(node.value), source.end(node.value), aliases[name]))
        if own:
            continue
        edits += [
            Edit(source.start(child), source.end(child), aliases[child.id])
            for child in ast.walk(node)
            if isinstance(child, ast.Name) and child.id in aliases and child.id.startswith("_")
        ]
        edits += _features(source, node)
    return source.edited(edits)


def _chosen(node: ast.expr, values: dict[str, Any]) -> str | None:
    """The dotted name that ``node`` evaluates to, or None for other expressions."""
    match node:
        case ast.Name() | ast.Attribute():
            text = ast.unparse(node)
            return text if all(part.isidentifier() for part in text.split(".")) else None
        case ast.BoolOp(op=ast.Or(), values=[first, second]):
            return _chosen(first, values) or _chosen(second, values)
        case ast.Call(
            func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name)), other]
        ):
            if hasattr(_value(owner, values), name):
                return f"{ast.unparse(owner)}.{name}"
            return None if isinstance(other, ast.Constant) else _chosen(other, values)
        case ast.Call(func=ast.Name(id="import_module"), args=[ast.Constant(value=str(name))]):
            return name
        case ast.IfExp(
            test=ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=str(name))])
        ):
            has = hasattr(_value(owner, values), name)
            return _chosen(node.body if has else node.orelse, values)
    return None


def _value(node: ast.expr, values: dict[str, Any]) -> Any:
    value: Any = values
    for number, part in enumerate(ast.unparse(node).split(".")):
        value = getattr(value, part) if number else value[part]
    return value


def _features(source: Source, function: ast.stmt) -> list[Edit]:
    """Decide by class whether a parameter that is a Relax expression has an attribute."""
    if not isinstance(function, ast.FunctionDef):
        return []
    expressions = {
        arg.arg
        for arg in function.args.args
        if isinstance(arg.annotation, ast.Name) and arg.annotation.id == "Expr"
    }
    edits = []
    for node in ast.walk(function):
        match node:
            case ast.IfExp(
                test=ast.Call(
                    func=ast.Name(id="hasattr"),
                    args=[ast.Name(id=owner), ast.Constant(value=str(name))],
                )
            ) if owner in expressions:
                kept = node.body if hasattr(relax.Var, name) else node.orelse
                edits.append(Edit(source.start(node), source.end(node), source.of(kept)))
    return edits
