"""A program as TVMScript, for a person to read: no TVM is asked for it."""

from collections.abc import Iterable, Sequence

from generators import dims
from generators.dims import Dim
from generators.program import CALL, ITEM, Attribute, Case, Input, Node, Program, ShapeValue
from oracles.pytorch_source import telling
from reports.program_text import INDICES, LISTED
from reports.python_source import attribute_text, fitted, string_text


def tvmscript(program: Program) -> str:
    """``program`` as a Relax function in TVMScript; TVM's parser reads it (``R``, ``T``).

    Constants stand among the parameters, with a remark. Attributes at TVM's default are left out.
    """
    lines = ["@R.function", "def main("]
    for given in program.inputs:
        remark = "  # constant" if given.constant else ""
        lines.append(f"    {given.name}: {_tensor(given)},{remark}")
    lines.append("):")
    lines += [f"    {name} = T.int64()" for name in _needed(program)]
    lines.append("    with R.dataflow():")
    tuples: dict[str, str] = {}
    for node in program.nodes:
        for line in _bound(node, tuples):
            lines += fitted(line, 8)
    lines.append(f"        R.output({', '.join(dict.fromkeys(program.outputs))})")
    returned = ", ".join(program.outputs)
    lines.append(f"    return {returned if len(program.outputs) == 1 else f'({returned})'}")
    return "\n".join(lines)


def conditions(case: Case) -> tuple[tuple[str, str], ...]:
    """What the program is compiled and run with: what it is called, and its value."""
    bound = "; ".join(
        ", ".join(f"{k} = {v}" for k, v in binding.items()) for binding in case.bindings if binding
    )
    rows = (
        ("pipeline", case.pipeline),
        ("mode", case.exec_mode),
        ("LLVM level", str(case.opt_level)),
        ("inputs", ", ".join((case.regime, *case.also))),
        ("seed", str(case.seed)),
        ("fixes", "on" if case.fixes else "off"),
        ("bindings", bound),
    )
    return tuple(row for row in rows if row[1])


def _tensor(given: Input) -> str:
    parts = [string_text(dim) if isinstance(dim, str) else str(dim) for dim in given.shape]
    return f"R.Tensor({_tuple(parts)}, {string_text(given.dtype)})"


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
    text = _call(node)
    if ITEM not in node.attributes:
        return [f"{node.name} = {text}"]
    lines = []
    if text not in tuples:
        tuples[text] = f"{node.name}_all"
        lines.append(f"{tuples[text]} = {text}")
    return [*lines, f"{node.name} = {tuples[text]}[{node.attributes[ITEM]}]"]


def _call(node: Node) -> str:
    if node.operator == "match_cast":
        shape = node.attributes["shape"]
        dims = shape.dims if isinstance(shape, ShapeValue) else shape
        assert isinstance(dims, tuple)
        to = f"R.Tensor({_tuple(map(str, dims))}, {string_text(str(node.attributes['dtype']))})"
        return f"R.match_cast({node.arguments[0]}, {to})"
    if node.operator == CALL:
        return f"{node.attributes['function']}({', '.join(node.arguments)})"
    operands = [f"[{', '.join(node.arguments)}]"] if node.operator in LISTED else node.arguments
    given = {name: value for name, value in telling(node).items() if name != ITEM}
    indices = INDICES.get(node.operator, ())
    texts = {name: _attribute(value, name in indices) for name, value in given.items()}
    if node.operator == "full":
        dtype = string_text(str(node.attributes["dtype"]))
        texts["fill_value"] = f"R.const({texts['fill_value']}, {dtype})"
    attributes = [f"{name}={text}" for name, text in texts.items()]
    return f"R.{node.operator}({', '.join([*operands, *attributes])})"


def _attribute(value: Attribute, listed: bool) -> str:
    if isinstance(value, ShapeValue):
        text = f"[{', '.join(map(str, value.dims))}]"
        return text if listed else f"R.shape({text})"
    return attribute_text(value)


def _tuple(parts: Iterable[str]) -> str:
    given = list(parts)
    return f"({given[0]},)" if len(given) == 1 else f"({', '.join(given)})"
