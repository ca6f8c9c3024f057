"""Values of TVM as text of one line, for messages."""

from typing import Any

import pytest
import tvm
from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse

N = tvm_api.shape_var("n")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3, "3"),
        (None, "None"),
        ("NCHW", "'NCHW'"),
        ("a\nb", r"'a\nb'"),
        ([1, (2,)], "[1, (2,)]"),
        (tvm_api.integer(3), "3"),
        (tirx.IntImm("int32", -3), "-3"),
        (tirx.IntImm("bool", 1), "True"),
        (tirx.FloatImm("float32", 0.5), "0.5"),
        (N * 2 + 1, "n * 2 + 1"),
        ([tvm_api.integer(1), N], "[1, n]"),
        (relax.ShapeExpr([N, 3]).values, "(n, 3)"),
        (relax.ShapeExpr([N]).values, "(n,)"),
        (relax.ShapeExpr([N, 3]), "R.shape([n, 3])"),
        (tvm_api.tensor_type([N, 3], "float32"), "float32 (n, 3)"),
        (tvm_api.unshaped_type(2, "int8"), "int8 of rank 2"),
        (tvm_api.unshaped_type(-1, "int8"), "int8 of unknown rank"),
    ],
)
def test_a_value_is_plain(value: Any, text: str) -> None:
    assert tvm_api.plain(value) == text
    assert str(refuse("relax.add", a=value)) == f"relax.add cannot be lowered with a={text}"
    assert str(invalid("relax.add", "why", a=value)) == f"relax.add is invalid with a={text}: why"


def test_text_of_several_lines_becomes_one_line() -> None:
    value = tvm.IRModule({})
    assert "\n" in str(value)
    assert "\n" not in tvm_api.plain(value)


def test_a_type_that_is_no_tensor_s() -> None:
    pair = relax.BlockBuilder().normalize(relax.Tuple([relax.const(1.0), relax.const(2.0)]))
    assert tvm_api.show_type(tvm_api.type_of(pair)).count("R.Tensor") == 2
