"""Relax bindings read back for the oracle."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.models.forcing import Part
from relaxcheck.harness.models.meaning import Forbidden, NoMeaning, meaning

X = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)


def part(*shape: Any, make: Any) -> Part:
    """The program ``make(builder, x)`` of an operand of float32."""
    x = relax.Var("x", tvm_api.tensor_type(shape, "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            made = builder.emit(make(builder, x))
            result = builder.emit_output(relax.Tuple([made]))
        builder.emit_func_output(result)
    return Part(builder.get(), ("x",), ("made",))


CALLS = {
    "softmax": (lambda b, x: relax.op.nn.softmax(x, axis=0), None),
    "sum": (lambda b, x: relax.op.sum(x, axis=[1], keepdims=True), X.sum(1, keepdims=True)),
    "reshape": (lambda b, x: relax.op.reshape(x, (2, 6)), X.reshape(2, 6)),
    "concat": (lambda b, x: relax.op.concat([x, x], axis=1), np.concatenate([X, X], 1)),
    "split": (
        lambda b, x: relax.TupleGetItem(b.emit(relax.op.split(x, [1], axis=0)), 1),
        X[1:],
    ),
    "slice": (
        lambda b, x: relax.op.strided_slice(x, [1], [1], [4], [2]),
        X[:, 1:4:2],
    ),
    "constant": (lambda b, x: relax.op.add(x, relax.const(np.float32(2))), X + 2),
    "cast": (lambda b, x: relax.op.astype(x, "int32"), X.astype(np.int32)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_means_what_its_operator_says(name: str) -> None:
    make, wanted = CALLS[name]
    (value,) = meaning(part(3, 4, make=make), [X])
    if wanted is None:
        shifted = np.exp(X.astype(np.float64))
        wanted = shifted / shifted.sum(0)
    np.testing.assert_allclose(value.value, wanted, rtol=1e-5, atol=1e-6)


def test_symbolic_dimensions_have_the_sizes_of_the_operand() -> None:
    n = tvm_api.shape_var("n")
    program = part(n, 4, make=lambda b, x: relax.op.reshape(x, [n * 4]))
    (value,) = meaning(program, [X])
    np.testing.assert_array_equal(value.value, X.reshape(-1))


def test_an_index_out_of_bounds_has_no_meaning() -> None:
    index = relax.const(np.array(-1))
    taking = part(3, 4, make=lambda b, x: relax.op.take(x, index, axis=0, mode="fast"))
    with pytest.raises(Forbidden, match="index"):
        meaning(taking, [X])


def test_a_call_that_is_not_read_whole_is_not_evaluated() -> None:
    def packed(builder: Any, x: Any) -> Any:
        return builder.call_te(lambda y: tvm.topi.exp(y), x)

    with pytest.raises(NoMeaning, match="is no tensor"):
        meaning(part(3, 4, make=packed), [X])
