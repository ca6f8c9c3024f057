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
    try:
        onnx.checker.check_model(proto)
        onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        line = " ".join(str(error).split())
        # The checker wants types of outputs that inference does not find.
        if "'value_info' is required" not in line and "of 'type' is required" not in line:
            return line
    for index in range(len(case.bindings)):
        answer = expected(case.model, arrays(case, index))
        if isinstance(answer, Exception):
            return str(answer)
    return ""
