"""NaN is unequal to all, and infinities have places."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def run(mod, *arrays, fused=False):
    target = tvm.target.Target("llvm")
    pipeline = relax.get_default_pipeline(target) if fused else "default"
    executable = relax.build(mod, target, relax_pipeline=pipeline)
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def test_nan_is_unequal_to_itself():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            with R.dataflow():
                y = R.not_equal(x, x)
                R.output(y)
            return y

    result = run(Module, np.array([np.nan, 1], "float32"))
    np.testing.assert_array_equal(result, [True, False])


def test_nan_is_not_equal_to_itself():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            with R.dataflow():
                y = R.astype(R.equal(x, x), "float32")
                R.output(y)
            return y

    array = np.array([np.nan, 1], "float32")
    for fused in (False, True):
        np.testing.assert_array_equal(run(Module, array, fused=fused), [0, 1])


def test_infinity_less_itself_is_not_a_number():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32")):
            with R.dataflow():
                y = R.abs(R.subtract(x, x))
                R.output(y)
            return y

    array = np.array([np.inf, 1], "float32")
    for fused in (False, True):
        np.testing.assert_array_equal(run(Module, array, fused=fused), [np.nan, 0])


def test_the_first_of_infinities():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, "n"), "float32")):
            with R.dataflow():
                y = R.argmax(x, axis=1)
                R.output(y)
            return y

    array = np.array([[-np.inf, -np.inf], [-np.inf, 0]], "float32")
    np.testing.assert_array_equal(run(Module, array), [0, 1])


def test_the_first_of_the_largest_integers():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "int32")):
            with R.dataflow():
                y = R.argmin(x, axis=0)
                R.output(y)
            return y

    assert run(Module, np.full(3, 2**31 - 1, "int32")) == 0


if __name__ == "__main__":
    tvm.testing.main()
