"""Every variant of every idiom is a model that an oracle can run."""

import onnx
import pytest
from onnx import shape_inference

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.graphs.growth import OPSETS
from relaxcheck.generators.onnx.graphs.templates import IDIOMS, Idioms
from relaxcheck.generators.onnx.proto import model_proto
from relaxcheck.oracles.onnx import runtime

FAMILY = Idioms(("build",))

VARIANTS = [(name, variant) for name, each in IDIOMS.items() for variant in each.variants]


def _case(**chosen: str | int) -> OnnxCase:
    return FAMILY.build(complete(FAMILY.axes, chosen), 1)


@pytest.mark.parametrize(("idiom", "variant"), VARIANTS)
@pytest.mark.parametrize("dims", ["all", "static"])
def test_variants_are_models(idiom: str, variant: str, dims: str) -> None:
    for opset in OPSETS:
        if opset < IDIOMS[idiom].since:
            continue
        for held in ("initializer", "node"):
            case = _case(opset=opset, idiom=idiom, variant=variant, dims=dims, held=held)
            proto = model_proto(case.model, constants(case))
            _check(proto)
            for at in range(len(case.bindings)):
                assert runtime.outputs(case.model, arrays(case, at))


def _check(proto: onnx.ModelProto) -> None:
    shape_inference.infer_shapes(proto, check_type=True, strict_mode=True, data_prop=True)
    try:
        onnx.checker.check_model(proto)
    except onnx.checker.ValidationError as error:
        # Inference does not find the types of all outputs, which the checker wants.
        if "is required but missing" not in str(error):
            raise


def test_variants_differ() -> None:
    for name, idiom in IDIOMS.items():
        models = {
            str(_case(opset=max(idiom.since, 18), idiom=name, variant=variant).model)
            for variant in idiom.variants
        }
        assert len(models) == len(idiom.variants), name


def test_a_function_may_have_the_name_of_an_operator() -> None:
    model = _case(idiom="function", variant="operator-name").model
    assert model.functions[0].name == "Relu"
    assert model.nodes[0].domain == model.functions[0].domain != ""


def test_opsets_below_the_first_are_left_out() -> None:
    with pytest.raises(ValueError, match="idiom"):
        _case(opset=9, idiom="attention")
