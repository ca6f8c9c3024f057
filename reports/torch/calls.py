"""Nodes of a program as calls in Python."""

import keyword
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from relaxcheck.generators.torch.program import (
    Branch,
    Complex,
    Dots,
    Layer,
    Many,
    Named,
    Node,
    Real,
    Ref,
    Size,
    Span,
)

Names = Callable[[str], str]
"""The expression for the value of a name: ``x``, or ``self.x`` for what the module holds."""

_TENSOR, _OPERATOR = "torch.Tensor.", "operator."

_BINARY = {
    **dict.fromkeys(("__add__", "add"), "+"),
    **dict.fromkeys(("__sub__", "sub"), "-"),
    **dict.fromkeys(("__mul__", "mul"), "*"),
    **dict.fromkeys(("__truediv__", "truediv"), "/"),
    **dict.fromkeys(("__floordiv__", "floordiv"), "//"),
    **dict.fromkeys(("__mod__", "mod"), "%"),
    **dict.fromkeys(("__pow__", "pow"), "**"),
    **{"__matmul__": "@", "__and__": "&", "__or__": "|", "__xor__": "^"},
    **{"__lshift__": "<<", "__rshift__": ">>"},
    **{
        "__eq__": "==",
        "__ne__": "!=",
        "__lt__": "<",
        "__le__": "<=",
        "__gt__": ">",
        "__ge__": ">=",
    },
}
_REFLECTED = {"__radd__": "+", "__rsub__": "-", "__rmul__": "*", "__rmod__": "%", "__rpow__": "**"}
_UNARY = {"__neg__": "-", "__invert__": "~", "neg": "-"}


def safe(name: str) -> str:
    """``name`` as a variable of a script, which has some of its own."""
    return f"{name}_" if keyword.iskeyword(name) or name in ("self", "torch", "math") else name


def statements(
    node: Node, names: Names, layers: Mapping[str, Layer], target: str = ""
) -> Iterator[str]:
    """The lines that call ``node``, those of its branches first; ``target`` is what they bind."""
    for number, argument in enumerate(node.args):
        if isinstance(argument, Branch):
            yield from _function(argument, _branch_name(node, number))
    call = expression(node, names, layers)
    bound = target or ", ".join(safe(name) if name else "_" for name in node.outputs)
    yield f"{bound} = {call}" if bound else call


def _function(branch: Branch, name: str) -> Iterator[str]:
    yield f"def {name}({', '.join(map(safe, branch.inputs))}):"
    for node in branch.nodes:
        for line in statements(node, safe, {}):
            yield f"    {line}"
    outputs = ", ".join(map(safe, branch.outputs))
    yield f"    return {outputs}"


def _branch_name(node: Node, number: int) -> str:
    first = next((name for name in node.outputs if name), "value")
    return f"{safe(first)}_branch_{number}"


def expression(node: Node, names: Names, layers: Mapping[str, Layer]) -> str:
    """The call of ``node``."""
    args = [
        _branch_name(node, number) if isinstance(each, Branch) else argument_source(each, names)
        for number, each in enumerate(node.args)
    ]
    keywords = [f"{key}={argument_source(each, names)}" for key, each in node.keywords.items()]
    if node.target in layers:
        return f"self.{node.target}({', '.join((*args, *keywords))})"
    if not keywords and (written := _in_symbols(node, args, names)):
        return written
    first = node.args[0] if node.args else None
    if node.target.startswith(_TENSOR) and isinstance(first, Ref):
        method = node.target.removeprefix(_TENSOR)
        return f"{args[0]}.{method}({', '.join((*args[1:], *keywords))})"
    return f"{node.target}({', '.join((*args, *keywords))})"


def _in_symbols(node: Node, args: list[str], names: Names) -> str:
    """The call of ``node`` by an operator of Python, or ``""`` where it has none."""
    if node.target.startswith(_TENSOR):
        name = node.target.removeprefix(_TENSOR)
        if not node.args or not isinstance(node.args[0], Ref) or not name.startswith("__"):
            return ""
    elif node.target.startswith(_OPERATOR):
        name = node.target.removeprefix(_OPERATOR)
    else:
        return ""
    if name in ("__getitem__", "getitem") and len(args) == 2:
        return f"{_operand(args[0])}[{_index(node.args[1], names)}]"
    if name in _BINARY and len(args) == 2:
        return f"{_operand(args[0])} {_BINARY[name]} {_operand(args[1])}"
    if name in _REFLECTED and len(args) == 2:
        return f"{_operand(args[1])} {_REFLECTED[name]} {_operand(args[0])}"
    if name in _UNARY and len(args) == 1:
        return f"{_UNARY[name]}{_operand(args[0])}"
    return ""


def _operand(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _index(argument: Any, names: Names) -> str:
    items: tuple[Any, ...] | None = None
    if isinstance(argument, Many):
        items = argument.items
    elif isinstance(argument, tuple) and argument:
        items = argument
    if items is None:
        return argument_source(argument, names, in_index=True)
    written = [argument_source(item, names, in_index=True) for item in items]
    return f"{written[0]}," if len(written) == 1 else ", ".join(written)


def argument_source(argument: Any, names: Names, *, in_index: bool = False) -> str:
    """``argument`` as an expression. ``in_index``: a slice is written with colons."""
    match argument:
        case Ref(name=name):
            return names(name)
        case Size(of=of, axis=axis):
            return f"{names(of)}.shape[{axis}]"
        case Named(name=name):
            return 'torch.device("cpu")' if name == "cpu" else f"torch.{name}"
        case Real(text=text):
            return f'float("{text}")'
        case Complex(real=real, imaginary=imaginary):
            return f"complex({real}, {imaginary})"
        case Span(start=start, stop=stop, step=step):
            ends = [None if end is None else argument_source(end, names) for end in (start, stop)]
            if not in_index:
                return f"slice({ends[0]}, {ends[1]}, {step})"
            span = f"{ends[0] or ''}:{ends[1] or ''}"
            return span if step is None else f"{span}:{step}"
        case Dots():
            return "..."
        case Many(items=items):
            return _tuple([argument_source(item, names) for item in items])
        case Layer():
            return layer_source(argument)
        case tuple():
            return _tuple([argument_source(item, names) for item in argument])
    return repr(argument)


def _tuple(written: list[str]) -> str:
    return f"({written[0]},)" if len(written) == 1 else f"({', '.join(written)})"


def layer_source(layer: Layer) -> str:
    """The call that makes ``layer``."""
    args = [argument_source(each, safe) for each in layer.args]
    args += [f"{key}={argument_source(each, safe)}" for key, each in layer.keywords.items()]
    return f"{layer.kind}({', '.join(args)})"
