"""Faults of the outside oracles: calls whose answer by one of them is left out.

Each is data: the oracle, the operators, the condition, and the evidence. A test has the smallest
example of each, and fails for one that is no longer there.
"""

from collections.abc import Mapping
from typing import cast

from relaxcheck.generators.onnx.model import Model
from relaxcheck.generators.onnx.schemas import schema
from relaxcheck.generators.onnx.walk import nodes_of
from relaxcheck.oracles.onnx.faults import evaluator, runtime
from relaxcheck.oracles.onnx.faults.fault import Fault, Seen
from relaxcheck.oracles.reference.estimate import Estimate

FAULTS: tuple[Fault, ...] = (*evaluator.FAULTS, *runtime.FAULTS)
"""All faults."""


def fault(oracle: str, model: Model, values: Mapping[str, object]) -> str:
    """The evidence of a fault of ``oracle`` that ``model`` meets; "" if there is none.

    ``values`` are those of the model's tensors, by name, as far as the reference knows them.
    """
    declared = _BY_OPERATOR.get(oracle, {})
    for node in nodes_of(model):
        for each in declared.get(node.operator, ()) if not node.domain else ():
            known = tuple(
                cast(Estimate, values[name]) if isinstance(values.get(name), Estimate) else None
                for name in node.inputs
            )
            version = schema(node.operator, model.opset)
            if version is not None and each.holds(Seen(node, version, known)):
                return f"{node.operator}: {each.evidence}"
    return ""


def _by_operator() -> dict[str, dict[str, list[Fault]]]:
    found: dict[str, dict[str, list[Fault]]] = {}
    for each in FAULTS:
        for operator in each.operators:
            found.setdefault(each.oracle, {}).setdefault(operator, []).append(each)
    return found


_BY_OPERATOR = _by_operator()
