"""Attention over several sequences with the fix agrees with each sequence on its own."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from tests.fixes import compiled, reference
from tests.fixes import whole_programs as whole

DTYPES = ("float64",) * 3 + ("int32",) * 4
SHAPES = ((1, "Q", 4, 3), (1, "K", 2, 3), (1, "K", 2, 5), ("n",), (), ("n",), ())


def build(*shapes: Any, **kw: Any) -> Any:
    with fixes.install():
        return compiled.build(
            compiled.module(
                lambda *tensors: relax.op.nn.attention_var_len(*tensors, **kw),
                *shapes,
                dtypes=DTYPES,
            )
        )


def run(function: Any, q_total: int, k_total: int, starts: Any, key_starts: Any) -> Any:
    tensors = [
        compiled.sample((1, total, heads, dim), "float64", seed)
        for seed, (total, heads, dim) in enumerate(
            [(q_total, 4, 3), (k_total, 2, 3), (k_total, 2, 5)]
        )
    ]
    longest = [np.array(max(np.diff(each)), "int32") for each in (starts, key_starts)]
    offsets = [np.array(each, "int32") for each in (starts, key_starts)]
    return tensors, function(*tensors, offsets[0], longest[0], offsets[1], longest[1])


MASKS: list[dict[str, Any]] = [
    {},
    {"scale": 0.5},
    {"causal_mask": "TopLeft"},
    {"causal_mask": "BottomRight"},
    {"window_size": 2},
    {"causal_mask": "BottomRight", "window_size": 1},
]


@pytest.mark.parametrize("kw", MASKS, ids=str)
def test_each_sequence_sees_itself_alone(kw: dict[str, Any]) -> None:
    function = build(*SHAPES, **kw)
    for starts, key_starts in (
        ([0, 2, 5, 9], [0, 4, 5, 8]),
        ([0, 9], [0, 8]),
        ([0, 0, 9], [0, 3, 8]),
        ([0, 4, 9], [0, 8, 8]),
        ([0, 3, 3, 3, 9], [0, 1, 2, 2, 8]),
    ):
        tensors, out = run(function, 9, 8, starts, key_starts)
        want = reference.attention_var_len(*tensors, starts, key_starts, **kw)
        np.testing.assert_allclose(out, want, rtol=0, atol=1e-13)


def test_positions_after_the_last_sequence_give_zeros() -> None:
    tensors, out = run(build(*SHAPES), 9, 8, [0, 2, 5], [0, 4, 6])
    want = reference.attention_var_len(*tensors, [0, 2, 5], [0, 4, 6])
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-13)
    assert (out[:, 5:] == 0).all()


def test_static_shapes() -> None:
    shapes = ((1, 5, 4, 3), (1, 4, 2, 3), (1, 4, 2, 5), (3,), (), (3,), ())
    tensors, out = run(build(*shapes), 5, 4, [0, 2, 5], [0, 1, 4])
    want = reference.attention_var_len(*tensors, [0, 2, 5], [0, 1, 4])
    np.testing.assert_allclose(out, want, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            ((2, 5, 4, 3), (2, 4, 2, 3), (2, 4, 2, 5), (3,), (), (3,), ()),
            "query.*batch size is 2, not 1",
        ),
        (((1, 5, 4, 3), (1, 4, 2, 3), (1, 4, 2, 5), (3,), (), (4,), ()), "seqstart_q=.*seqstart_k"),
        (
            ((1, 5, 4, 3), (1, 4, 2, 3), (1, 4, 2, 5), (3, 1), (), (3, 1), ()),
            "seqstart_q=.*its rank is not 1",
        ),
    ],
)
@pytest.mark.parametrize("when", ["made", "lowered"])
def test_invalid_tensors_are_named(shapes: Any, message: str, when: str) -> None:
    with pytest.raises(ValueError, match=f"attention_var_len is invalid with {message}"):
        compiled.refused_when(
            when, lambda *tensors: relax.op.nn.attention_var_len(*tensors), *shapes, dtypes=DTYPES
        )


@pytest.mark.parametrize("when", ["made", "lowered"])
@pytest.mark.parametrize("float_at", [3, 5])
def test_offsets_that_are_no_integers_are_named(float_at: int, when: str) -> None:
    shapes = ((1, 5, 2, 4),) * 3 + ((3,), (), (3,), ())
    dtypes = tuple("float32" if at < 3 or at == float_at else "int32" for at in range(7))
    with pytest.raises(
        ValueError,
        match=r"attention_var_len is invalid with dtype='float32': offsets \(seqstart\) have dtype",
    ):
        compiled.refused_when(
            when, lambda *tensors: relax.op.nn.attention_var_len(*tensors), *shapes, dtypes=dtypes
        )


PROGRAMS: whole.Programs = {
    "attention_var_len": {
        "lowering": (whole.upstream("attention_var_len", "two_sequences", causal_mask=None),)
    },
}

CURES: whole.Cures = {
    "attention-var-len": (("attention_var_len", "lowering"),),
}
