"""``nn.pixel_shuffle``: the three agree to the last bit, and at elements worked out here."""

from itertools import product

import numpy as np
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.oracles.reference.operators import pixel_shuffle
from tests.oracles.agreeing import agree, program_of, wrong_is_seen
from tests.oracles.declared import declared_in

FLOATS = ("float16", "bfloat16", "float32", "float64")
DTYPES = (*FLOATS, "int8", "uint8", "int32", "int64", "bool")
CALLS = (
    *(((2, 12, 4, 5), 2), ((12, 4, 5), 2), ((3, 2, 12, 4, 5), 2)),
    *(((2, 27, 1, 2), 3), ((1, 16, 2, 3), 4), ((2, 3, 4, 5), 1)),
    *(((0, 4, 2, 3), 2), ((1, 0, 2, 3), 2), ((1, 4, 0, 3), 2), ((1, 4, 2, 0), 2)),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("shape", "factor"), CALLS)
def test_all_agree(dtype: str, shape: tuple[int, ...], factor: int) -> None:
    program = program_of("nn.pixel_shuffle", [shape], dtype, upscale_factor=factor)
    for regime in ("normal", "special") if dtype in FLOATS else ("normal",):
        reference = agree(program, regime)
        assert not reference.bound.any()
        if regime == "normal" and dtype != "bool":
            wrong_is_seen(reference)


def test_rows_come_before_columns_and_channels_of_the_result_before_both() -> None:
    numbers = Literal(tuple(range(8)))
    program = program_of("nn.pixel_shuffle", [(8, 1, 1)], "int32", [numbers], upscale_factor=2)
    assert agree(program).value.tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


def test_each_element_is_where_the_formula_says() -> None:
    program = program_of("nn.pixel_shuffle", [(1, 18, 2, 3)], "float32", upscale_factor=3)
    data = np.arange(108, dtype=np.float32).reshape(1, 18, 2, 3)
    (result,) = evaluate(program, {"x0": data})
    assert result.value.shape == (1, 2, 6, 9)
    for c, h, w in product(range(2), range(6), range(9)):
        source = data[0, (c * 3 + h % 3) * 3 + w % 3, h // 3, w // 3]
        assert result.value[0, c, h, w] == source


@pytest.mark.parametrize(
    ("shape", "factor", "why"),
    [
        ((1, 6, 2, 2), 2, "does not divide 6 channels"),
        ((4, 2), 2, "rank 2 has no channels"),
        ((1, 4, 2, 2), 0, "upscale_factor 0"),
        ((1, 4, 2, 2), -2, "upscale_factor -2"),
    ],
)
def test_an_invalid_call_is_refused(shape: tuple[int, ...], factor: int, why: str) -> None:
    program = program_of("nn.pixel_shuffle", [shape], upscale_factor=factor)
    with pytest.raises(ValueError, match=why):
        evaluate(program, {"x0": np.zeros(shape, np.float32)})


def test_the_module_holds_this_operator_alone() -> None:
    assert declared_in(pixel_shuffle) == {"nn.pixel_shuffle"}
