"""Identities, grids, slices and medians at the edges of what they take."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def _run(module, *arrays):
    executable = relax.build(module, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*map(tvm.runtime.tensor, arrays)).numpy()


def test_dtypes_of_identities():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 3), "float32")):
            with R.dataflow():
                y = R.eye_like(x, 1, "int8")
                R.output(y)
            return y

    actual = _run(Module, np.zeros((2, 3), "float32"))
    assert actual.dtype == "int8"
    tvm.testing.assert_allclose(actual, np.eye(2, 3, 1))


def test_grids_of_one_tensor():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((3,), "float32")):
            with R.dataflow():
                grids = R.meshgrid((x,))
                y = grids[0]
                R.output(y)
            return y

    x = np.arange(3, dtype="float32")
    tvm.testing.assert_allclose(_run(Module, x), x)


def test_axes_from_the_end():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "int64")):
            with R.dataflow():
                y = R.one_hot(x, R.prim_value(1), R.prim_value(0), 3, axis=-2)
                R.output(y)
            return y

    actual = _run(Module, np.array([2, 0]))
    tvm.testing.assert_allclose(actual, [[0, 1], [0, 0], [1, 0]])


def test_symbolic_slices():
    n = tvm.tirx.Var("n", "int64")
    data = relax.Var("x", R.Tensor((n,), "float32"))
    new = relax.Var("u", R.Tensor((n - 1,), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [data, new]):
        with builder.dataflow():
            y = builder.emit_output(relax.op.slice_scatter(data, new, 1, n, 1))
        builder.emit_func_output(y)
    actual = _run(builder.get(), np.zeros(3, "float32"), np.array([4, 5], "float32"))
    tvm.testing.assert_allclose(actual, [0, 4, 5])


def test_kept_dimensions():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2, 2), "float32")):
            with R.dataflow():
                y = R.median(x, keepdims=True)
                R.output(y)
            return y

    actual = _run(Module, np.arange(4, dtype="float32").reshape(2, 2))
    assert actual.shape == (1, 1)
    tvm.testing.assert_allclose(actual, [[1]])


def test_outer_products():
    @I.ir_module
    class Module:
        @R.function
        def main(x: R.Tensor((2,), "float32"), y: R.Tensor((3,), "float32")):
            with R.dataflow():
                z = R.outer(x, y)
                R.output(z)
            return z

    x, y = np.arange(2, dtype="float32"), np.arange(3, dtype="float32")
    actual = _run(relax.transform.ToMixedPrecision()(Module), x, y)
    tvm.testing.assert_allclose(actual, np.outer(x, y))


if __name__ == "__main__":
    tvm.testing.main()
