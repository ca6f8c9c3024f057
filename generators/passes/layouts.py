"""The layouts that ConvertLayout is asked for."""

from relaxcheck.generators.core.program import Program
from relaxcheck.generators.operators import OPERATORS


def desired_layouts(program: Program) -> dict[str, list[str]]:
    """For ConvertLayout: the layouts wanted of each operator of ``program`` that has layouts."""
    used = {node.operator for node in program.nodes}
    return {
        f"relax.{name}": list(record.layouts)
        for name, record in OPERATORS.items()
        if name in used and record.layouts
    }
