"""Attention over sequences laid end to end is attention over each of them."""

import numpy as np
import pytest
import tvm
import tvm.testing
from tvm import relax
from tvm.script import relax as R


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def sample(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def module(shapes, call):
    builder = relax.BlockBuilder()
    variables = [
        relax.Var(f"x{number}", R.Tensor(shape, dtype))
        for number, (shape, dtype) in enumerate(shapes)
    ]
    with builder.function("main", variables):
        with builder.dataflow():
            output = builder.emit_output(call(*variables))
        builder.emit_func_output(output)
    return builder.get()


@pytest.mark.parametrize("causal_mask", [None, "TopLeft"])
def test_two_sequences(causal_mask):
    def packed(q, k, v, starts, longest):
        return relax.op.nn.attention_var_len(
            q, k, v, starts, longest, starts, longest, causal_mask=causal_mask
        )

    def alone(q, k, v):
        return relax.op.nn.attention(q, k, v, causal_mask=causal_mask)

    whole = ((1, 5, 2, 4), "float32")
    mod = module([whole, whole, whole, ((3,), "int32"), ((), "int32")], packed)
    x = sample(1, 5, 2, 4)
    result = run(mod, x, x, x, np.array([0, 2, 5], "int32"), np.array(3, "int32"))
    for part in (slice(0, 2), slice(2, 5)):
        sequence = np.ascontiguousarray(x[:, part])
        expected = run(
            module([(sequence.shape, "float32")] * 3, alone), sequence, sequence, sequence
        )
        tvm.testing.assert_allclose(result[:, part], expected, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
