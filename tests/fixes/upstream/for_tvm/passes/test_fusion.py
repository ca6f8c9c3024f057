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


def test_a_value_is_read_before_it_is_overwritten():
    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(private=True, s_tir=True)
        def negate(x: T.Buffer((T.int64(3),), "float32"), total: T.Buffer((), "float32")):
            for i in T.grid(T.int64(3)):
                with T.sblock("total"):
                    at = T.axis.remap("R", [i])
                    with T.init():
                        total[()] = T.float32(0)
                    total[()] = total[()] + x[at]
            for i in T.grid(T.int64(3)):
                with T.sblock("negate"):
                    at = T.axis.remap("S", [i])
                    x[at] = -x[at]

        @R.function
        def main(x: R.Tensor((3,), "float32")):
            cls = Module
            with R.dataflow():
                y = R.add(x, x)
                before = R.add(y, y)
                both = R.call_tir_inplace(
                    cls.negate, (y,), [0, -1], [R.Tensor((3,), "float32"), R.Tensor((), "float32")]
                )
                z = R.add(both[0], before)
                R.output(z)
            return z

    data = np.array([1, 3, 5], "float32")
    np.testing.assert_array_equal(run(Module, data), 2 * data)


def test_an_overwritten_tensor_of_equal_sizes():
    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(private=True, s_tir=True)
        def negate(handle: T.handle):
            rows = T.int64()
            columns = T.int64()
            x = T.match_buffer(handle, (rows, columns), "float32")
            for i, j in T.grid(rows, columns):
                with T.sblock("negate"):
                    row, column = T.axis.remap("SS", [i, j])
                    x[row, column] = -x[row, column]

        @R.function
        def main(x: R.Tensor(("m", "m"), "float32")):
            m = T.int64()
            cls = Module
            with R.dataflow():
                y = R.add(x, x)
                z = R.call_tir_inplace(cls.negate, (y,), [0], R.Tensor((m, m), "float32"))
                R.output(z)
            return z

    data = np.array([[1, 3], [5, 7]], "float32")
    np.testing.assert_array_equal(run(Module, data), -2 * data)


def test_an_element_of_a_tuple_in_a_tuple():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            with R.dataflow():
                t = (x, x)
                u = (t, x)
                v = u[0]
                w = v[1]
                R.output(w)
            return w

    data = np.array([1, 3, 5], "float32")
    np.testing.assert_array_equal(run(Module, data), data)


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
