"""One spelling, over the releases, of lowered functions: their loops, sizes and index arithmetic.

* ``tvm_ffi.structural_map`` replaces expressions within statements. Earlier: ``ir_transform`` of
  ``tvm.tirx.stmt_functor``, since removed.
* A block is an ``SBlock``, earlier a ``Block``; its attributes identify it.
* Buffers are parameters of the function. Earlier they stood apart, for a handle.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import tvm
from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import PrimExpr
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

Function = Any


@dataclass(frozen=True, slots=True)
class Range:
    """``variable`` takes ``extent`` values from ``first`` on."""

    variable: PrimExpr
    first: PrimExpr
    extent: PrimExpr


def functions(module: Any) -> list[tuple[Any, Function]]:
    """The lowered functions of ``module`` with their global variables, sorted by name."""
    prim_functions = [(g, f) for g, f in module.functions.items() if isinstance(f, tirx.PrimFunc)]
    return sorted(prim_functions, key=lambda pair: str(pair[0].name_hint))


def sizes(function: Function) -> set[PrimExpr]:
    """The symbols in the dimensions of the buffers of ``function``."""
    map_ = getattr(function, "buffer_map", None)
    arguments = function.params if map_ is None else map_.values()
    dims = [dim for argument in arguments for dim in getattr(argument, "shape", None) or ()]
    return {symbol for dim in dims for symbol in tvm_api_shapes.variables(dim)}


def ranges(function: Function) -> Iterator[Range]:
    """The ranges of all loops and block axes of ``function``."""
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
    """``module`` with each lowered function replaced by ``replace(function)``; itself if none
    changes.
    """
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
    """``function`` with each floormod replaced by ``replace(node)``, inner ones first.

    None keeps a node. Returns ``function`` itself if all are kept.
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
    """``function`` as TVMScript, after the pass that lowers its divisions."""
    seen: list[str] = []

    @tvm.instrument.pass_instrument
    class Watching:
        def run_after_pass(self, module: Any, info: Any) -> None:
            if str(info.name) == "tirx.LowerIntrin":
                seen.append(str(module))

    with tvm.transform.PassContext(instruments=[Watching()]):
        tvm_api.compiled(function)
    return seen[-1]
