"""The text of functions that programs call: in TVMScript, and in Python for packed ones.

Emission runs it, and scripts that are made of a finding have it.
"""

from collections.abc import Iterator, Sequence

from relaxcheck.generators.core.called.meanings import (
    DPS_PACKED,
    FRESH,
    INPLACE_PACKED,
    Result,
    Shape,
    dims_of,
    function_of,
)
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.program import Node

_PARAMETERS = ("x", "y")

_FURTHER = {"": (), "size": ("size",), "lead": ("shape",), "bounds": ("low", "high")}
"""The names of the arguments behind the tensors, by ``Function.further``."""

_KINDS = {DPS_PACKED: "dps", INPLACE_PACKED: "inplace"}


def inplace_indices(node: Node) -> tuple[int, ...]:
    """The indices of the arguments that the results of ``node`` overwrite."""
    indices = node.attributes["inplace_indices"]
    assert isinstance(indices, tuple)
    return indices


def _targets(node: Node) -> list[str]:
    """The tensor that each result of ``node`` is written to: an argument, or a new one.

    An index that is none, which TVM is to refuse, stands for the first argument.
    """
    names = _PARAMETERS[: function_of(node).arguments]
    return [
        f"result{at}" if index == FRESH else names[index if 0 <= index < len(names) else 0]
        for at, index in enumerate(inplace_indices(node))
    ]


def variables(of: Sequence[Dim]) -> Shape:
    """``of``, an argument's shape, in a function of TIR: its own variables for what is symbolic."""
    return tuple(f"a{axis}" if symbols(dim) else dim for axis, dim in enumerate(of))


def packed_name(node: Node) -> str:
    """The name under which the packed function that ``node`` calls is registered."""
    name = f"test.{_KINDS.get(node.operator, 'pure')}.{node.attributes['function']}"
    if node.operator != INPLACE_PACKED:
        return name
    # The text depends on what is overwritten.
    return "_".join([name, *("fresh" if at == FRESH else str(at) for at in inplace_indices(node))])


def packed_source(node: Node) -> list[str]:
    """The lines of Python that define and register the packed function that ``node`` calls.

    It computes in NumPy. All results of one that works in place are known before any argument is
    overwritten.
    """
    function = function_of(node)
    tensors = _PARAMETERS[: function.arguments]
    results = [f"result{at}" for at in range(len(function.results))]
    own = results if node.operator == DPS_PACKED else []
    arguments = ", ".join([*tensors, *_FURTHER[function.further], *own])
    values = ", ".join(f"np.asarray({result.array})" for result in function.results)
    lines = [
        f'@tvm.register_global_func("{packed_name(node)}", override=True)',
        f"def packed({arguments}):",
    ]
    arrays = ", ".join(f"{name}.numpy()" for name in tensors)
    inner = f"(lambda {', '.join(tensors)}: [{values}])({arrays})"
    return [*lines, f"    values = {inner}", *(f"    {line}" for line in _returned(node, results))]


def _returned(node: Node, results: Sequence[str]) -> Iterator[str]:
    """Yield the lines that hand the arrays in ``values`` over to the caller."""
    if node.operator == DPS_PACKED:
        yield from (f"{name}.copyfrom(values[{at}])" for at, name in enumerate(results))
        return
    handed = [f"tvm.runtime.tensor(values[{at}])" for at in range(len(results))]
    if node.operator == INPLACE_PACKED:
        for at, target in enumerate(_targets(node)):
            if target in _PARAMETERS:
                handed[at] = target
                yield f"{target}.copyfrom(values[{at}])"
    yield f"return {handed[0]}" if len(handed) == 1 else f"return [{', '.join(handed)}]"


def inplace_source(node: Node) -> list[str]:
    """The lines of TVMScript of the function ``tir`` that the ``call_tir_inplace`` node calls."""
    function = function_of(node)
    of = variables(dims_of(node.attributes["of"]))
    dtype = str(node.attributes["dtype"])
    parameters = dict.fromkeys(_PARAMETERS[: function.arguments], of)
    targets = _targets(node)
    for result, target in zip(function.results, targets, strict=True):
        parameters.setdefault(target, result.shape(of))
    own = [f"{dim} = T.int64()" for dim in of if isinstance(dim, str)]
    buffers = [
        f'{name} = T.match_buffer({name}_handle, {_tuple(map(_size, dims))}, "{dtype}")'
        for name, dims in parameters.items()
    ]
    handles = ", ".join(f"{name}_handle: T.handle" for name in parameters)
    # Sums come first: they read what opposites overwrite.
    pairs = sorted(zip(function.results, targets, strict=True), key=lambda pair: pair[0].operator)
    body = [line for result, target in pairs[::-1] for line in _nest(result, target, of, dtype)]
    return [
        "@T.prim_func(private=True, s_tir=True)",
        f"def tir({handles}):",
        *(f"    {line}" for line in (*own, *buffers, *body)),
    ]


_ELEMENTS = {"negative": "-{0}[{place}]", "subtract": "{0}[{place}] - {1}[{place}]"}
"""By operator: an element of the result, of the arguments that it is computed of."""


def _nest(result: Result, target: str, of: Shape, dtype: str) -> list[str]:
    """The loops that write ``result`` to ``target``."""
    places = [f"v{axis}" for axis in range(len(of))]
    place = ", ".join(places) or "()"
    arguments = [_PARAMETERS[at] for at in result.of]
    if result.operator == "sum":
        summed = ", ".join(places[:-1]) or "()"
        statements = [
            "with T.init():",
            f"    {target}[{summed}] = T.{dtype}(0)",
            f"{target}[{summed}] = {target}[{summed}] + {arguments[0]}[{place}]",
        ]
    else:
        element = _ELEMENTS[result.operator].format(*arguments, place=place)
        statements = [f"{target}[{place}] = {element}"]
    kinds = "".join(
        "SR"[result.operator == "sum" and axis == len(of) - 1] for axis in range(len(of))
    )
    block = [f'with T.sblock("{result.operator}_{target}"):']
    if not of:
        return [*block, *(f"    {line}" for line in statements)]
    loops = [f"i{axis}" for axis in range(len(of))]
    left = f"{places[0]} = T.axis.remap" if len(of) == 1 else f"{', '.join(places)} = T.axis.remap"
    block.append(f'    {left}("{kinds}", [{", ".join(loops)}])')
    block += [f"    {line}" for line in statements]
    extents = ", ".join(map(_size, of))
    return [f"for {', '.join(loops)} in T.grid({extents}):", *(f"    {line}" for line in block)]


def _size(dim: Dim) -> str:
    # A number of Python's would be 32 bits wide.
    return dim if isinstance(dim, str) else f"T.int64({dim})"


def _tuple(parts: Iterator[str]) -> str:
    items = list(parts)
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
