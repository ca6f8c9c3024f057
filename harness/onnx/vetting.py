"""Vetting a model before TVM sees it: ONNX's checker, its inference, and an oracle that runs it."""

import onnx

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.onnx.asking import expected
from relaxcheck.harness.outcomes.outcome import Reference


def validate(case: OnnxCase, progress: Progress) -> tuple[Reference, str]:
    """The judgement on ``case``, and how it contradicts the case ("" if it does not)."""
    progress("oracle")
    refused = _refused(case)
    if isinstance(case.expect, Invalid):
        return Reference(refused), "" if refused else "the model is valid"
    return Reference(refused), f"the model is invalid: {refused}" if refused else ""


def _refused(case: OnnxCase) -> str:
    """The reason why ``case`` is invalid; "" if it is not."""
    proto = model_proto(case.model, constants(case))
    for check in (_check_model, _check_nodes, _infer):
        try:
            check(proto)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
            line = " ".join(str(error).split())
            if not any(each in line for each in _UNTYPED):
                return line
    for index in range(len(case.bindings)):
        answer = expected(case.model, arrays(case, index))
        if isinstance(answer, Exception):
            return str(answer)
    return ""


_UNTYPED = ("'value_info' is required", "of 'type' is required")
"""Complaints of the checker about outputs of valid models whose types inference does not find."""


def _check_model(proto: onnx.ModelProto) -> None:
    onnx.checker.check_model(proto)


def _check_nodes(proto: onnx.ModelProto) -> None:
    """Check the graph without its outputs: the checker of models stops at the first complaint."""
    context = onnx.checker.C.CheckerContext()
    context.ir_version = proto.ir_version
    context.opset_imports = {each.domain: each.version for each in proto.opset_import}
    graph = onnx.GraphProto()
    graph.CopyFrom(proto.graph)
    del graph.output[:]
    onnx.checker.check_graph(graph, context)


def _infer(proto: onnx.ModelProto) -> None:
    onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
