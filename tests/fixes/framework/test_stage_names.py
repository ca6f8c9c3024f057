"""The names in a lowered function, which programs print and schedules look up."""

import re
from typing import Any

import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import Fix
from relaxcheck.fixes.lowerings import (
    broadcasting,
    empty_tensors,
    integer_division,
)
from relaxcheck.fixes.lowerings.pooling import adaptive_pooling
from relaxcheck.fixes.lowerings.slices import symbolic_slices
from tests.fixes import compiled


def stages(make: Any, *shapes: Any, dtypes: tuple[str, ...] = ()) -> dict[str, dict[str, str]]:
    """The stages of each lowered function, with the loops around them."""
    return read(relax.transform.LegalizeOps()(compiled.module(make, *shapes, dtypes=dtypes)))


def read(module: Any) -> dict[str, dict[str, str]]:
    """The stages of each lowered function of ``module``, with the loops around them."""
    text = str(module)
    results: dict[str, dict[str, str]] = {}
    tokens = re.finditer(r'def (\w+)\(|for ([\w, ]+) in |sblock\("(\w+)"\)', text)
    loops = ""
    for token in tokens:
        function, around, stage = token.groups()
        if function:
            inside = results.setdefault(function, {})
        loops = around or loops
        if stage:
            inside[stage] = loops
        if function or stage:
            loops = ""
    return results


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
    result = stages(relax.op.nn.attention, *[shape] * 3)
    assert result == {"attention": {"root": "", **ATTENDING}, "main": {}}
    result = stages(relax.op.nn.attention_bias, *[shape] * 3, (1, 4, 3, 3))
    assert result == {"attention_bias": {"root": "", **ATTENDING}, "main": {}}


def test_attention_var_len(fixes_on: None) -> None:
    shapes = (1, "Q", 2, 4), (1, "K", 2, 4), (1, "K", 2, 3), ("N",), (), ("N",), ()
    result = stages(
        relax.op.nn.attention_var_len, *shapes, dtypes=("float32",) * 3 + ("int32",) * 4
    )
    own = {"sequence": "i, s", "first": "i", "end": "i"}
    assert result == {"attention_var_len": {"root": "", **own, **ATTENDING}, "main": {}}


def test_conv_transpose(fixes_on: None) -> None:
    result = stages(relax.op.nn.conv2d_transpose, (1, 2, 3, 4), (2, 2, 2, 2))
    loops = "i0, i1, i2, i3, c, kh, kw"
    assert result == {"conv2d_transpose": {"root": "", "conv_transpose": loops}, "main": {}}


def test_permute_dims(fixes_on: None) -> None:
    result = stages(relax.op.permute_dims, (2, 0, 3))
    assert result == {"permute_dims": {"root": "", "T_full": "ax0, ax1, ax2"}, "main": {}}


OP = relax.op
OF_SYMBOLS: list[tuple[Fix, Any, tuple[Any, ...], str, str, dict[str, str]]] = [
    (
        adaptive_pooling.FIX,
        lambda x: OP.nn.adaptive_avg_pool2d(x, (3, 1)),
        (("B", 4, "M", "M"),),
        "float32",
        "adaptive_avg_pool2d",
        {
            "window_sum_l1": "i0, i1, i2, i3",
            "window_sum": "step",
            "window_sum_1": "i0, i1, i2, i3, step",
            "adaptive_pool_avg": "i0, i1, i2, i3",
        },
    ),
    (
        broadcasting.FIX,
        lambda x: OP.broadcast_to(x, (3,)),
        (("N",),),
        "float32",
        "broadcast_to",
        {"broadcast_to": "i0"},
    ),
    (
        integer_division.FIX,
        OP.floor_divide,
        (("M", 1), ("N",)),
        "int32",
        "floor_divide",
        {"quotient": "i0, i1"},
    ),
    (
        symbolic_slices.FIX,
        lambda x: OP.strided_slice(x, [0], [0], [tvm_api.shape_of(x)[0] - 1]),
        (("M",),),
        "float32",
        "strided_slice",
        {"sliced": "i0"},
    ),
    (
        empty_tensors.FIX,
        lambda x: OP.split(x, 2, 0),
        ((0, 3),),
        "int32",
        "split",
        {"T_full": "ax0, ax1", "T_full_1": "ax0, ax1"},
    ),
    (
        empty_tensors.FIX,
        lambda x: OP.nn.pad(x, (0, 0, 0, 0), "circular"),
        ((2, 0),),
        "float32",
        "pad",
        {"T_full": "ax0, ax1"},
    ),
]


@pytest.mark.parametrize(
    ("fix", "make", "shapes", "dtype", "name", "inside"),
    OF_SYMBOLS,
    ids=[name for *_, name, _ in OF_SYMBOLS],
)
def test_stages_that_each_fix_makes(
    fix: Fix, make: Any, shapes: Any, dtype: str, name: str, inside: dict[str, str]
) -> None:
    """Each on its own, on releases that need it and on others."""
    module = compiled.module(make, *shapes, dtypes=(dtype,) * len(shapes))
    result = read(compiled.lowered_by(fix, module))
    assert result == {name: {"root": "", **inside}, "main": {}}
