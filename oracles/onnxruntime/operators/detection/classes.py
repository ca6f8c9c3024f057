"""ONNX nodes for boxes that stay, for each class of its own."""

from relaxcheck.generators.core.program import ITEM
from relaxcheck.oracles.limitations import attribute, dtype
from relaxcheck.oracles.onnxruntime.call import Call, limit, operator
from relaxcheck.oracles.onnxruntime.graph import Wire

_NAME = "vision.all_class_non_max_suppression"


@operator(_NAME)
def _suppressed(call: Call) -> Wire:
    """The number of rows is known once it has run: the wire has the most."""
    boxes, scores, *limits = call.operands
    graph = call.graph
    batch, classes, count = scores.shape
    # A vector of one number is what the operator's definition has.
    vectors = [graph.reshape(each.name, (1,)) for each in limits]
    rows = graph.call("NonMaxSuppression", boxes.name, scores.name, *vectors)
    if call.node.attributes[ITEM] == 0:
        return Wire(rows, (batch * classes * count, 3), "int64")
    return Wire(graph.call("Shape", rows, start=0, end=1), (1,), "int64")


limit(_NAME, dtype("float64"), "NonMaxSuppression takes float boxes and scores only")
limit(
    _NAME,
    attribute("output_format", "tensorflow"),
    "NonMaxSuppression has no results for each batch",
)
