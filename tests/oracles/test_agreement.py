"""PyTorch, ONNX Runtime and the reference agree within the reference's bounds."""

import numpy as np
import pytest
from hypothesis import given, settings

from relaxcheck.generators.core.program import Case, Input
from relaxcheck.generators.core.values import arrays, numpy_dtype
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.oracles import programs

EXAMPLES = settings(max_examples=150, deadline=None)


def _agree(case: Case) -> None:
    values = arrays(case, 0)
    references = evaluate(case.program, values)
    for name, oracle in ORACLES.items():
        answers = oracle(case.program, values)
        assert len(answers) == len(references)
        for answer, reference in zip(answers, references, strict=True):
            assert answer.dtype == numpy_dtype(reference.dtype), name
            compared = within(answer, reference)
            assert compared.ok, (name, compared)


@EXAMPLES
@given(programs.cases(programs.conv_transposes()))
def test_transposed_convolutions(case: Case) -> None:
    _agree(case)


@EXAMPLES
@given(programs.cases(programs.attentions()))
def test_attentions(case: Case) -> None:
    _agree(case)


@EXAMPLES
@given(programs.cases(programs.var_len_attentions()))
def test_attentions_of_several_lengths(case: Case) -> None:
    _agree(case)


@EXAMPLES
@given(programs.cases(programs.chains()))
def test_chains_of_small_operators(case: Case) -> None:
    _agree(case)


@pytest.mark.parametrize("name", sorted(ORACLES))
@pytest.mark.parametrize("attribute", ["causal_mask", "window_size", "scale"])
def test_an_oracle_that_loses_an_attribute_would_be_seen(name: str, attribute: str) -> None:
    attributes: dict[str, object] = {"causal_mask": "TopLeft", "window_size": 2, "scale": 0.3}
    shapes = {"q": (2, 5, 2, 8), "k": (2, 5, 2, 8), "v": (2, 5, 2, 3)}
    inputs = [Input(each, shape, "float16") for each, shape in shapes.items()]
    whole = programs.one_node("nn.attention", inputs, **attributes)
    attributes.pop(attribute)
    lossy = programs.one_node("nn.attention", inputs, **attributes)
    values = arrays(Case("lossy", whole, regime="exact"), 0)
    (reference,) = evaluate(whole, values)
    assert not within(ORACLES[name](lossy, values)[0], reference).ok
    assert within(ORACLES[name](whole, values)[0], reference).ok


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8"])
@pytest.mark.parametrize("operator", ["nn.relu", "permute_dims"])
def test_scalars_stay_scalars(operator: str, dtype: str) -> None:
    _agree(Case("drawn", programs.one_node(operator, [Input("x", (), dtype)])))


@pytest.mark.parametrize("padding", [1, (1,), (1, 2), (1, 2, 0, 3)])
def test_attributes_left_out_or_shared_by_all_axes(padding: int | tuple[int, ...]) -> None:
    inputs = [Input("x", (1, 4, 3, 5), "float32"), Input("w", (4, 2, 3, 2), "float32")]
    for others in ({}, {"strides": 3, "output_padding": (2,), "dilation": (2,), "groups": 2}):
        program = programs.one_node("nn.conv2d_transpose", inputs, padding=padding, **others)
        _agree(Case("drawn", program))


def test_unsigned_64_bits_are_declined() -> None:
    program = programs.one_node("nn.relu", [Input("x", (2,), "uint64")])
    for oracle in ORACLES.values():
        with pytest.raises(Unsupported, match="uint64"):
            oracle(program, {"x": np.array([1, 2], np.uint64)})


def test_an_unknown_operator_is_declined() -> None:
    program = programs.one_node("nn.unheard_of", [Input("x", (2,), "float32")])
    values = {"x": np.zeros(2, np.float32)}
    for oracle in ORACLES.values():
        with pytest.raises(Unsupported, match=r"nn\.unheard_of"):
            oracle(program, values)
    with pytest.raises(Unsupported, match=r"nn\.unheard_of"):
        evaluate(program, values)
