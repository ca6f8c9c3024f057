"""Programs that return gradients: the part that Relax computes forward, and what it differentiates.

A node of the operator ``GRADIENT`` is the gradient of a scalar, the *target*, in a run-time input.
``relax.transform.Gradient`` makes the function ``main_adjoint`` of the function ``main`` that
returns the target. It returns the target and a tuple of the gradients.
"""

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.program import GRADIENT, Node, Program


def gradients(program: Program) -> tuple[Node, ...]:
    """The nodes of ``program`` that are gradients."""
    return tuple(node for node in program.nodes if node.operator == GRADIENT)


def forward(program: Program) -> Program:
    """``program`` without gradients, so that it returns their target; else itself."""
    made = gradients(program)
    if not made:
        return program
    nodes = tuple(node for node in program.nodes if node.operator != GRADIENT)
    return msgspec.structs.replace(program, nodes=nodes, outputs=(made[0].arguments[0],))


def places(program: Program) -> tuple[int, ...]:
    """The position of each output among the results of ``main_adjoint``: 0 is the target.

    Raises:
        CaseError: an output is neither the target nor a gradient.
    """
    names = (gradients(program)[0].arguments[0], *(node.name for node in gradients(program)))
    if others := set(program.outputs) - set(names):
        raise CaseError(f"output {min(others)} is neither a gradient nor what they are of")
    return tuple(names.index(name) for name in program.outputs)
