"""Operators over symbolic dimensions are fused, or left alone where they cannot be."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def run(mod, *arrays):
    target = tvm.target.Target("llvm")
    executable = relax.build(mod, target, relax_pipeline=relax.get_default_pipeline(target))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_a_strided_convolution():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 1, "m"), "float32"), w: R.Tensor((1, 1, 2), "float32")):
            with R.dataflow():
                y = R.nn.relu(R.nn.conv1d(x, w, strides=3))
                R.output(y)
            return y

    data = np.arange(8, dtype="float32").reshape(1, 1, 8) - 3
    result = run(Module, data, np.ones((1, 1, 2), "float32"))
    np.testing.assert_array_equal(result, [[[0, 1, 7]]])


def test_a_convolution_of_what_is_repeated():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, 2, "m"), "float32"), w: R.Tensor((2, 2, 1), "float32")):
            with R.dataflow():
                y = R.nn.relu(R.nn.conv1d(R.repeat(x, 2, 2), w))
                R.output(y)
            return y

    data = np.arange(4, dtype="float32").reshape(1, 2, 2)
    result = run(Module, data, np.ones((2, 2, 1), "float32"))
    np.testing.assert_array_equal(result, [[[2, 2, 4, 4]] * 2])


def test_a_slice_whose_bound_may_be_negative():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32")):
            m = T.int64()
            with R.dataflow():
                y = R.nn.relu(R.strided_slice(x, [0], [0], [m - 2], [1]))
                R.output(y)
            return y

    result = run(Module, np.arange(5, dtype="float32") - 1)
    np.testing.assert_array_equal(result, [0, 0, 1])


def test_a_cast_between_two_calls():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32")):
            m = T.int64()
            with R.dataflow():
                y = R.exp(x)
                z = R.match_cast(y, R.Tensor((m,), "float32"))
                w = R.multiply(z, y)
                R.output(w)
            return w

    data = np.arange(5, dtype="float32") / 4
    np.testing.assert_allclose(run(Module, data), np.exp(data) ** 2, rtol=1e-5)


def test_fusible_calls_are_fused():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32")):
            with R.dataflow():
                y = R.nn.relu(R.exp(x))
                R.output(y)
            return y

    module = Module
    for step in ("LegalizeOps", "AnnotateTIROpPattern", "FuseOps", "FuseTIR"):
        module = getattr(relax.transform, step)()(module)
    assert str(module).count("R.call_tir(") == 1


if __name__ == "__main__":
    tvm.testing.main()
