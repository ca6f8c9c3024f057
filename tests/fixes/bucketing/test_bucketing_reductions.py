"""Static programs that reduce over the padded axis agree with the symbolic program."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from tests.fixes import compiled
from tests.fixes.bucketed_programs import OP, N, agrees, program, refused

ONE = relax.const(1, "float32")


def sums(emit: Any, x: Any) -> Any:
    """Sums of elements that are not 0 past the end: over the padded axis, another one, and both."""
    y = emit(OP.add(x, ONE))
    twice = emit(OP.sum(y, [0], keepdims=True))
    return emit(
        relax.Tuple(
            [
                emit(OP.sum(y)),
                emit(OP.sum(y, [1])),
                emit(OP.add(twice, y)),
                emit(OP.prod(emit(OP.divide(x, x)), [-1])),
                emit(OP.sum(x, [0, 1])),
            ]
        )
    )


def extremes(emit: Any, x: Any) -> Any:
    """Extremes below and above the padding's values, and the index of the first of several."""
    low, high = emit(OP.negative(x)), emit(OP.add(x, ONE))
    whole = emit(OP.astype(low, "int32"))
    return emit(
        relax.Tuple(
            [
                emit(OP.max(low, [1])),
                emit(OP.min(high, [1])),
                emit(OP.max(whole, [1])),
                emit(OP.min(emit(OP.negative(whole)), [1])),
                emit(OP.argmax(low, 1)),
                emit(OP.argmin(high, 1, keepdims=True)),
                emit(OP.argmax(emit(OP.permute_dims(low)))),
            ]
        )
    )


def means(emit: Any, x: Any) -> Any:
    y = emit(OP.add(x, ONE))
    return emit(
        relax.Tuple(
            [
                emit(OP.mean(y, [1])),
                emit(OP.mean(y)),
                emit(OP.subtract(y, emit(OP.mean(y, [-1], keepdims=True)))),
                emit(OP.variance(y, [1])),
                emit(OP.std(y)),
                emit(OP.variance(y, [0])),
            ]
        )
    )


def shares(emit: Any, x: Any) -> Any:
    """Elements of -infinity alone give NaN."""
    y = emit(OP.add(x, ONE))
    none = emit(OP.nn.softmax(emit(OP.log(emit(OP.subtract(x, x)))), 1))
    return emit(relax.Tuple([emit(OP.nn.softmax(y, 1)), emit(OP.nn.log_softmax(y, -1)), none]))


def products(emit: Any, x: Any, y: Any, v: Any) -> Any:
    """An infinity past the end times zero is NaN."""
    left = emit(OP.matmul(emit(OP.divide(ONE, x)), emit(OP.add(y, ONE))))
    right = emit(OP.matmul(emit(OP.add(x, ONE)), emit(OP.divide(ONE, y))))
    return emit(relax.Tuple([left, right, emit(OP.matmul(v, emit(OP.divide(ONE, v))))]))


def channels(emit: Any, x: Any, w: Any) -> Any:
    return emit(OP.nn.conv1d(emit(OP.add(x, ONE)), emit(OP.add(w, ONE)), padding=1))


def seen(emit: Any, q: Any, k: Any, v: Any) -> Any:
    """Keys of a length other than the queries', with infinities past the end."""
    return emit(OP.nn.attention(q, emit(OP.add(k, ONE)), emit(OP.divide(ONE, v)), scale=0.5))


def biased(emit: Any, q: Any, k: Any, b: Any) -> Any:
    return emit(OP.nn.attention(q, k, emit(OP.divide(ONE, k)), emit(OP.add(b, ONE))))


def itself(emit: Any, q: Any) -> Any:
    """Each position sees those before it; queries, keys and values are padded."""
    k = emit(OP.divide(ONE, q))
    return emit(OP.nn.attention(q, k, k, causal_mask="TopLeft"))


EXACT: dict[str, tuple[Any, list[Any]]] = {
    "sums": (sums, [(2, N)]),
    "extremes": (extremes, [(3, N)]),
    "channels": (channels, [(1, N, 5), (2, N, 3)]),
}
ROUNDED: dict[str, tuple[Any, list[Any]]] = {
    "means": (means, [(2, N)]),
    "shares": (shares, [(3, N)]),
    "products": (products, [(2, N), (N, 3), (N,)]),
    "keys": (seen, [(1, 3, 2, 4), (1, N, 2, 4), (1, N, 2, 4)]),
    "biases": (biased, [(1, 3, 2, 4), (1, N, 2, 4), (1, 2, 3, N)]),
    "causal": (itself, [(1, N, 2, 4)]),
}
SIZES = (1, 2, 5, 7, 8)


@pytest.mark.parametrize("name", EXACT)
def test_whole_numbers(name: str) -> None:
    body, shapes = EXACT[name]
    agrees(program(body, *shapes), [5, 8], SIZES)


def test_nothing_is_reduced() -> None:
    """TVM never writes the output; a maximum has no value."""
    arrays = [np.zeros((2, 0), "float32")]
    made = program(lambda emit, x: emit(OP.sum(emit(OP.add(x, ONE)), [1])), (2, N))
    result = fixes.bucketed(made, "n", [5], compiled.TARGET)(*arrays)
    np.testing.assert_array_equal(result.numpy(), [0, 0])
    made = program(lambda emit, x: emit(OP.max(x, [1])), (2, N))
    wanted = "the reduced dimension n must be at least 1, got 0 (n is dimension 1 of input 'x0')"
    with refused(f"main: max: {wanted}"):
        fixes.bucketed(made, "n", [5], compiled.TARGET)(*arrays)


@pytest.mark.parametrize("name", ROUNDED)
def test_values(name: str) -> None:
    """Up to the order in which sums are rounded."""
    body, shapes = ROUNDED[name]
    agrees(program(body, *shapes), [5, 8], SIZES, within=3e-6)


def test_narrow_floats_are_counted_as_integers() -> None:
    """Sums of ones in float16 reach 2048 at most."""
    module = program(lambda emit, x: emit(OP.mean(x)), (N,), dtypes=["float16"])
    run = fixes.bucketed(module, "n", [4096], compiled.TARGET)
    result = run(np.concatenate([np.full(16, 128, "float16"), np.zeros(2984, "float16")]))
    np.testing.assert_array_equal(result.numpy(), np.float16(2048 / 3000))


def test_unpadded_reductions_are_left_unchanged() -> None:
    made = program(lambda emit, x: emit(OP.mean(x, [1])), (N, 4))
    run = fixes.bucketed(made, "n", [4], compiled.TARGET)
    assert "ones" not in str(run._program.module)
