"""The dtypes of intermediate results of attention, however a target treats 16-bit floats."""

import re

import pytest
from tvm import relax

from tests.fixes import compiled


@pytest.mark.parametrize(
    ("dtype", "between"),
    [
        ("float16", "float32"),
        ("bfloat16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
    ],
)
def test_sixteen_bits_are_computed_in_32(fixes_on: None, dtype: str, between: str) -> None:
    shapes = (1, 2, 2, 3), (1, 4, 2, 3), (1, 4, 2, 5), (1, 2, 2, 4)
    program = compiled.module(relax.op.nn.attention_bias, *shapes, dtypes=(dtype,) * 4)
    text = str(relax.transform.LegalizeOps()(program))
    made = re.findall(r"(\w+) = T\.\w*alloc_buffer\((.*)\)$", text, re.MULTILINE)
    # A dtype that the text omits is float32.
    result = {
        name: arguments.split('"')[1] if '"' in arguments else "float32" for name, arguments in made
    }
    assert set(result) > {"scores", "largest", "weights", "total", "query_rows"}
    assert set(result.values()) == {between}
    assert f'R.Tensor((1, 2, 2, 5), dtype="{dtype}")' in text
