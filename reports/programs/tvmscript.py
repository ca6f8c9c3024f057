"""A program as TVMScript, for a person to read: no TVM is asked for it."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from relaxcheck.generators.calls import (
    Block,
    attributes_of_type,
    blocks,
    form,
    has_effect,
    is_one_block,
    is_pure,
    telling,
)
from relaxcheck.generators.core import dims
from relaxcheck.generators.core.attributes import index_map_of
from relaxcheck.generators.core.contexts import context_of, text_of
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.gradients import forward, gradients
from relaxcheck.generators.core.program import (
    CALL,
    ITEM,
    Attribute,
    Case,
    Input,
    Node,
    Program,
    ShapeValue,
)
from relaxcheck.generators.core.structure import AT, BRANCH, ELEMENT, TUPLE
from relaxcheck.reports.programs.program_text import operand_texts
from relaxcheck.reports.programs.python.source import attribute_text, fitted, string_text


def tvmscript(program: Program) -> str:
    """``program`` as a Relax function in TVMScript; TVM's parser reads it (``R``, ``T``).

    Constants stand among the parameters, with a remark. Attributes at TVM's default are left out.
    """
    made, program = gradients(program), forward(program)
    variables = ", ".join(node.arguments[1] for node in made)
    lines = [f"# To differentiate by relax.transform.Gradient in {variables}."] * bool(made)
    pure = is_pure(program)
    lines += ["@R.function" if pure else "@R.function(pure=False)", "def main("]
    for tensor in program.inputs:
        remark = "  # constant" if tensor.constant else ""
        lines.append(f"    {tensor.name}: {_tensor(tensor)},{remark}")
    lines.append("):")
    lines += [f"    {name} = T.int64()" for name in _needed(program)]
    whole = [Block(True, program.nodes, tuple(dict.fromkeys(program.outputs)))]
    for is_dataflow, nodes, kept in whole if is_one_block(program) else blocks(program):
        tuples: dict[str, str] = {}
        lines += ["    with R.dataflow():"] if is_dataflow else []
        for node in nodes:
            for line in _bound(node, tuples):
                lines += fitted(line, 8 if is_dataflow else 4)
        lines += [f"        R.output({', '.join(kept)})"] if is_dataflow else []
    returned = ", ".join(program.outputs)
    lines.append(f"    return {returned if len(program.outputs) == 1 else f'({returned})'}")
    return "\n".join(lines)


def conditions(case: Case) -> tuple[tuple[str, str], ...]:
    """The settings that the program is compiled and run with, by name."""
    bound = "; ".join(
        ", ".join(f"{k} = {v}" for k, v in binding.items()) for binding in case.bindings if binding
    )
    rows = (
        ("target", "" if case.target is UNSET else str(case.target)),
        ("pipeline", case.pipeline),
        ("context", text_of(context_of(case))),
        ("mode", case.exec_mode),
        ("LLVM level", str(case.opt_level)),
        ("inputs", ", ".join((case.regime, *case.also))),
        ("seed", str(case.seed)),
        ("fixes", "on" if case.fixes else "off"),
        ("bindings", bound),
    )
    return tuple(row for row in rows if row[1])


def _tensor(tensor: Input) -> str:
    parts = [string_text(dim) if isinstance(dim, str) else str(dim) for dim in tensor.shape]
    return f"R.Tensor({_tuple(parts)}, {string_text(tensor.dtype)})"


def _needed(program: Program) -> list[str]:
    """The symbols that stand in attributes, outside of strings."""
    used: set[str] = set()
    for node in program.nodes:
        for value in node.attributes.values():
            if isinstance(value, ShapeValue):
                used |= _symbols(value.dims)
    return sorted(used)


def _symbols(shape: Sequence[Dim]) -> set[str]:
    return {name for dim in shape for name in dims.symbols(dim)}


def _bound(node: Node, tuples: dict[str, str]) -> list[str]:
    """The lines that bind ``node``; ``tuples`` are the variables of calls that gave tuples."""
    if node.operator == BRANCH:
        return _conditional(node)
    text = _call(node)
    if has_effect(node.operator):
        return [text, f"{node.name} = {node.arguments[-1]}"]
    if ITEM not in node.attributes:
        return [f"{node.name} = {text}"]
    lines = []
    if text not in tuples:
        tuples[text] = f"{node.name}_all"
        lines.append(f"{tuples[text]} = {text}")
    return [*lines, f"{node.name} = {tuples[text]}[{node.attributes[ITEM]}]"]


def _conditional(node: Node) -> list[str]:
    """The lines of a conditional, whose branches are written as calls."""
    operands, item = ", ".join(node.arguments[1:]), node.attributes.get(ITEM)
    taken = "" if item is None else f"[{item}]"
    function, otherwise = (
        f"    {node.name} = {node.attributes[name]}({operands}){taken}"
        for name in ("function", "otherwise")
    )
    return [f"if {node.arguments[0]}:", function, "else:", otherwise]


def _call(node: Node) -> str:
    if node.operator == TUPLE:
        return _tuple(node.arguments)
    if node.operator == ELEMENT:
        return f"{node.arguments[0]}[{node.attributes[AT]}]"
    if form(node.operator) == "cast":
        shape = node.attributes["shape"]
        dims = shape.dims if isinstance(shape, ShapeValue) else shape
        assert isinstance(dims, tuple)
        to = f"R.Tensor({_tuple(map(str, dims))}, {string_text(str(node.attributes['dtype']))})"
        return f"R.match_cast({node.arguments[0]}, {to})"
    if node.operator == CALL:
        return f"{node.attributes['function']}({', '.join(node.arguments)})"
    if form(node.operator) == "bare":
        numbers = (f"R.prim_value({value})" for value in node.attributes.values())
        operator = f"tvm.ir.Op.get({string_text(f'relax.{node.operator}')})"
        return f"relax.Call({operator}, [{', '.join([*node.arguments, *numbers])}])"
    operands = operand_texts(node, node.arguments)
    named = {name: value for name, value in telling(node).items() if name != ITEM}
    listed = attributes_of_type(node.operator, "expressions")
    texts = {name: _attribute(value, name in listed) for name, value in named.items()}
    for name in attributes_of_type(node.operator, "extent"):
        extent = named.get(name)
        dims = extent.dims if isinstance(extent, ShapeValue) else extent
        if isinstance(dims, tuple):
            texts[name] = str(dims[0])
    for name in attributes_of_type(node.operator, "constant"):
        texts[name] = f"R.const({texts[name]}, {string_text(str(node.attributes['dtype']))})"
    for name in attributes_of_type(node.operator, "index_map"):
        texts[name] = index_map_of(str(named[name])).source
    attributes = [f"{name}={text}" for name, text in texts.items()]
    return f"R.{node.operator}({', '.join([*operands, *attributes])})"


def _attribute(value: Attribute, listed: bool) -> str:
    if isinstance(value, ShapeValue):
        text = f"[{', '.join(map(str, value.dims))}]"
        return text if listed else f"R.shape({text})"
    return attribute_text(value)


def _tuple(parts: Iterable[str]) -> str:
    items = list(parts)
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
