"""A case for a person to read, whatever kind it is of."""

from generators.cases import AnyCase
from generators.expression_cases import ANALYZED, Member
from generators.program import Attribute, Case, Program, ShapeValue


def case_text(case: AnyCase) -> str:
    """What ``case`` is about, one line each, and in the last line how it is run."""
    if isinstance(case, Case):
        return program_text(case.program) + "\n" + _conditions(case)
    if isinstance(case, Member):
        return "\n".join((*variable_lines(case), str(case.subject.expression), f"# {_where(case)}"))
    last = case.first + case.count - 1
    return f"expressions {case.first} to {last} of seed {case.seed}\n# position {case.position}"


def program_text(program: Program) -> str:
    """The program for a person to read, one line an input and node."""
    told = {"shape": "told as a shape", "scalars": "told as scalars", "": ""}[program.told]
    lines = [f"{', '.join(program.symbols)}: {told}"] * bool(program.told and program.symbols)
    lines += [
        f"{one.name}: {one.dtype}[{', '.join(map(str, one.shape))}]"
        + (" constant" if one.constant else "")
        for one in program.inputs
    ]
    for node in program.nodes:
        attributes = "".join(f", {k}={_value(v)}" for k, v in node.attributes.items())
        lines.append(f"{node.name} = {node.operator}({', '.join(node.arguments)}{attributes})")
    return "\n".join([*lines, f"return {', '.join(program.outputs)}"])


def variable_lines(case: Member) -> tuple[str, ...]:
    """A line for each variable: its dtype and the values that it takes."""
    return tuple(
        f"{one.name}: {one.dtype}, {one.low} to {one.high}" for one in case.subject.variables
    )


def _value(value: Attribute) -> str:
    return f"({', '.join(map(str, value.dims))})" if isinstance(value, ShapeValue) else repr(value)


def _conditions(case: Case) -> str:
    bindings = "; ".join(
        ", ".join(f"{k}={v}" for k, v in binding.items()) for binding in case.bindings if binding
    )
    run = f"pipeline {case.pipeline}, {case.exec_mode}, LLVM level {case.opt_level}"
    return f"# {run}" + (f"; bindings {bindings}" if bindings else "")


def _where(case: Member) -> str:
    compiled = case.position != ANALYZED
    return f"position {case.position}" + (f", LLVM level {case.opt_level}" if compiled else "")
