"""A program as TVMScript, for a person to read: no TVM is asked for it."""

from collections.abc import Sequence

from generators import dims
from generators.dims import Dim
from generators.program import Attribute, Case, Input, Node, Program, ShapeValue
from oracles.pytorch_source import telling
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
    for node in program.nodes:
        lines += fitted(f"{node.name} = {_call(node)}", 8)
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
    shape = f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"
    return f"R.Tensor({shape}, {string_text(given.dtype)})"


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


def _call(node: Node) -> str:
    attributes = [f"{name}={_attribute(value)}" for name, value in telling(node).items()]
    return f"R.{node.operator}({', '.join([*node.arguments, *attributes])})"


def _attribute(value: Attribute) -> str:
    if isinstance(value, ShapeValue):
        return f"R.shape([{', '.join(map(str, value.dims))}])"
    return attribute_text(value)
