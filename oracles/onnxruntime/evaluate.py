"""The ONNX Runtime oracle: the whole program as one ONNX model at concrete shapes.

Layouts, masks, output sizes and the meaning of omitted attributes are derived here and in the
modules beside, from nothing that another oracle or the reference uses.
"""

from collections.abc import Mapping

from relaxcheck.extensions import entry_points
from relaxcheck.generators.core.program import Program
from relaxcheck.oracles.answer import Array, Unsupported
from relaxcheck.oracles.limitations import ANY, Operand, check, check_input, dtype
from relaxcheck.oracles.onnxruntime.call import OPERATORS, Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Graph, Wire
from relaxcheck.oracles.registry import discover, extend

discover("relaxcheck.oracles.onnxruntime.operators")
extend(entry_points.ONNXRUNTIME, operator, OPERATORS)

limit(ANY, dtype("uint64"), "uint64 does not fit int64")


def evaluate(program: Program, arrays: Mapping[str, Array]) -> tuple[Array, ...]:
    """The outputs of ``program`` for the input ``arrays``, in its output dtypes.

    Raises:
        Unsupported: ONNX Runtime cannot evaluate an operator, dtype or shape of the program.

    The program must be valid; the reference refuses one that is not.
    """
    graph = Graph()
    wires: dict[str, Wire] = {}
    for source in program.inputs:
        array = arrays[source.name]
        check_input("onnxruntime", array.shape, source.dtype)
        wires[source.name] = graph.input(source.name, array, source.dtype)
    for node in program.nodes:
        operands = tuple(wires[name] for name in node.arguments)
        check(
            "onnxruntime",
            node,
            (
                Operand(each.shape, each.dtype, name not in arrays)
                for name, each in zip(node.arguments, operands, strict=True)
            ),
        )
        if node.operator not in OPERATORS:
            raise Unsupported(f"onnxruntime: no operator {node.operator}")
        wires[node.name] = OPERATORS[node.operator](Call(graph, node, operands, arrays))
    return graph.run([wires[name] for name in program.outputs])
