"""The names in a lowered function: what a program prints, and by which schedules find a stage."""

import re
from typing import Any

import pytest
from tvm import relax

from tests.fixes import compiled


def stages(make: Any, *shapes: Any, dtypes: tuple[str, ...] = ()) -> dict[str, dict[str, str]]:
    """For each lowered function its stages, and the loops around each."""
    text = str(relax.transform.LegalizeOps()(compiled.module(make, *shapes, dtypes=dtypes)))
    found: dict[str, dict[str, str]] = {}
    tokens = re.finditer(r'def (\w+)\(|for ([\w, ]+) in |sblock\("(\w+)"\)', text)
    loops = ""
    for token in tokens:
        function, around, stage = token.groups()
        if function:
            inside = found.setdefault(function, {})
        loops = around or loops
        if stage:
            inside[stage] = loops
        if function or stage:
            loops = ""
    return found


ATTENDING = {
    "query_rows": "row, i, d",
    "key_rows": "row, i, d",
    "T_batch_matmul_NT": "b, i, j, k",
    "scores": "row, i, j",
    "largest": "row, i, j",
    "weights": "row, i, j",
    "total": "row, i, k",
    "value_rows": "row, i, d",
    "T_batch_matmul_NN": "b, i, j, k",
    "attention": "b, i, h, d",
}


@pytest.mark.parametrize("batch", [2, "B"])
def test_attention(fixes_on: None, batch: Any) -> None:
    shape = (batch, 3, 4, 5)
    found = stages(relax.op.nn.attention, *[shape] * 3)
    assert found == {"attention": {"root": "", **ATTENDING}, "main": {}}
    found = stages(relax.op.nn.attention_bias, *[shape] * 3, (1, 4, 3, 3))
    assert found == {"attention_bias": {"root": "", **ATTENDING}, "main": {}}


def test_attention_var_len(fixes_on: None) -> None:
    shapes = (1, "Q", 2, 4), (1, "K", 2, 4), (1, "K", 2, 3), ("N",), (), ("N",), ()
    found = stages(relax.op.nn.attention_var_len, *shapes, dtypes=("float32",) * 3 + ("int32",) * 4)
    own = {"sequence": "i, s", "first": "i", "end": "i"}
    assert found == {"attention_var_len": {"root": "", **own, **ATTENDING}, "main": {}}


def test_conv_transpose(fixes_on: None) -> None:
    found = stages(relax.op.nn.conv2d_transpose, (1, 2, 3, 4), (2, 2, 2, 2))
    loops = "i0, i1, i2, i3, c, kh, kw"
    assert found == {"conv2d_transpose": {"root": "", "conv_transpose": loops}, "main": {}}


def test_permute_dims(fixes_on: None) -> None:
    found = stages(relax.op.permute_dims, (2, 0, 3))
    assert found == {"permute_dims": {"root": "", "T_full": "ax0, ax1, ax2"}, "main": {}}
