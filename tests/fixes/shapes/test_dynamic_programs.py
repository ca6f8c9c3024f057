"""Whole programs over symbolic shapes, with all fixes together."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from tests.fixes import compiled

OP = relax.op
B, C, K, M, N, P = map(tvm_api.shape_var, "bckmnp")


def built(body: Any, *shapes: Any, fused: bool = False) -> Any:
    """A function of tensors of ``shapes``; a number stands for a known rank."""
    types = [
        tvm_api.unshaped_type(shape, "float32")
        if isinstance(shape, int)
        else tvm_api.tensor_type(shape, "float32")
        for shape in shapes
    ]
    builder = relax.BlockBuilder()
    parameters = [relax.Var(f"x{number}", type_) for number, type_ in enumerate(types)]
    with builder.function("main", parameters):
        with builder.dataflow():
            result = builder.emit_output(body(builder.emit, *parameters))
        builder.emit_func_output(result)
    with fixes.install():
        pipeline = fixes.pipeline(compiled.TARGET if fused else None)
        return compiled.build(builder.get(), pipeline=pipeline)


def samples(*sizes: Any) -> list[Any]:
    return [compiled.sample(size, seed=number) for number, size in enumerate(sizes)]


def u_net(emit: Any, x: Any, w: Any) -> Any:
    """Down by 2, up by 2, and a skip: it fits where the length is even."""
    down = emit(OP.nn.max_pool1d(x, (2,), strides=(2,)))
    return emit(OP.add(emit(OP.nn.conv1d(emit(OP.repeat(down, 2, 2)), w, padding=1)), x))


@pytest.mark.parametrize(
    ("length", "refusal"),
    [
        (M * 2, "main: dimension 2 of input 'x0' must be m * 2 for an integer m, got 3"),
        (
            M,
            "main: add: dimensions m // 2 * 2 and m must be equal, or one of them 1, got 2 and 3"
            " (m is dimension 2 of input 'x0')",
        ),
    ],
)
def test_a_u_net_of_even_lengths(length: Any, refusal: str) -> None:
    run = built(u_net, (1, 2, length), (2, C, 3))
    for size in (2, 6):
        x, w = samples((1, 2, size), (2, 2, 3))
        up = np.pad(x.reshape(1, 2, -1, 2).max(3).repeat(2, 2), ((0, 0), (0, 0), (1, 1)))
        taps = [np.einsum("ncw,oc->now", up[..., t : t + size], w[..., t]) for t in range(3)]
        np.testing.assert_allclose(run(x, w), sum(taps) + x, atol=1e-4)
    with pytest.raises(AssertionError, match=compiled.whole(refusal)):
        run(*samples((1, 2, 3), (2, 2, 3)))
    with pytest.raises(AssertionError, match="channels of data and kernel 2 and c must be equal"):
        run(*samples((1, 2, 4), (2, 3, 3)))


@pytest.mark.parametrize("fused", [False, True])
def test_inputs_of_unknown_shape_are_broadcast_and_summed(fused: bool) -> None:
    run = built(lambda emit, x, y: emit(OP.sum(emit(OP.add(x, y)), axis=[1])), 2, 2, fused=fused)
    for sizes in (((2, 3), (1, 3)), ((2, 1), (2, 4)), ((2, 0), (1, 0)), ((2, 0), (1, 1))):
        x, y = samples(*sizes)
        np.testing.assert_allclose(run(x, y), (x + y).sum(1), atol=1e-5)
    with pytest.raises(AssertionError, match="main: add: dimensions x0_0 and x1_0 must be equal"):
        run(*samples((2, 3), (3, 3)))


@pytest.mark.parametrize("fused", [False, True])
def test_a_cache_that_grows(fused: bool) -> None:
    def body(emit: Any, query: Any, past: Any, new: Any) -> Any:
        both = emit(OP.concat([past, new], 1))
        return emit(OP.nn.attention(query, both, both))

    run = built(body, (C, M, 2, 4), (B, P, 2, 4), (B, N, 2, 4), fused=fused)
    for past in (3, 0):
        query, old, new = samples((1, 2, 2, 4), (1, past, 2, 4), (1, 2, 2, 4))
        both = np.concatenate([old, new], 1)
        scores = np.exp(np.einsum("bqhd,bkhd->bhqk", query, both) / 2)
        weights = scores / scores.sum(-1, keepdims=True)
        want = np.einsum("bhqk,bkhd->bqhd", weights, both)
        np.testing.assert_allclose(run(query, old, new), want, atol=1e-5)
    with pytest.raises(AssertionError, match="batch of query and key c and b must be equal"):
        run(*samples((2, 2, 2, 4), (1, 3, 2, 4), (1, 2, 2, 4)))


def test_a_static_program_is_built_as_before() -> None:
    module = compiled.module(lambda x, w: OP.nn.relu(OP.matmul(x, w)), (2, 3), (3, 4))
    for fix in fixes.ALL:
        for module_pass in fix.passes:
            assert module_pass.run(module).same_as(module), fix.name
