"""Attention with symbolic dimensions, windows, grouped queries, and large hidden scores."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def sample(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype("float32")


def reference(query, key, value, visible):
    scores = np.einsum("bqhd,bkhd->bhqk", query, key) / np.sqrt(query.shape[-1])
    scores = np.where(visible, scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("bhqk,bkhd->bqhd", weights, value)


def test_symbolic_batch():
    @I.ir_module
    class Module:
        @R.function
        def main(
            q: R.Tensor(("b", 4, 2, 8), "float32"),
            k: R.Tensor(("b", 4, 2, 8), "float32"),
            v: R.Tensor(("b", 4, 2, 8), "float32"),
        ):
            with R.dataflow():
                y = R.nn.attention(q, k, v)
                R.output(y)
            return y

    for batch in (1, 3):
        x = sample(batch, 4, 2, 8)
        expected = reference(x, x, x, np.full((4, 4), True))
        tvm.testing.assert_allclose(run(Module, x, x, x), expected, rtol=1e-5, atol=1e-5)


def test_window_under_causal_mask():
    @I.ir_module
    class Module:
        @R.function
        def main(
            q: R.Tensor((1, 5, 2, 8), "float32"),
            k: R.Tensor((1, 5, 2, 8), "float32"),
            v: R.Tensor((1, 5, 2, 8), "float32"),
        ):
            with R.dataflow():
                y = R.nn.attention(q, k, v, causal_mask="TopLeft", window_size=2)
                R.output(y)
            return y

    x = sample(1, 5, 2, 8)
    visible = np.tri(5, dtype=bool) & ~np.tri(5, k=-2, dtype=bool)
    expected = reference(x, x, x, visible)
    tvm.testing.assert_allclose(run(Module, x, x, x), expected, rtol=1e-5, atol=1e-5)


def test_grouped_queries():
    @I.ir_module
    class Module:
        @R.function
        def main(
            q: R.Tensor((2, 3, 4, 8), "float32"),
            k: R.Tensor((2, 5, 2, 8), "float32"),
            v: R.Tensor((2, 5, 2, 8), "float32"),
        ):
            with R.dataflow():
                y = R.nn.attention(q, k, v)
                R.output(y)
            return y

    q, k = sample(2, 3, 4, 8), sample(2, 5, 2, 8)
    shared = np.repeat(k, 2, axis=2)
    expected = reference(q, shared, shared, np.full((3, 5), True))
    tvm.testing.assert_allclose(run(Module, q, k, k), expected, rtol=1e-5, atol=1e-5)


def test_bias_far_below_zero_under_causal_mask():
    @I.ir_module
    class Module:
        @R.function
        def main(
            q: R.Tensor((1, 3, 1, 4), "float32"),
            k: R.Tensor((1, 3, 1, 4), "float32"),
            v: R.Tensor((1, 3, 1, 4), "float32"),
            bias: R.Tensor((1, 1, 3, 3), "float32"),
        ):
            with R.dataflow():
                y = R.nn.attention_bias(q, k, v, bias, causal_mask="TopLeft")
                R.output(y)
            return y

    x = sample(1, 3, 1, 4)
    # As much for every key: it changes no weight.
    bias = np.full((1, 1, 3, 3), -300, "float32")
    expected = reference(x, x, x, np.tri(3, dtype=bool))
    tvm.testing.assert_allclose(run(Module, x, x, x, bias), expected, rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    tvm.testing.main()
