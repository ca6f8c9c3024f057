"""ONNX nodes for samples from distributions."""

import numpy as np

from relaxcheck.oracles.onnxruntime.call import Call, operator
from relaxcheck.oracles.onnxruntime.graph import Wire, stored_type


@operator("multinomial_from_uniform")
def _sampled(call: Call) -> Wire:
    """As many sums as are not above the sample."""
    prob, sample, rows = call.operands
    graph = call.graph
    kind = "float64" if "float64" in (prob.dtype, sample.dtype) else "float32"
    sums = graph.call("CumSum", prob.name, graph.constant(np.array(1, np.int64)))
    places = graph.reshape(rows.name, rows.shape[:1])
    chosen = graph.call("Gather", sums, places, axis=0)
    wide, number = (
        graph.call("Cast", each, to=stored_type(kind)) for each in (chosen, sample.name)
    )
    passed = graph.call("Cast", graph.call("LessOrEqual", wide, number), to=stored_type("int64"))
    count = graph.call("ReduceSum", passed, graph.integers([1]), keepdims=1)
    return graph.settle(count, sample.shape, str(call.node.attributes.get("dtype", "int64")))
