"""The reference: every operator evaluated beyond float64, with an error bound per element."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from relaxcheck.extensions import entry_points
from relaxcheck.generators.core.program import GRADIENT, Node, Program
from relaxcheck.oracles.answer import Array, Bounded, Unsupported
from relaxcheck.oracles.limitations import Operand, check
from relaxcheck.oracles.reference.accuracy import TARGETS
from relaxcheck.oracles.reference.estimate import Estimate, exact, finished
from relaxcheck.oracles.reference.evaluation import OPERATORS as OPERATORS
from relaxcheck.oracles.reference.evaluation import Numerics as Numerics
from relaxcheck.oracles.reference.evaluation import operator
from relaxcheck.oracles.reference.gradients.backward import gradient
from relaxcheck.oracles.registry import discover, extend

discover("relaxcheck.oracles.reference.operators")
extend(entry_points.REFERENCE, operator, OPERATORS)


def evaluate(
    program: Program,
    arrays: Mapping[str, Array],
    numerics: Numerics = Numerics.OWN,
    target: str = "",
) -> tuple[Bounded, ...]:
    """The outputs of ``program`` for the input ``arrays``, each with its bound on ``target``.

    Without one they are those of a CPU, by the C library.

    Raises:
        Unsupported: an operator has no reference.
        ValueError: the program is not valid.
    """
    accuracy = TARGETS.get(target)
    values: dict[str, Estimate] = {}
    for source in program.inputs:
        estimate = exact(arrays[source.name], source.dtype)
        values[source.name] = replace(estimate, half=True) if source.constant else estimate
    # The reference's own overflows and invalid operations are results: infinities, unconstrained.
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        for node in program.nodes:
            result = (
                gradient(node, program.nodes, values)
                if node.operator == GRADIENT
                else _result(node, arrays, values, numerics)
            )
            values[node.name] = accuracy.widened(node.operator, result) if accuracy else result
        return tuple(finished(values[name]) for name in program.outputs)


def _result(
    node: Node,
    arrays: Mapping[str, Array],
    values: Mapping[str, Estimate],
    numerics: Numerics,
) -> Estimate:
    """The result of ``node``, whose operands are among ``values``."""
    operands = [values[name] for name in node.arguments]
    check(
        "reference",
        node,
        (
            Operand(each.value.shape, each.dtype, name not in arrays)
            for name, each in zip(node.arguments, operands, strict=True)
        ),
    )
    if node.operator not in OPERATORS:
        raise Unsupported(f"reference: no operator {node.operator}")
    return OPERATORS[node.operator](node, operands, numerics)
