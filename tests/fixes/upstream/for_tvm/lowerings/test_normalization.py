"""Normalizations in the dtype of their arguments, and over every axis."""

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


def normalized(array, axes, centred=True):
    apart = array - centred * array.mean(axes, keepdims=True)
    return apart / np.sqrt((apart**2).mean(axes, keepdims=True) + 1e-5)


def sample(*shape):
    return np.random.default_rng(0).standard_normal(shape)


def test_layer_norm_of_float64():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n", 4), "float64"),
            w: R.Tensor((4,), "float64"),
            b: R.Tensor((4,), "float64"),
        ):
            with R.dataflow():
                y = R.nn.layer_norm(x, w, b, axes=[-1])
                R.output(y)
            return y

    array = sample(3, 4)
    result = run(Module, array, np.ones(4), np.zeros(4))
    np.testing.assert_allclose(result, normalized(array, (1,)), rtol=1e-12)


def test_rms_norm_of_float64():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float64"), w: R.Tensor((4,), "float64")):
            with R.dataflow():
                y = R.nn.rms_norm(x, w, axes=[-1])
                R.output(y)
            return y

    array = sample(3, 4)
    result = run(Module, array, np.ones(4))
    np.testing.assert_allclose(result, normalized(array, (1,), centred=False), rtol=1e-12)


def test_rms_norm_over_all_axes():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor(("n", 4), "float32")):
            with R.dataflow():
                y = R.nn.rms_norm(x, w, axes=[0, 1])
                R.output(y)
            return y

    array = sample(3, 4).astype("float32")
    want = normalized(array, (0, 1), centred=False)
    np.testing.assert_allclose(run(Module, array, np.ones_like(array)), want, rtol=1e-5)


def test_batch_norm_of_float16():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n", 4), "float16"),
            w: R.Tensor((4,), "float16"),
            b: R.Tensor((4,), "float16"),
            m: R.Tensor((4,), "float16"),
            v: R.Tensor((4,), "float16"),
        ):
            with R.dataflow():
                result = R.nn.batch_norm(x, w, b, m, v, axis=1, training=False)
                y = R.add(x, result[0])
                R.output(y)
            return y

    ones, zeros = np.ones(4, "float16"), np.zeros(4, "float16")
    array = sample(3, 4).astype("float16")
    result = run(Module, array, ones, zeros, zeros, ones)
    assert result.dtype == "float16"
    np.testing.assert_allclose(result, 2 * array, rtol=1e-2)


def test_group_norm_over_expressions():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((1, 4, "m - 1", "m"), "float32"),
            weight: R.Tensor((4,), "float32"),
            bias: R.Tensor((4,), "float32"),
        ):
            with R.dataflow():
                y = R.nn.group_norm(x, weight, bias, num_groups=2, channel_axis=1, axes=[2, 3])
                R.output(y)
            return y

    array = np.random.default_rng(1).standard_normal((1, 4, 2, 3)).astype("float32")
    weight, bias = np.arange(1, 5, dtype="float32"), np.arange(4, dtype="float32")
    groups = array.reshape(2, 12).astype("float64")
    apart = groups - groups.mean(1, keepdims=True)
    want = (apart / np.sqrt((apart**2).mean(1, keepdims=True) + 1e-5)).reshape(array.shape)
    want = want * weight[:, None, None] + bias[:, None, None]
    np.testing.assert_allclose(run(Module, array, weight, bias), want, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
