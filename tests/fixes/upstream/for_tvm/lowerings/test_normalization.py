"""Normalizations in the dtype of their arguments, and over every axis."""

import numpy as np
import pytest
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


@pytest.mark.parametrize("axes", [[0], [1], [0, 1], [0, 2]])
def test_rms_norm_over_leading_axes(axes):
    array = sample(2, 3, 4).astype("float32")
    sizes = [array.shape[axis] for axis in axes]
    weight = np.arange(1, 1 + np.prod(sizes), dtype="float32").reshape(sizes)
    kind = getattr(relax, "TensorStructInfo", None) or relax.TensorType
    x = relax.Var("x", kind(array.shape, "float32"))
    w = relax.Var("w", kind(weight.shape, "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x, w]):
        builder.emit_func_output(builder.emit(relax.op.nn.rms_norm(x, w, axes=axes)))
    along = [size if axis in axes else 1 for axis, size in enumerate(array.shape)]
    want = normalized(array, tuple(axes), centred=False) * weight.reshape(along)
    np.testing.assert_allclose(run(builder.get(), array, weight), want, rtol=1e-5)


def test_rms_norm_over_axes_that_do_not_rise():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("n", 3, 4), "float32"), w: R.Tensor((4, 3), "float32")):
            with R.dataflow():
                y = R.nn.rms_norm(x, w, axes=[2, 1])
                R.output(y)
            return y

    array = sample(2, 3, 4).astype("float32")
    weight = np.arange(1, 13, dtype="float32").reshape(4, 3)
    want = normalized(array, (1, 2), centred=False) * weight.T
    np.testing.assert_allclose(run(Module, array, weight), want, rtol=1e-5)


def test_layer_norm_over_axes_that_do_not_rise():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("n", 3, 4), "float32"),
            w: R.Tensor((4, 3), "float32"),
            b: R.Tensor((4, 3), "float32"),
        ):
            with R.dataflow():
                y = R.nn.layer_norm(x, w, b, axes=[2, 1])
                R.output(y)
            return y

    array = sample(2, 3, 4).astype("float32")
    weight = np.arange(1, 13, dtype="float32").reshape(4, 3)
    bias = weight - 6
    want = normalized(array, (1, 2)) * weight.T + bias.T
    np.testing.assert_allclose(run(Module, array, weight, bias), want, rtol=1e-4, atol=1e-5)


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


def test_group_norm_of_small_deviations():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2, 4, "m"), "float32"),
            weight: R.Tensor((4,), "float32"),
            bias: R.Tensor((4,), "float32"),
        ):
            with R.dataflow():
                y = R.nn.group_norm(x, weight, bias, num_groups=2, channel_axis=1, axes=[2])
                R.output(y)
            return y

    array = (8192 + np.arange(-12, 12).reshape(2, 4, 3)).astype("float32")
    weight, bias = np.arange(1, 5, dtype="float32"), np.arange(4, dtype="float32")
    groups = array.reshape(4, 6).astype("float64")
    want = normalized(groups, 1).reshape(array.shape) * weight[:, None] + bias[:, None]
    np.testing.assert_allclose(run(Module, array, weight, bias), want, rtol=1e-4, atol=1e-5)


def test_instance_norm_of_small_deviations():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor((2, 4, "m"), "float32"),
            weight: R.Tensor((4,), "float32"),
            bias: R.Tensor((4,), "float32"),
        ):
            with R.dataflow():
                y = R.nn.instance_norm(x, weight, bias, channel_axis=1, axes=[2])
                R.output(y)
            return y

    array = (8192 + np.arange(-12, 12).reshape(2, 4, 3)).astype("float32")
    weight, bias = np.arange(1, 5, dtype="float32"), np.arange(4, dtype="float32")
    want = normalized(array.astype("float64"), 2) * weight[:, None] + bias[:, None]
    np.testing.assert_allclose(run(Module, array, weight, bias), want, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    tvm.testing.main()
