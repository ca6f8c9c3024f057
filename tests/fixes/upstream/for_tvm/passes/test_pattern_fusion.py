"""Matches that another call has to run within are not fused."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.relax.dpl import is_op, wildcard
from tvm.script import ir as I
from tvm.script import relax as R

X = np.array([[1, 2, 3, 4], [0, -1, -2, -3]], "float32")


def run(mod, *arrays):
    vm = relax.VirtualMachine(relax.build(mod, tvm.target.Target("llvm")), tvm.cpu())
    result = vm["main"](*(tvm.runtime.tensor(array) for array in arrays))
    return result.numpy() if hasattr(result, "numpy") else [each.numpy() for each in result]


def exp_and_add(mod):
    chain = is_op("relax.add")(is_op("relax.exp")(wildcard()), wildcard())
    return relax.transform.FuseOpsByPattern([("exp_and_add", chain)])(mod)


def test_a_match_around_a_call():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            with R.dataflow():
                a = R.exp(x)
                b = R.negative(a)
                y = R.add(a, b)
                R.output(y)
            return y

    fused = exp_and_add(Module)
    assert "Composite" not in str(fused)
    np.testing.assert_array_equal(run(fused, X), np.zeros_like(X))


def test_a_value_of_two_matches():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            with R.dataflow():
                a = R.exp(x)
                b = R.add(a, a)
                c = R.nn.relu(b)
                y = R.add(a, c)
                R.output(y)
            return y

    np.testing.assert_allclose(run(exp_and_add(Module), X), 3 * np.exp(X), rtol=1e-5)


def test_a_match_of_its_own_is_fused():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32")):
            with R.dataflow():
                a = R.exp(x)
                y = R.add(a, x)
                R.output(y)
            return y

    fused = exp_and_add(Module)
    assert str(fused).count("Composite") == 1


def test_a_transposed_weight_that_is_used_otherwise():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((3, 4), "float32")):
            with R.dataflow():
                t = R.permute_dims(w)
                y = R.matmul(x, t)
                R.output(y, t)
            return (y, t)

    w = np.arange(12, dtype="float32").reshape(3, 4)
    product, transposed = run(relax.transform.FuseTransposeMatmul()(Module), X, w)
    np.testing.assert_allclose(product, X @ w.T)
    np.testing.assert_array_equal(transposed, w.T)


def test_a_transposed_weight_of_its_own_is_fused():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 4), "float32"), w: R.Tensor((3, 4), "float32")):
            with R.dataflow():
                t = R.permute_dims(w)
                y = R.matmul(x, t)
                R.output(y)
            return y

    assert "NT_matmul" in str(relax.transform.FuseTransposeMatmul()(Module))


if __name__ == "__main__":
    tvm.testing.main()
