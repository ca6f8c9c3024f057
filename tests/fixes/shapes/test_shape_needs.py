"""The needs of operators hold where dimensions go together, and nowhere else."""

from collections.abc import Callable
from typing import Any

import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

OP = relax.op
B, C, D, K, M, N = SYMBOLS = tuple(map(tvm_api.shape_var, "bcdkmn"))

INT = ("float32", "int64")
CASES: list[tuple[Callable[..., Any], list[Any], tuple[str, ...], str, list[str], list[str]]] = [
    # make, shapes, dtypes, message, bindings that fit, bindings that do not
    (OP.add, [(M, 3), (N, 3)], (), "dimensions m and n", ["m3n3", "m1n3", "m3n1"], ["m2n3"]),
    (OP.add, [(M,), (B, 3)], (), "dimensions m and 3", ["m3", "m1"], ["m2", "m0"]),
    (OP.less, [(M * 2,), (N,)], (), "m * 2 and n", ["m2n4", "m2n1"], ["m2n3"]),
    (
        OP.where,
        [(M,), (N,), (K,)],
        ("bool", "float32", "float32"),
        "must be equal, or one of them 1",
        ["m3n1k3", "m1n1k1"],
        ["m3n1k2", "m2n3k1"],
    ),
    (OP.matmul, [(M, K), (N, 3)], (), "contracted dimensions k and n", ["k2n2"], ["k2n3"]),
    (OP.matmul, [(B, M, K), (C, K, N)], (), "dimensions b and c", ["b2c1", "b2c2"], ["b2c3"]),
    (OP.matmul, [(K,), (N,)], (), "contracted dimensions k and n", ["k2n2"], ["k1n2"]),
    (OP.nn.conv1d, [(1, C, 5), (4, D, 3)], (), "channels of data", ["c2d2"], ["c2d1", "c1d2"]),
    (
        lambda x, w: OP.nn.conv1d(x, w, groups=2),
        [(1, C, 5), (K, D, 3)],
        (),
        "channels",
        ["c4d2k4"],
        ["c2d2k4", "c4d2k3"],
    ),
    (
        lambda x, w: OP.nn.conv2d(x, w, padding=(1, 0), dilation=(1, 2), data_layout="NHWC"),
        [(1, M, N, 2), (4, 2, 3, 3)],
        (),
        "must fit into the dimension",
        ["m1n5", "m4n6"],
        ["m0n5", "m1n4"],
    ),
    (
        lambda x, w: OP.nn.conv1d_transpose(x, w, groups=2),
        [(1, C, 3), (D, 2, 3)],
        (),
        "channels",
        ["c2d2", "c4d4"],
        ["c2d4", "c3d3"],
    ),
    (
        lambda x: OP.nn.max_pool2d(x, (3, 2), padding=(1, 0)),
        [(1, 1, M, N)],
        (),
        "large enough for the window",
        ["m1n2"],
        ["m0n2", "m1n1"],
    ),
    (
        lambda x: OP.split(x, [1, 3], axis=-1),
        [(2, M)],
        (),
        "split dimension m must be at least 3",
        ["m3", "m5"],
        ["m2", "m0"],
    ),
    (
        lambda x: OP.nn.adaptive_avg_pool1d(x, (3,)),
        [(1, 1, M)],
        (),
        "dimension m must be at least 1",
        ["m1"],
        ["m0"],
    ),
    (lambda x: OP.reshape(x, (M, N)), [(K,)], (), "as many elements", ["m2n3k6"], ["m2n3k5"]),
    (lambda x: OP.reshape(x, (-1, 4)), [(M, N)], (), "as many elements", ["m2n6"], ["m3n3"]),
    (lambda x: OP.broadcast_to(x, (M, N)), [(K,)], (), "must be n", ["k1n3", "k3n3"], ["k2n3"]),
    (
        lambda x, y: OP.concat([x, y], 0),
        [(M, N), (K, C)],
        (),
        "dimensions 1 of tensors 0 and 1, n and c",
        ["m1k2n3c3"],
        ["m1k1n3c2"],
    ),
    (lambda x, y: OP.stack([x, y]), [(M,), (N,)], (), "must be equal", ["m2n2"], ["m2n1"]),
    (
        lambda x, w, v: OP.nn.layer_norm(x, w, v, axes=[-2, -1]),
        [(B, M, N), (M, K), (C, N)],
        (),
        "data and weights",
        ["m2n3k3c2"],
        ["m2n3k2c2", "m2n3k3c3"],
    ),
    (
        lambda x, w: OP.nn.rms_norm(x, w, axes=[-1]),
        [(M, N), (K,)],
        (),
        "n and k",
        ["n2k2"],
        ["n2k1"],
    ),
    (
        lambda x, *w: OP.nn.batch_norm(x, *w, axis=1),
        [(M, N), (N,), (N,), (K,), (N,)],
        (),
        "channels of data and weights n and k",
        ["n2k2"],
        ["n2k3"],
    ),
    (
        lambda x, w, v: OP.nn.group_norm(x, w, v, 2, 1, [2]),
        [(B, C, M), (C,), (D,)],
        (),
        "channels",
        ["c4d4"],
        ["c3d3", "c4d2"],
    ),
    (
        lambda x, w, v: OP.nn.instance_norm(x, w, v, channel_axis=2, axes=[1]),
        [(B, M, C), (C,), (D,)],
        (),
        "channels of data and weights c and d",
        ["c2d2m3"],
        ["c2d3m3"],
    ),
    (OP.nn.prelu, [(B, C), (D,)], (), "channels of data and weights", ["c2d2"], ["c2d1"]),
    (
        OP.nn.attention,
        [(B, M, K, 8), (C, N, 2, 8), (C, D, 2, 8)],
        (),
        "query",
        ["b1c1n2d2k4"],
        ["b1c2n2d2k4", "b1c1n2d2k3"],
    ),
    (
        OP.nn.attention,
        [(1, M, K, 8), (1, N, D, 8), (1, N, D, 8)],
        (),
        "heads of the query k must be a multiple of d",
        ["k4d2"],
        ["k4d3", "k4d0", "k0d0"],
    ),
    (
        lambda x: OP.nn.pad(x, [0, 0, 1, 2], "reflect"),
        [(M, N)],
        (),
        "for reflect padding, n must be at least 3",
        ["m0n3"],
        ["m1n2"],
    ),
    (lambda x: OP.nn.pad(x, [2, 1], "circular"), [(M,)], (), "at least 2", ["m2"], ["m1"]),
    (
        lambda x: OP.squeeze(x, [0]),
        [(M, N)],
        (),
        "squeezed dimension m",
        ["m1n2"],
        ["m2n1", "m0n1"],
    ),
    (OP.max, [(M, N)], (), "reduced dimension n must be at least 1", ["m1n1"], ["m0n1", "m1n0"]),
    (lambda x: OP.argmin(x, -1), [(M, N)], (), "reduced dimension n", ["m0n1"], ["m1n0"]),
    (
        lambda x, i: OP.gather_elements(x, i, 0),
        [(M, N), (K, C)],
        INT,
        "indices as c must not be more than n",
        ["m1n3k9c3", "m1n3k9c2"],
        ["m1n3k1c4"],
    ),
    (
        lambda x: OP.zeros((M - 5, N), "float32"),
        [(M, N)],
        (),
        "the dimension m - 5 must be at least 0",
        ["m5n0"],
        ["m4n1"],
    ),
    (
        lambda x: OP.builtin.alloc_tensor(relax.ShapeExpr([M - M - 3, N]), "int8", 0),
        [(M, N)],
        (),
        "the dimension -3 must be at least 0",
        [],
        ["m4n1"],
    ),
]


def bound(text: str) -> dict[Any, Any]:
    """The values in "m2n13", and 1 for all other symbols."""
    result = {str(symbol): symbol for symbol in SYMBOLS}
    values = dict.fromkeys(SYMBOLS, tvm_api.integer(1))
    for name, number in zip(text[0::2], text[1::2], strict=True):
        values[result[name]] = tvm_api.integer(int(number))
    return values


@pytest.mark.parametrize(("make", "shapes", "dtypes", "says", "fitting", "others"), CASES)
def test_needs(
    make: Any, shapes: Any, dtypes: Any, says: str, fitting: list[str], others: list[str]
) -> None:
    call = probes.one_call(make, *shapes, dtypes=dtypes)
    needs = list(shape_needs.of(call))
    assert any(says in need.why for need in needs), [need.why for need in needs]
    assert all(need.values for need in needs)

    def failing(binding: str) -> list[str]:
        values = bound(binding)
        result = {
            need.why: tvm_api.as_int(tvm_api_shapes.substitute(need.condition, values))
            for need in needs
        }
        assert None not in result.values(), result
        return [why for why, holds in result.items() if not holds]

    for binding in fitting:
        assert not failing(binding), binding
    for binding in others:
        assert failing(binding), binding


@pytest.mark.parametrize(
    ("make", "shapes"),
    [
        (OP.add, [(M, 1, 3), (N, 3)]),
        (lambda x: OP.nn.pad(x, [0, 0, 1, 1], "constant"), [(M, N)]),
        (lambda x: OP.reshape(x, (-1,)), [(M, 3)]),
        (OP.nn.relu, [(M,)]),
        (lambda x, w: OP.nn.conv1d(x, w, padding=1), [(B, 2, M + 1), (4, 2, 3)]),
    ],
)
def test_needs_that_always_hold_are_proved(make: Any, shapes: Any) -> None:
    for need in shape_needs.of(probes.one_call(make, *shapes)):
        analyzer = tvm_api_shapes.sizes_analyzer([need.condition])
        assert analyzer.can_prove(need.condition), need.why


def test_every_operator_of_the_table_is_one_of_tvm() -> None:
    missing = [name for name in shape_needs.TABLE if tvm_api.get_op(name) is None]
    assert missing == []


def test_the_operators_that_broadcast() -> None:
    assert {"relax.add", "relax.where", "relax.power"} <= shape_needs.ELEMENTWISE
    assert "relax.matmul" not in shape_needs.ELEMENTWISE
