"""Attention with the fix agrees with NumPy, one query at a time."""

import re
from functools import partial
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.lowerings.attention import attention
from tests.fixes import compiled, reference
from tests.fixes import whole_programs as whole

# float64 against float64: a few dozen roundings of values around one.
TIGHT = 1e-13


def build(
    *shapes: tuple[Any, ...], dtype: str = "float64", mode: str = "bytecode", **kw: Any
) -> Any:
    with fixes.install():
        module = compiled.module(
            lambda *tensors: relax.op.nn.attention(*tensors, **kw),
            *shapes,
            dtypes=(dtype,) * len(shapes),
        )
        return compiled.build(module, mode)


def samples(shapes: Any, binding: dict[str, int], dtype: Any = "float64") -> list[Any]:
    return [
        compiled.sample(compiled.size(shape, binding), "float64", seed).astype(dtype)
        for seed, shape in enumerate(shapes)
    ]


def check(shapes: Any, bindings: list[dict[str, int]], **kw: Any) -> None:
    function = build(*shapes, **kw)
    for binding in bindings:
        tensors = samples(shapes, binding)
        np.testing.assert_allclose(
            function(*tensors), reference.attention(*tensors, **kw), rtol=0, atol=TIGHT
        )


@pytest.mark.parametrize("batch", ["B", 2])
def test_the_program_of_issue_19696(batch: Any) -> None:
    check([(batch, 4, 2, 8)] * 3, [{"B": n} for n in (1, 2, 7, 0)])


@pytest.mark.parametrize(
    ("query", "key"),
    [
        (("B", 3, 2, 4), ("B", 5, 2, 4)),
        ((2, "S", 2, 4), (2, "S", 2, 4)),
        ((2, "S", 2, 4), (2, "T", 2, 4)),
        (("B", "S", "H", 4), ("B", "T", "H", 4)),
        (("B", "B", 4, 4), ("B", "T", 2, 4)),
        ((1, 3, "H", "D"), (1, 3, "K", "D")),
    ],
)
def test_symbols_alone_together_and_shared(query: Any, key: Any) -> None:
    bindings = [
        {"B": b, "S": s, "T": t, "H": 4, "K": 2, "D": 3}
        for b, s, t in ((1, 1, 1), (2, 3, 5), (3, 5, 2))
    ]
    check([query, key, (*key[:3], 6)], bindings, causal_mask="BottomRight")


@pytest.mark.parametrize("causal_mask", [None, "TopLeft", "BottomRight"])
@pytest.mark.parametrize("window_size", [None, 1, 3])
def test_masks_at_any_lengths(causal_mask: str | None, window_size: int | None) -> None:
    shapes = [(2, "S", 4, 4), (2, "T", 2, 4), (2, "T", 2, 3)]
    bindings = [{"S": s, "T": t} for s, t in product((1, 4, 6), (1, 4, 6))]
    check(shapes, bindings, causal_mask=causal_mask, window_size=window_size)


@pytest.mark.parametrize("leading", list(product((1, 2), (1, 4), (1, 3))))
def test_bias_broadcasts_in_any_leading_dimension(leading: tuple[int, int, int]) -> None:
    check([(2, 3, 4, 4), (2, 5, 2, 4), (2, 5, 2, 4), (*leading, 5)], [{}], scale=0.3)


def test_bias_of_symbolic_extents_may_turn_out_to_be_one() -> None:
    shapes = [("B", "S", 2, 4), ("B", 3, 2, 4), ("B", 3, 2, 4), ("X", 2, "Y", 3)]
    function = build(*shapes)
    for x, y in ((1, 1), (2, 1), (1, 3), (2, 3)):
        tensors = samples(shapes, {"B": 2, "S": 3, "X": x, "Y": y})
        np.testing.assert_allclose(
            function(*tensors), reference.attention(*tensors), rtol=0, atol=TIGHT
        )


def test_a_query_that_sees_no_key_gives_zeros() -> None:
    shapes = [(1, 6, 1, 2), (1, 2, 1, 2), (1, 2, 1, 2)]
    tensors = samples(shapes, {})
    out = build(*shapes, window_size=1)(*tensors)
    assert (out[:, 2:] == 0).all()
    assert (out[:, :2] != 0).any()


def test_no_key_at_all_gives_zeros() -> None:
    shapes = [("B", 3, 2, 4), ("B", "T", 2, 4), ("B", "T", 2, 4)]
    function = build(*shapes)
    for batch in (0, 1, 2):
        out = function(*samples(shapes, {"B": batch, "T": 0}))
        assert out.shape == (batch, 3, 2, 4)
        assert (out == 0).all()


def test_hidden_scores_do_not_move_the_visible_ones() -> None:
    # Visible scores far below zero: a largest score taken over hidden ones would underflow.
    query, key = np.full((1, 2, 1, 1), 1000.0), np.array([-1.0, 1.0]).reshape(1, 2, 1, 1)
    value = np.array([3.0, 5.0]).reshape(1, 2, 1, 1)
    out = build(*[(1, 2, 1, 1)] * 3, causal_mask="TopLeft")(query, key, value)
    np.testing.assert_array_equal(out.ravel(), [3.0, 5.0])


def test_nan_shows() -> None:
    query, key = samples([(1, 1, 1, 2)] * 2, {})
    query[..., 0] = np.nan
    assert np.isnan(build(*[(1, 1, 1, 2)] * 3)(query, key, key)).all()


@pytest.mark.parametrize("mode", ["bytecode", "compiled"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_16_bit_floats_are_rounded_once(dtype: str, mode: str) -> None:
    kind = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    shapes = [(1, 3, 2, 8), (1, 4, 2, 8), (1, 4, 2, 8), (1, 1, 3, 4)]
    tensors = samples(shapes, {}, kind)
    out = build(*shapes, dtype=dtype, mode=mode, causal_mask="TopLeft")(*tensors)
    want = reference.attention(*tensors, causal_mask="TopLeft")
    assert out.dtype == kind
    # Half a unit of the result, and the roundings of float32 on the way.
    bound = np.abs(want) * float(ml_dtypes.finfo(kind).eps) / 2 + 2e-6
    assert (np.abs(out.astype("float64") - want) <= bound).all()


@settings(deadline=None)
@given(
    st.sampled_from([None, 1.0, 0.25, -2.0, 0.0]),
    st.sampled_from([None, "TopLeft", "BottomRight"]),
    st.sampled_from([None, 1, 2, 100]),
    st.tuples(*[st.integers(1, 4)] * 4),
    st.integers(1, 3),
)
def test_everything_together(
    scale: float | None,
    causal_mask: str | None,
    window_size: int | None,
    sizes: tuple[int, int, int, int],
    group: int,
) -> None:
    q_len, kv_len, kv_heads, dim = sizes
    heads = kv_heads * group
    shapes = [
        (2, q_len, heads, dim),
        (2, kv_len, kv_heads, dim),
        (2, kv_len, kv_heads, 5),
        (1, heads, 1, kv_len),
    ]
    check(shapes, [{}], scale=scale, causal_mask=causal_mask, window_size=window_size)


def test_batch_times_heads_is_one_object_in_both_products(
    fixes_on: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    product_of = attention.batch_matmul

    def spy(*args: Any, **kw: Any) -> Any:
        seen.append(kw["oshape"][0])
        return product_of(*args, **kw)

    monkeypatch.setattr(attention, "batch_matmul", spy)
    relax.transform.LegalizeOps()(compiled.module(relax.op.nn.attention, *[("B", 2, "H", 4)] * 3))
    assert len(seen) == 2
    assert seen[0].same_as(seen[1])


def _attention(*tensors: Any) -> Any:
    """Looked up at the call: the fixes replace the function."""
    return relax.op.nn.attention(*tensors)


@compiled.WHEN
@pytest.mark.parametrize(
    ("kw", "message"),
    [
        ({"causal_mask": "Diagonal"}, "causal_mask='Diagonal'"),
        ({"window_size": 0}, "window_size=0"),
        ({"window_size": -1}, "window_size=-1"),
    ],
)
def test_invalid_attributes_are_named(kw: dict[str, Any], message: str, when: str) -> None:
    with pytest.raises(ValueError, match=f"relax.nn.attention is invalid with {message}"):
        compiled.refused_when(
            when, lambda *tensors: relax.op.nn.attention(*tensors, **kw), *[(1, 2, 2, 4)] * 3
        )


@compiled.WHEN
def test_dtypes_that_differ_are_named(when: str) -> None:
    dtypes = ("float32", "float16", "float32")
    with pytest.raises(ValueError, match=r"attention .*query='float32', key='float16'"):
        compiled.refused_when(when, _attention, *[(1, 2, 2, 4)] * 3, dtypes=dtypes)


@compiled.WHEN
def test_integers_are_refused(when: str) -> None:
    with pytest.raises(tvm_api.OpNotImplemented, match=r"attention .*dtype='int32'"):
        compiled.refused_when(when, _attention, *[(1, 2, 2, 4)] * 3, dtypes=("int32",) * 3)


@compiled.WHEN
def test_heads_of_key_and_value_that_differ_are_named(when: str) -> None:
    shapes = (1, 2, 4, 4), (1, 2, 2, 4), (1, 2, 4, 4)
    with pytest.raises(ValueError, match=r"attention .*value='\(1, 2, 4, 4\)'.*number of heads"):
        compiled.refused_when(when, _attention, *shapes)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 2, 4, 4), (3, 2, 4, 4), (2, 2, 4, 4)), "key=.*batch size"),
        (((2, 2, 4, 4), (2, 2, 4, 4), (3, 2, 4, 4)), "value=.*batch size"),
        (((2, 2, 4, 4), (2, 2, 4, 4), (2, 3, 4, 4)), "value=.*sequence length"),
        (((2, 2, 4, 4), (2, 2, 3, 4), (2, 2, 3, 4)), "key=.*number of heads"),
        (((2, 2, 4, 4), (2, 2, 4, 5), (2, 2, 4, 4)), "key=.*dimension of heads"),
        (((2, 4, 4), (2, 2, 4, 4), (2, 2, 4, 4)), r"query='\(2, 4, 4\)': its rank is not 4"),
        ((*[(2, 2, 4, 4)] * 3, (3, 1, 1, 2)), "bias=.*axis 0.*batch size"),
        ((*[(2, 2, 4, 4)] * 3, (1, 3, 1, 2)), "bias=.*axis 1.*number of heads"),
        ((*[(2, 2, 4, 4)] * 3, (1, 1, 3, 2)), "bias=.*axis 2.*sequence length of queries"),
        ((*[(2, 2, 4, 4)] * 3, (1, 1, 1, 1)), "bias=.*axis 3.*sequence length of keys"),
        ((*[(2, 2, 4, 4)] * 3, (4, 2, 2)), "bias=.*rank"),
    ],
)
def test_shapes_that_differ_are_named(fixes_on: None, shapes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"relax.nn.attention(_bias)? is invalid with .*{message}"):
        compiled.module(relax.op.nn.attention, *shapes)


def test_a_tensor_of_unknown_shape_is_refused(fixes_on: None) -> None:
    tensor = relax.Var("x", tvm_api.unshaped_type(4, "float32"))
    with pytest.raises(tvm_api.OpNotImplemented, match=r"relax.nn.attention .*shape=None"):
        relax.op.nn.attention(tensor, tensor, tensor)


@pytest.mark.parametrize(
    ("shapes", "runs", "message"),
    [
        (
            (("B", 1, 2, 4), ("C", 3, 2, 4), ("C", 3, 2, 4)),
            {"B": 2, "C": 3},
            "query=.*key=.*batch size",
        ),
        ((("B", 1, "H", 4), ("B", 3, "G", 4), ("B", 3, "G", 4)), {"H": 3, "G": 2}, "does not div"),
        ((("B", 1, "H", 4), ("B", 3, "G", 4), ("B", 3, "G", 4)), {"H": 3, "G": 0}, "does not div"),
        ((("B", 1, 2, 4), ("B", "K", 2, 4), ("B", "L", 2, 4)), {"K": 2, "L": 3}, "sequence length"),
        ((*[("B", 2, 2, 4)] * 3, ("A", 2, 2, 2)), {"B": 2, "A": 3}, "bias=.*axis 0.*batch size"),
    ],
)
def test_symbols_are_checked_when_they_are_known(
    fixes_on: None, shapes: Any, runs: dict[str, int], message: str
) -> None:
    function = compiled.build(compiled.module(relax.op.nn.attention, *shapes))
    fitting = [
        compiled.sample(compiled.size(shape, dict.fromkeys("ABCGHKL", 2))) for shape in shapes
    ]
    np.testing.assert_allclose(function(*fitting), reference.attention(*fitting), atol=1e-5)
    binding = {**dict.fromkeys("ABCGHKL", 2), **runs}
    broken = [compiled.sample(compiled.size(shape, binding)) for shape in shapes]
    with pytest.raises(ValueError, match=f"relax.nn.attention(_bias)? is invalid .*{message}"):
        function(*broken)


def attends(
    *shapes: tuple[Any, ...], dtype: str = "float32", far: float = 0.0, **attributes: Any
) -> None:
    """The output agrees with the reference; ``far`` is added to every score."""
    sizes = {"B": 2, "Q": 3, "K": 5, "H": 2}
    tensors = [
        compiled.sample(compiled.size(shape, sizes), dtype, n) for n, shape in enumerate(shapes)
    ]
    if far:
        tensors[3] = np.full_like(tensors[3], far)
    program = compiled.module(
        lambda *x: relax.op.nn.attention(*x, **attributes), *shapes, dtypes=(dtype,) * len(shapes)
    )
    result = compiled.build(program)(*tensors)
    assert result.dtype == np.dtype(dtype)
    want = reference.attention(*tensors, **attributes)
    np.testing.assert_allclose(result, want, atol=1e-2 if dtype == "float16" else 1e-4)


def reduces_over_something(*shapes: tuple[int, ...]) -> None:
    """No reduction of the program is empty where it has output elements."""
    module = relax.transform.LegalizeOps()(compiled.module(relax.op.nn.attention, *shapes))
    assert not re.search(r"T\.grid\([^\n]*T\.int64\(0\)\):\n[^\n]*\n[^\n]*\"S+R+\"", str(module))


PROGRAMS: whole.Programs = {
    "attention": {
        "windows": (
            whole.upstream("attention", "window_under_causal_mask"),
            partial(attends, *((1, 5, 2, 8),) * 3, window_size=2),
        ),
        "grouped queries": (whole.upstream("attention", "grouped_queries"),),
        "causal masks": (
            whole.upstream("attention", "bias_far_below_zero_under_causal_mask"),
            partial(attends, *((1, 3, 2, 4),) * 3, causal_mask="BottomRight"),
        ),
        "scales": tuple(
            partial(attends, *((2, 3, 2, 4),) * 3, dtype=dtype, scale=0.5)
            for dtype in ("float16", "float32")
        ),
        "empty axes": (
            partial(reduces_over_something, (1, 2, 2, 3), (1, 0, 2, 3), (1, 0, 2, 3)),
            partial(reduces_over_something, (1, 2, 2, 0), (1, 4, 2, 0), (1, 4, 2, 3)),
        ),
        "symbolic dimensions": (
            whole.upstream("attention", "symbolic_batch"),
            partial(attends, ("B", "Q", "H", 4), ("B", "K", "H", 4), ("B", "K", "H", 4)),
        ),
    },
}

CURES: whole.Cures = {
    "19696-attention-symbolic-batch": (("attention", "symbolic dimensions"),),
    "attention-causal-mask-underflow": (("attention", "causal masks"),),
    "attention-grouped-query": (("attention", "grouped queries"),),
    "attention-scale-bfloat16-add": (("attention", "scales"),),
    "attention-scale-dtype": (("attention", "scales"),),
    "attention-window": (("attention", "windows"),),
}
