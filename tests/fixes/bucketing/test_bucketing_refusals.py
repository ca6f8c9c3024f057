"""Refusals of static programs for a few sizes name the operator and the axis."""

from typing import Any

import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from tests.fixes.bucketed_programs import OP, N, program, refused

ONE = relax.const(1, "float32")


@pytest.mark.parametrize(
    ("body", "shapes", "message"),
    [
        (
            lambda emit, x: emit(OP.mean(emit(OP.astype(x, "int32")))),
            [(2, N + 1)],
            "main: mean: axis 1 of argument 0, which is n + 1, cannot be padded:"
            " it is divided by how many there are, with what stands past the end",
        ),
        (
            lambda emit, x: emit(OP.argmax(x)),
            [(2, N)],
            "main: argmax: axis 1 of argument 0, which is n, cannot be padded:"
            " places are counted through all axes",
        ),
        (
            lambda emit, q, k: emit(OP.nn.attention(q, k, k, causal_mask="TopLeft")),
            [(1, 3, 2, 4), (1, N, 2, 4)],
            "main: nn.attention: axis 1 of argument 1, which is n, cannot be padded:"
            " queries would attend to what stands past the end",
        ),
        (
            lambda emit, q, k, b: emit(OP.nn.attention(q, k, k, b)),
            [(1, 3, 2, 4), (1, N, 2, 4), (1, 2, 3, 1)],
            "main: nn.attention_bias: axis 1 of argument 1, which is n, cannot be padded:"
            " queries would attend to what stands past the end",
        ),
        (
            lambda emit, q, k: emit(OP.nn.attention(q, k, k, causal_mask="BottomRight")),
            [(1, 3, 2, 4), (1, N, 2, 4)],
            "main: nn.attention: axis 1 of argument 1, which is n, cannot be padded:"
            " which keys a query sees depends on where the end is",
        ),
        (
            lambda emit, x, y: emit(OP.nn.conv1d(x, y, groups=2)),
            [(2, N * 2, 5), (4, N, 2)],
            "main: nn.conv1d: axis 1 of argument 0, which is n * 2, cannot be padded:"
            " the sum over it would take in what stands past the end",
        ),
        (
            lambda emit, x, w: emit(OP.nn.layer_norm(x, w, w, axes=[1])),
            [(2, N), (N,)],
            "main: nn.layer_norm: axis 1 of argument 0, which is n, cannot be padded:"
            " it is normalized over, with what stands past the end",
        ),
        (
            lambda emit, x, y: emit(OP.nn.conv1d(x, y)),
            [(2, 2, 9), (3, 2, N)],
            "main: nn.conv1d: axis 2 of argument 1, which is n, cannot be padded:"
            " windows would be larger",
        ),
        (
            lambda emit, x: emit(OP.nn.avg_pool1d(x, 3, padding=1, count_include_pad=False)),
            [(2, 2, N)],
            "main: nn.avg_pool1d: axis 2 of argument 0, which is n, cannot be padded:"
            " what stands past the end would be counted",
        ),
        (
            lambda emit, x: emit(OP.nn.avg_pool1d(x, 3, 2, ceil_mode=True)),
            [(2, 2, N)],
            "main: nn.avg_pool1d: axis 2 of argument 0, which is n, cannot be padded:"
            " with ceil_mode what is counted depends on where the end is",
        ),
        (
            lambda emit, x: emit(OP.nn.pad(x, (0, 0, 1, 1), "reflect")),
            [(2, N)],
            "main: nn.pad: axis 1 of argument 0, which is n, cannot be padded:"
            " reflect padding depends on where the end is",
        ),
        (
            lambda emit, x: emit(OP.split(x, [3], 0)),
            [(N, 2)],
            "main: split: axis 0 of argument 0, which is n, cannot be padded:"
            " it would be split at other places",
        ),
        (
            lambda emit, x: emit(
                OP.image.resize2d(x, relax.ShapeExpr([3, N * 2]), layout="NCHW", method="linear")
            ),
            [(1, 1, 3, N)],
            "main: image.resize2d: axis 3 of argument 0, which is n, cannot be padded:"
            " there is a rule for nearest_neighbor, asymmetric and floor, by a whole factor",
        ),
        (
            lambda emit, x: emit(
                OP.image.resize2d(
                    x,
                    relax.ShapeExpr([3, N + 2]),
                    layout="NCHW",
                    method="nearest_neighbor",
                    coordinate_transformation_mode="asymmetric",
                    rounding_method="floor",
                )
            ),
            [(1, 1, 3, N)],
            "main: image.resize2d: axis 3 of argument 0, which is n, cannot be padded:"
            " there is a rule for nearest_neighbor, asymmetric and floor, by a whole factor",
        ),
        (
            lambda emit, x: emit(OP.image.resize2d(x, relax.ShapeExpr([3, N]), layout="NCHW")),
            [(N, 1, 3, 4)],
            "main: image.resize2d: axis 3 of argument 0 cannot be padded:"
            " the factor would be another one",
        ),
        (
            lambda emit, x: emit(OP.flip(x, 0)),
            [(N, 2)],
            "main: flip: axis 0 of argument 0, which is n, cannot be padded:"
            " what stands past the end would come first",
        ),
        (
            lambda emit, x, y: emit(OP.concat([x, y], 0)),
            [(N, 2), (3, 2)],
            "main: concat: axis 0 of a tensor before the last, which is n, cannot be padded:"
            " what follows it would come after the padding",
        ),
        (
            lambda emit, x: emit(OP.strided_slice(x, [0], [-3], [1000])),
            [(N, 2)],
            "main: strided_slice: axis 0 of argument 0, which is n, cannot be padded:"
            " the slice begins at -3, counted from its end",
        ),
        (
            lambda emit, x: emit(OP.reshape(x, relax.ShapeExpr([N * 2]))),
            [(2, N)],
            "main: reshape: (2, n) to (n * 2) moves what stands past the end of axis 1 in between",
        ),
        (
            lambda emit, x: emit(OP.reshape(x, relax.ShapeExpr([N * N]))),
            [(N, N)],
            "main: reshape: (n, n) to (n * n) moves what stands past the end of axis 0, 1 in"
            " between",
        ),
        (
            lambda emit, x: emit(OP.arange(N, N + 3, 1, "int32")),
            [(N, 2)],
            "main: arange: argument 0, which has (n), would be another one",
        ),
        (
            lambda emit, x: emit(OP.cumsum(x)),
            [(2, N)],
            "main: cumsum: axis 1 of argument 0, which is n, cannot be padded:"
            " it is flattened, which would put other elements in",
        ),
        (
            lambda emit, x: emit(OP.argsort(x, axis=0)),
            [(N, 2)],
            "main: argsort: axis 0 of argument 0, which is n, cannot be padded:"
            " what stands past the end would be sorted in",
        ),
        (
            lambda emit, x, w: emit(OP.nn.batch_norm(x, w, w, w, w, 1)),
            [(2, 3, N), (3,)],
            "main: nn.batch_norm: axis 2 of argument 0, which is n, cannot be padded:"
            " in training, statistics are taken over it",
        ),
        (
            lambda emit, x, w: emit(OP.nn.group_norm(x, w, w, 2, 1, [2])),
            [(2, 4, N), (4,)],
            "main: nn.group_norm: axis 2 of argument 0, which is n, cannot be padded:"
            " it is normalized over, with what stands past the end",
        ),
        (
            lambda emit, x: emit(OP.nn.adaptive_avg_pool1d(x, 1)),
            [(2, 4, N)],
            "main: nn.adaptive_avg_pool1d: axis 2 of argument 0, which is n, cannot be padded:"
            " all windows depend on where the end is",
        ),
        (
            lambda emit, q, k: emit(OP.nn.attention(q, k, k, causal_mask="BottomRight")),
            [(1, N, 2, 4), (1, 3, 2, 4)],
            "main: nn.attention: axis 1 of argument 0, which is n, cannot be padded:"
            " which keys a query sees depends on where the end is",
        ),
        (
            lambda emit, x: emit(OP.take(x, relax.const([-1], "int64"), 0)),
            [(N, 2)],
            "main: take: axis 0 of argument 0, which is n, cannot be padded:"
            " indices are counted from its end, or cut",
        ),
        (
            lambda emit, x, w: emit(OP.nn.conv1d(x, w, groups=2)),
            [(1, 4, 9), (N * 2, 2, 3)],
            "main: nn.conv1d: axis 0 of argument 1, which is n * 2, cannot be padded:"
            " it is divided into groups",
        ),
        (
            lambda emit, x, w: emit(
                OP.nn.conv2d(x, w, data_layout="NCHW4c", kernel_layout="OIHW4i")
            ),
            [(1, 1, N, 5, 4), (4, 1, 1, 1, 4)],
            "main: nn.conv2d: no rule for the layout NCHW4c tells how to pad it",
        ),
        (
            lambda emit, x: emit(OP.strided_slice(x, [0], [3], [-9], [-1])),
            [(N, 2)],
            "main: strided_slice: axis 0 of argument 0, which is n, cannot be padded:"
            " the slice is taken backwards",
        ),
        (
            lambda emit, x: emit(OP.nn.pad(x, (-1, 0, 0, 0))),
            [(N, 2)],
            "main: nn.pad: axis 0 of argument 0, which is n, cannot be padded:"
            " there is no rule for negative widths",
        ),
        (
            lambda emit, x: emit(relax.call_dps_packed("f", [x], tvm_api.type_of(x))),
            [(N, 2)],
            "main: call_dps_packed: axis 0 of argument 1, which is n, cannot be padded:"
            " there is no rule for the operator",
        ),
        (
            lambda emit, x: emit(OP.shape_of(x)),
            [(N, 2)],
            "main: shape_of: axis 0 of argument 0, which is n, cannot be padded:"
            " there is no rule for the operator",
        ),
        (
            lambda emit, x: emit(OP.eye(N)),
            [(N, 2)],
            "main: eye: argument 0 has (n), and there is no rule for the operator",
        ),
        (
            lambda emit, x: emit(OP.tile(x, (2,))),
            [(N,)],
            "main: tile: axis 0 of argument 0, which is n, cannot be padded:"
            " there is no rule for the operator",
        ),
        (
            lambda emit, x, y: emit(OP.add(x, y)),
            [(N,), (3,)],
            "main: add: the dimensions of its arguments and its result must be known",
        ),
        (
            lambda emit, x, y: emit(OP.add(x, y)),
            [(N,), (tvm_api.shape_var("m"),)],
            "main: n must be the only symbol of the inputs, got n, m",
        ),
        (
            lambda emit, x: emit(OP.exp(x)),
            [(N // 2,)],
            "main: no dimension of the inputs tells n",
        ),
    ],
)
def test_operators_that_padding_would_change_are_refused(
    body: Any, shapes: Any, message: str
) -> None:
    module = program(body, *shapes)
    with refused(message):
        fixes.bucketed(module, "n", [8])


def test_calls_of_no_operator_are_refused() -> None:
    builder = relax.BlockBuilder()
    y = relax.Var("y", tvm_api.tensor_type((tvm_api.shape_var("k"),), "float32"))
    with builder.function("inner", [y]):
        builder.emit_func_output(builder.emit(OP.exp(y)))
    inner = builder.get().get_global_var("inner")

    def make() -> Any:
        return relax.Var("x", tvm_api.tensor_type((N,), "float32"))

    x = make()
    with builder.function("main", [x]):
        builder.emit_func_output(builder.emit(relax.Call(inner, [x])))
    with refused("main: the call of inner: there is no rule that tells how to pad it"):
        fixes.bucketed(builder.get(), "n", [8])

    builder, x = relax.BlockBuilder(), make()
    with builder.function("main", [x]):
        cast = builder.match_cast(x, tvm_api.tensor_type((tvm_api.shape_var("k"),), "float32"))
        builder.emit_func_output(builder.emit(OP.exp(cast)))
    with refused("main: match_cast: there is no rule that tells how to pad it"):
        fixes.bucketed(builder.get(), "n", [8])

    x, which = make(), relax.Var("which", tvm_api.tensor_type((), "bool"))
    wanted = tvm_api.type_of(x)
    choice = relax.If(which, relax.SeqExpr([], x), relax.SeqExpr([], x))
    result = relax.Var("r", wanted)
    blocks = [relax.BindingBlock([relax.VarBinding(result, choice)])]
    function = relax.Function([which, x], relax.SeqExpr(blocks, result), wanted, True)
    module = tvm.IRModule({"main": function.with_attr("global_symbol", "main")})
    with refused("main: there is no rule for functions and branches within the function"):
        fixes.bucketed(module, "n", [8])
