"""Modules of ours as they would be written for the running TVM alone.

A question of ``fixes.tvm_api`` that can be answered now ("has relax a TensorType?") is replaced by
its answer: the name that this TVM has. What depends on a value is asked as before. Where the prover
is asked, TVM's own code asks the analyzer.
"""

import ast
from typing import Any

from tvm import relax

from fixes import tvm_api
from fixes.patches.source import Edit, Source, bound

_ANALYZER = {"prover.proves": "tvm_api.proves", "prover.equal": "tvm_api.proves_equal"}


def by_analyzer(source: Source) -> Source:
    """``source`` with the analyzer asked, at its default strength, for what the prover proves."""
    edits = []
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in _ANALYZER:
            text = _ANALYZER[ast.unparse(node)]
            edits.append(Edit(source.start(node), source.end(node), text))
        elif isinstance(node, ast.ImportFrom) and node.module == "fixes":
            names = {ast.unparse(alias) for alias in node.names}
            if "prover" in names:
                text = ", ".join(sorted(names - {"prover"} | {"tvm_api"}))
                edits.append(
                    Edit(source.start(node), source.end(node), f"from fixes import {text}")
                )
    return source.edited(edits)


def resolved(source: Source, known: dict[str, Any] | None = None) -> Source:
    """``source``, where each alias of the top level is replaced by the name that it stands for.

    ``known`` are the values of its names, those of ``fixes.tvm_api`` where it is not given.
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
            Edit(source.start(one), source.end(one), aliases[one.id])
            for one in ast.walk(node)
            if isinstance(one, ast.Name) and one.id in aliases and one.id.startswith("_")
        ]
        edits += _features(source, node)
    return source.edited(edits)


def _chosen(node: ast.expr, values: dict[str, Any]) -> str | None:
    """The dotted name that ``node`` comes to, or None where it is anything else."""
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
    found: Any = values
    for number, part in enumerate(ast.unparse(node).split(".")):
        found = getattr(found, part) if number else found[part]
    return found


def _features(source: Source, function: ast.stmt) -> list[Edit]:
    """Whether a parameter that is a Relax expression has an attribute, which its class tells."""
    if not isinstance(function, ast.FunctionDef):
        return []
    expressions = {
        one.arg
        for one in function.args.args
        if isinstance(one.annotation, ast.Name) and one.annotation.id == "Expr"
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
