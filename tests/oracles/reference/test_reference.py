"""The reference's values against explicit loops written from the definitions."""

import itertools
import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings

from relaxcheck.generators.core.program import Attribute, Case, Input, Node
from relaxcheck.generators.core.values import Array, arrays
from relaxcheck.oracles.reference import attribute_values
from relaxcheck.oracles.reference.attributes import attention as attributes_of_attention
from relaxcheck.oracles.reference.attributes import check_heads, conv_transpose
from relaxcheck.oracles.reference.estimate import FORMATS, exact
from relaxcheck.oracles.reference.evaluate import Numerics, evaluate
from relaxcheck.oracles.reference.layouts import from_canonical, to_canonical
from relaxcheck.oracles.reference.mixed_precision import following
from relaxcheck.oracles.reference.operators import attention
from tests.oracles import programs


def _conv1d_transpose(node: Node) -> object:
    return conv_transpose(node, 1, "float32")


EXAMPLES = settings(max_examples=60, deadline=None)


def conv_transpose_by_loops(node: Node, data: Array, kernel: Array) -> Array:
    """Every output element summed by its own loop, from ``i*s + k*d - p == o``."""
    spatial = {"1": "W", "2": "HW", "3": "DHW"}[node.operator[7]]
    rank = len(spatial)
    a = node.attributes
    x = to_canonical(data.astype(np.float64), a["data_layout"], "NC" + spatial)  # type: ignore[arg-type]
    w = to_canonical(kernel.astype(np.float64), a["kernel_layout"], "IO" + spatial)  # type: ignore[arg-type]
    s, p, e, d = (a[n] for n in ("strides", "padding", "output_padding", "dilation"))
    assert isinstance(s, tuple)
    assert isinstance(p, tuple)
    assert isinstance(e, tuple)
    assert isinstance(d, tuple)
    groups = a["groups"]
    assert isinstance(groups, int)
    out = [
        (x.shape[2 + r] - 1) * s[r] - p[r] - p[rank + r] + d[r] * (w.shape[2 + r] - 1) + 1 + e[r]
        for r in range(rank)
    ]
    per_in, per_out = x.shape[1] // groups, w.shape[1]
    y = np.zeros((x.shape[0], groups * per_out, *out))
    for n, o, *place in np.ndindex(y.shape):
        group, within_group = divmod(o, per_out)
        total = 0.0
        for tap in np.ndindex(*w.shape[2:]):
            at = [place[r] + p[r] - tap[r] * d[r] for r in range(rank)]
            if any(at[r] % s[r] for r in range(rank)):
                continue
            i = [at[r] // s[r] for r in range(rank)]
            if all(0 <= i[r] < x.shape[2 + r] for r in range(rank)):
                for c in range(per_in):
                    channel = group * per_in + c
                    total += x[(n, channel, *i)] * w[(channel, within_group, *tap)]
        y[(n, o, *place)] = total
    return from_canonical(y, a["out_layout"] or a["data_layout"], "NC" + spatial)  # type: ignore[arg-type]


def attention_by_loops(
    node: Node, q: Array, k: Array, v: Array, bias: Array | None = None
) -> Array:
    """Every output row from its own loop over visible keys."""
    scale, causal = node.attributes["scale"], node.attributes["causal_mask"]
    window = node.attributes["window_size"]
    batch, queries, heads, dim = q.shape
    keys = k.shape[1]
    shift = abs(queries - keys) if causal == "BottomRight" else 0
    factor = 1 / math.sqrt(dim) if scale is None else scale
    assert isinstance(factor, float)
    y = np.zeros((batch, queries, heads, v.shape[3]))
    for b, i, h in itertools.product(range(batch), range(queries), range(heads)):
        weights = {}
        for j in range(keys):
            if causal is not None and j > i + shift:
                continue
            if isinstance(window, int) and j <= i + shift - window:
                continue
            score = factor * sum(
                float(q[b, i, h, c]) * float(k[b, j, h * k.shape[2] // heads, c])
                for c in range(dim)
            )
            if bias is not None:
                score += np.broadcast_to(bias, (batch, heads, queries, keys))[b, h, i, j]
            weights[j] = math.exp(score)
        for j, weight in weights.items():
            share = weight / sum(weights.values())
            y[b, i, h] += share * v[b, j, h * v.shape[2] // heads].astype(np.float64)
    return y


@EXAMPLES
@given(programs.cases(programs.conv_transposes(("float32", "float64", "int8", "uint8"))))
def test_transposed_convolution(case: Case) -> None:
    values = arrays(case, 0)
    (reference,) = evaluate(case.program, values)
    loops = conv_transpose_by_loops(case.program.nodes[0], values["x"], values["w"])
    assert reference.value.shape == loops.shape
    # Everything drawn here is a multiple of 2**-22 below 2**30: float64 sums it exactly.
    if reference.dtype not in ("float32", "float16", "uint8", "int8"):
        assert np.array_equal(reference.value, loops)
    elif reference.dtype != "float16" and "int" not in reference.dtype:
        assert np.allclose(reference.value, loops, rtol=1e-15, atol=0)


@EXAMPLES
@given(programs.cases(programs.attentions(("float64",))))
def test_attention(case: Case) -> None:
    values = arrays(case, 0)
    (reference,) = evaluate(case.program, values)
    loops = attention_by_loops(case.program.nodes[0], *values.values())
    assert reference.value.shape == loops.shape
    assert np.allclose(reference.value, loops, rtol=1e-12, atol=1e-12)


@EXAMPLES
@given(programs.cases(programs.var_len_attentions(("float64",))))
def test_attention_of_several_lengths_is_attention_of_each(case: Case) -> None:
    values = arrays(case, 0)
    (reference,) = evaluate(case.program, values)
    q, k, v, starts_q, _, starts_k, _ = values.values()
    parts = [
        attention_by_loops(case.program.nodes[0], q[:, a:b], k[:, c:d], v[:, c:d])
        for a, b, c, d in zip(starts_q, starts_q[1:], starts_k, starts_k[1:], strict=False)
    ]
    loops = np.concatenate(parts, axis=1)
    assert np.allclose(reference.value, loops, rtol=1e-12, atol=1e-12)


def test_integers_wrap_around_to_the_output_dtype() -> None:
    program = programs.one_node(
        "nn.conv1d_transpose", [Input("x", (1, 1, 1), "int8"), Input("w", (1, 1, 1), "int8")]
    )
    values = {"x": np.full((1, 1, 1), 100, np.int8), "w": np.full((1, 1, 1), 3, np.int8)}
    (reference,) = evaluate(program, values)
    assert reference.value.item() == 300 - 256
    assert reference.bound.item() == 0


def test_output_padding_extends_the_end_with_real_contributions() -> None:
    program = programs.one_node(
        "nn.conv1d_transpose",
        [Input("x", (1, 1, 2), "float32"), Input("w", (1, 1, 3), "float32")],
        strides=(2,),
        padding=(0, 1),
        output_padding=(1,),
    )
    values = {
        "x": np.array([[[1, 10]]], np.float32),
        "w": np.array([[[1, 2, 3]]], np.float32),
    }
    (reference,) = evaluate(program, values)
    assert reference.value.tolist() == [[[1, 2, 13, 20, 30]]]


def test_a_query_that_sees_no_key_gives_zeros() -> None:
    program = programs.one_node(
        "nn.attention",
        [Input("q", (1, 4, 1, 2), "float32"), *(Input(n, (1, 2, 1, 2), "float32") for n in "kv")],
        window_size=1,
    )
    values = {name: np.ones((1, 4 if name == "q" else 2, 1, 2), np.float32) for name in "qkv"}
    (reference,) = evaluate(program, values)
    assert reference.value[0, :, 0, 0].tolist() == [1, 1, 0, 0]
    assert (reference.bound[0, :, 0, 0] > 0).tolist() == [True, False, False, False]


@pytest.mark.parametrize(
    ("key", "value", "fault"),
    [
        (2, 1, "key and value heads differ: 2, 1"),
        (1, 2, "key and value heads differ: 1, 2"),
        (4, 4, "2 query heads are no multiple of 4"),
    ],
)
def test_heads_that_do_not_fit_together_are_refused(key: int, value: int, fault: str) -> None:
    heads = {"q": 2, "k": key, "v": value}
    shapes = {name: (1, 1, count, 2) for name, count in heads.items()}
    inputs = [Input(name, shape, "float32") for name, shape in shapes.items()]
    values = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
    with pytest.raises(ValueError, match=fault):
        evaluate(programs.one_node("nn.attention", inputs), values)


@pytest.mark.parametrize(
    ("attributes", "fault"),
    [
        ({"groups": 2}, "groups 2"),
        ({"strides": (0,)}, "strides"),
        ({"output_padding": (1,)}, "output_padding"),
        ({"padding": (4,)}, "below 1"),
        ({"padding": (2,)}, "below 1"),
        ({"data_layout": "NCX"}, "'X'"),
        ({"out_layout": "NCC"}, "repeated"),
        ({"padding": (1, 2, 3)}, "padding"),
    ],
)
def test_invalid_programs_are_refused(attributes: dict[str, object], fault: str) -> None:
    program = programs.one_node(
        "nn.conv1d_transpose",
        [Input("x", (1, 1, 3), "float32"), Input("w", (1, 1, 2), "float32")],
        **attributes,
    )
    values = {"x": np.ones((1, 1, 3), np.float32), "w": np.ones((1, 1, 2), np.float32)}
    with pytest.raises(ValueError, match=fault):
        evaluate(program, values)


def test_a_call_with_fewer_operands_than_it_has_a_meaning_for_is_refused() -> None:
    """TVM lets the longest segment of the keys go."""
    floats = [Input(name, (1, 1, 1, 1), "float32") for name in "qkv"]
    whole = [Input(name, (2,) * (name[0] == "s"), "int32") for name in ("sq", "mq", "sk", "mk")]
    values = {tensor.name: np.ones((1, 1, 1, 1), np.float32) for tensor in floats}
    values |= {tensor.name: np.array([0, 1] if tensor.shape else 1, np.int32) for tensor in whole}
    (attended,) = evaluate(programs.one_node("nn.attention_var_len", [*floats, *whole]), values)
    assert attended.value.shape == (1, 1, 1, 1)
    fewer = programs.one_node("nn.attention_var_len", [*floats, *whole[:-1]])
    with pytest.raises(ValueError, match="takes 7 operands, not 6"):
        evaluate(fewer, values)


def test_a_transposed_convolution_in_its_own_dtype_is_as_accurate_as_that() -> None:
    program = programs.one_node(
        "nn.conv1d_transpose", [Input("x", (1, 1, 3), "float32"), Input("w", (1, 1, 2), "float32")]
    )
    values = {
        "x": np.full((1, 1, 3), np.float32(1.1)),
        "w": np.full((1, 1, 2), np.float32(0.3)),
    }
    (own,) = evaluate(program, values)
    (mixed,) = evaluate(program, values, Numerics.MIXED_FLOAT16)
    assert 0 < own.bound.max() < 1e-6
    assert 1e-4 < mixed.bound.max() < 1e-2


def test_what_follows_in_mixed_precision_is_kept_in_it() -> None:
    half = replace(exact(np.array([1.1]), "float32"), half=True)
    for numerics, operands, kept in (
        (Numerics.MIXED_FLOAT16, [half, half], True),
        (Numerics.MIXED_FLOAT16, [half, replace(half, half=False)], False),
    ):
        result = following(operands, numerics, lambda each: replace(each[0], half=False))
        assert result.half is kept


def test_overflows_and_invalid_operations_of_the_reference_are_no_warnings() -> None:
    values = {"x0": np.array([20000.0, -1.0, 0.0, -np.inf])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for operator in ("exp", "log", "sqrt", "rsqrt", "acosh", "square", "sinh"):
            evaluate(programs.one_node(operator, [Input("x0", (4,), "float64")]), values)


def test_a_bias_of_the_lowest_number_is_no_mask_beside_keys_that_are_not_seen() -> None:
    scores = exact(np.zeros((1, 1, 1, 2)), "float32")
    lowest = -FORMATS["float32"].largest
    bias = exact(np.array([lowest, 0.0]).reshape(1, 1, 1, 2), "float32")
    beside = attention._biased(scores, bias, np.array([[True, True]]), "float32")
    assert beside.value.ravel().tolist() == [-np.inf, 0]
    assert np.isfinite(beside.error).all()
    alone = attention._biased(scores, bias, np.array([[True, False]]), "float32")
    assert np.isinf(alone.error).ravel().tolist() == [True, False]


def test_an_operand_that_scaling_may_lose_has_room() -> None:
    operand = exact(np.array([1.0, 3e38, 2.0**-125]), "float32")
    for factor, wanted in ((1.0, [0, 0, 0]), (4.0, [0, np.inf, 0]), (0.25, [0, 0, 2.0**-125])):
        assert attention._before_scaling(operand, factor, "float32").error.tolist() == wanted


def test_without_taps_a_transposed_convolution_spreads_nothing() -> None:
    node = Node("y", "nn.conv2d_transpose", (), {"strides": (2, 3), "dilation": (1, 2)})
    found = conv_transpose(node, 2, "float32")
    assert found.full_size((3, 3), (2, 4)) == (6, 13)
    assert found.full_size((3, 3), (0, 4)) == (0, 13)
    assert found.full_size((0, 3), (2, 0)) == (0, 0)


@pytest.mark.parametrize(
    ("read", "attributes", "why"),
    [
        (partial(attribute_values.number, name="a"), {"a": "x"}, "y: a 'x' is not a number"),
        (partial(attribute_values.text, name="a"), {"a": 3}, "y: a 3 is not text"),
        (_conv1d_transpose, {"groups": 0}, "groups 0 is not a positive integer"),
        (_conv1d_transpose, {"padding": -1}, r"padding \(-1, -1\) and .* negative"),
        (attributes_of_attention, {"window_size": "a"}, "window_size 'a' is not an integer"),
    ],
)
def test_a_message_names_the_attribute_and_its_fault(
    read: Callable[[Node], object], attributes: dict[str, Attribute], why: str
) -> None:
    with pytest.raises(ValueError, match=why):
        read(Node("n", "y", (), attributes))


def test_a_message_names_the_heads_that_do_not_fit() -> None:
    key = (1, 5, 2, 7)
    with pytest.raises(ValueError, match="3 query heads are no multiple of 2"):
        check_heads((1, 4, 3, 7), key, key, None)
