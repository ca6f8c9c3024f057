"""Axes that count from the end."""

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


def test_batch_norm_of_last_axis():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((4, 3), "float32"),
            gamma: R.Tensor((3,), "float32"),
            beta: R.Tensor((3,), "float32"),
            mean: R.Tensor((3,), "float32"),
            variance: R.Tensor((3,), "float32"),
        ):
            with R.dataflow():
                y = R.nn.batch_norm(x, gamma, beta, mean, variance, axis=-1, training=True)
                z = y[0]
                R.output(z)
            return z

    x = np.random.default_rng(0).standard_normal((4, 3)).astype("float32")
    ones, zeros = np.ones(3, "float32"), np.zeros(3, "float32")
    expected = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
    result = run(Module, x, ones, zeros, zeros, ones)
    tvm.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_slice_of_last_axis():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32")):
            with R.dataflow():
                y = R.strided_slice(x, axes=[-1], begin=[1], end=[4], strides=[2])
                R.output(y)
            return y

    x = np.arange(8, dtype="float32").reshape(2, 4)
    tvm.testing.assert_allclose(run(Module, x), x[:, 1:4:2])


if __name__ == "__main__":
    tvm.testing.main()
