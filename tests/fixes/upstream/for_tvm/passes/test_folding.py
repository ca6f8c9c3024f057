"""Constants are folded in programs that are not lowered yet, whatever else is in them."""

import os
import tempfile

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def folded(mod):
    return relax.transform.FoldConstant()(mod)


def run(mod, *arrays):
    vm = relax.VirtualMachine(relax.build(mod, tvm.target.Target("llvm")), tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_a_shape_that_a_call_gives():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((1, "m"), "float32"), y: R.Tensor((3, "m"), "float32")):
            m = T.int64()
            shape = R.shape_of(y)
            with R.dataflow():
                z = R.broadcast_to(x, shape)
                w = R.match_cast(z, R.Tensor((3, m), "float32"))
                R.output(w)
            return w

    tvm.ir.assert_structural_equal(folded(Module), Module)


def test_a_call_on_an_unknown_shape():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32"), n: R.Tensor((1,), "int64")):
            with R.dataflow():
                y = R.tanh(R.dynamic_strided_slice(x, n, n, n))
                R.output(y)
            return y

    tvm.ir.assert_structural_equal(folded(Module), Module)


def test_a_call_that_is_lowered_to_several():
    @I.ir_module
    class Module:
        @R.function
        def main(
            x: R.Tensor(("m",), "float32"),
            begin: R.Tensor((1,), "int64"),
            end: R.Tensor((1,), "int64"),
            step: R.Tensor((1,), "int64"),
        ):
            with R.dataflow():
                y = R.dynamic_strided_slice(x, begin, end, step)
                R.output(y)
            return y

    numbers = (np.array([value], "int64") for value in (1, 6, 2))
    result = run(folded(Module), np.arange(7, dtype="float32"), *numbers)
    np.testing.assert_array_equal(result, [1, 3, 5])


def test_a_shape_with_a_symbol_as_a_tensor():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m", 2), "float32")):
            m = T.int64()
            with R.dataflow():
                y = R.shape_to_tensor(R.shape([m, 2]))
                R.output(y)
            return y

    result = run(folded(Module), np.zeros((5, 2), "float32"))
    np.testing.assert_array_equal(result, [5, 2])


def test_constants_are_folded():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor(("m",), "float32")):
            m = T.int64()
            with R.dataflow():
                two = R.add(R.const(1, "float32"), R.const(1, "float32"))
                y = R.multiply(R.reshape(x, R.shape([m])), R.multiply(two, two))
                R.output(y)
            return y

    result = folded(Module)
    assert "R.add" not in str(result)
    assert str(result).count("R.multiply") == 1
    data = np.arange(3, dtype="float32")
    np.testing.assert_array_equal(run(result, data), 4 * data)


def test_sizes_of_32_bits():
    @I.ir_module
    class Module:
        @R.function
        def main(sizes: R.Tensor((2,), "int32")):
            with R.dataflow():
                y = R.shape_to_tensor(R.tensor_to_shape(sizes))
                R.output(y)
            return y

    bound = relax.transform.BindParams("main", {"sizes": np.array([3, 2], "int32")})(Module)
    np.testing.assert_array_equal(run(folded(bound)), [3, 2])


def test_a_constant_without_elements_is_loaded():
    @I.ir_module
    class Module:
        @R.function
        def main():
            with R.dataflow():
                y = R.zeros(R.shape([3, 0]), "float32")
                R.output(y)
            return y

    lowered = relax.transform.LegalizeOps()(Module)
    executable = relax.build(folded(lowered), tvm.target.Target("llvm"))
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "library.so")
        executable.export_library(library)
        vm = relax.VirtualMachine(tvm.runtime.load_module(library), tvm.cpu())
    assert vm["main"]().numpy().shape == (3, 0)


if __name__ == "__main__":
    tvm.testing.main()
