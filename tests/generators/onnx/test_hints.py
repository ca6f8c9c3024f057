"""Every point of every hint is a model that ONNX's checker and inference take."""

import msgspec
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import shape_inference

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.values import constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.family import OnnxFamily, families
from relaxcheck.generators.onnx.proto import model_proto

FAMILIES = families(("build",))


@pytest.mark.parametrize("family", FAMILIES, ids=[family.hint.operator for family in FAMILIES])
@settings(max_examples=25)
@given(data=st.data())
def test_points_are_models(family: OnnxFamily, data: st.DataObject) -> None:
    case = data.draw(cases(family))
    assert msgspec.json.decode(msgspec.json.encode(case), type=OnnxCase) == case
    proto = model_proto(case.model, constants(case))
    shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    context = onnx.checker.DEFAULT_CONTEXT
    context.opset_imports = {each.domain: each.version for each in proto.opset_import}
    context.ir_version = proto.ir_version
    # The checker wants types of outputs, which inference does not find where values decide them.
    del proto.graph.output[:]
    onnx.checker.check_graph(proto.graph, context)
    names = {f"{node.domain}.{node.op_type}".lstrip(".") for node in proto.graph.node}
    assert family.hint.operator in names


def test_a_literal_zero_of_reshape_is_no_dimension_to_copy() -> None:
    (reshape,) = (family for family in FAMILIES if family.hint.operator == "Reshape")
    plain = {axis.name: axis.default for axis in reshape.axes}
    for form in ("like", "empty"):
        case = reshape.build({**plain, "allowzero": 1, "form": form, "rank": 3}, 0)
        (data, *_) = case.model.tensors
        own = case.shape(data.name, case.bindings[0])
        wanted = tuple(reversed(own)) if form == "like" else (0, 3)
        copied = tuple(own[at] if size == 0 else size for at, size in enumerate(wanted))
        assert 0 in wanted
        assert copied != wanted
