"""Lowered functions taken apart and rewritten, in one spelling over the releases.

* An expression within a statement is replaced by ``tvm_ffi.structural_map``; once by
  ``ir_transform`` of ``tvm.tirx.stmt_functor``, which is gone.
* A block is an ``SBlock``, once a ``Block``: it is known by what it has.
* A buffer that a function is given is a parameter; once it stood apart, for a handle.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import tirx

from fixes import tvm_api, tvm_api_shapes
from fixes.tvm_api import PrimExpr

Function = Any


@dataclass(frozen=True, slots=True)
class Range:
    """That ``variable`` is from ``first`` on, ``extent`` values."""

    variable: PrimExpr
    first: PrimExpr
    extent: PrimExpr


def functions(module: Any) -> list[tuple[Any, Function]]:
    """The lowered functions of ``module`` with their global variables, by name."""
    found = [(g, f) for g, f in module.functions.items() if isinstance(f, tirx.PrimFunc)]
    return sorted(found, key=lambda pair: str(pair[0].name_hint))


def sizes(function: Function) -> set[PrimExpr]:
    """The symbols that are, or are in, dimensions of the buffers that ``function`` is given."""
    map_ = getattr(function, "buffer_map", None)
    given = function.params if map_ is None else map_.values()
    dims = [dim for one in given for dim in getattr(one, "shape", None) or ()]
    return {symbol for dim in dims for symbol in tvm_api_shapes.variables(dim)}


def ranges(function: Function) -> Iterator[Range]:
    """What loops and the axes of blocks in ``function`` go through."""
    left = [function.body]
    while left:
        node = left.pop()
        if isinstance(node, tirx.For):
            yield Range(node.loop_var, node.min, node.extent)
        for axis in getattr(node, "iter_vars", ()):
            yield Range(axis.var, axis.dom.min, axis.dom.extent)
        left.extend(getattr(node, "seq", ()))
        children = (getattr(node, name, None) for name in _CHILDREN)
        left.extend(child for child in children if child is not None)


_CHILDREN = ("block", "body", "init", "then_case", "else_case")


def with_functions(module: Any, replace: Callable[[Function], Function]) -> Any:
    """``module`` with ``replace(function)`` for each lowered function; itself where all stay."""
    changed = {}
    for variable, function in functions(module):
        new = replace(function)
        if new is not function:
            changed[variable] = new
    if changed:
        module = module.clone()
        for variable, new in changed.items():
            module.update_func(variable, new)
    return module


def with_remainders(function: Function, replace: Callable[[Any], PrimExpr | None]) -> Function:
    """``function`` with ``replace(node)`` for each floormod, the inner ones first.

    None leaves one as it is. ``function`` itself where all are left.
    """
    return _with_nodes(function, {"FloorMod": tirx.FloorMod}, replace)


def with_divisions(function: Function, replace: Callable[[Any], PrimExpr | None]) -> Function:
    """The same for each floordiv and floormod."""
    kinds = {"FloorDiv": tirx.FloorDiv, "FloorMod": tirx.FloorMod}
    return _with_nodes(function, kinds, replace)


def _with_nodes(
    function: Function, kinds: Mapping[str, Any], replace: Callable[[Any], PrimExpr | None]
) -> Function:
    changed = False

    def replaced(node: Any) -> Any:
        nonlocal changed
        new = replace(node)
        changed |= new is not None
        return new

    if hasattr(tirx, "stmt_functor"):
        names = [f"tirx.{name}" for name in kinds]
        body = tirx.stmt_functor.ir_transform(function.body, None, replaced, names)
    else:
        import tvm_ffi

        def mapped(node: Any) -> Any:
            new = replaced(node)
            return node if new is None else new

        body = tvm_ffi.structural_map(function.body, (tuple(kinds.values()), mapped), order="post")
    return function.with_body(body) if changed else function


def lowered_text(function: Function) -> str:
    """``function`` in TVM's script after the pass that lowers its divisions."""
    seen: list[str] = []

    @tvm.instrument.pass_instrument
    class Watching:
        def run_after_pass(self, module: Any, info: Any) -> None:
            if str(info.name) == "tirx.LowerIntrin":
                seen.append(str(module))

    with tvm.transform.PassContext(instruments=[Watching()]):
        tvm_api.compiled(function)
    return seen[-1]
