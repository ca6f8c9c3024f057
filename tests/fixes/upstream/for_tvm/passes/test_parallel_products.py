"""Products by a constant and by a parameter are combined, or left alone where they cannot be."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax


def products(rows, constant=True):
    """The difference of products of one matrix by a parameter, and by a constant or another one."""
    bb = relax.BlockBuilder()
    kind = relax.TensorStructInfo if hasattr(relax, "TensorStructInfo") else relax.TensorType
    x = relax.Var("x", kind((rows, 4), "float32"))
    w, v = (relax.Var(name, kind((4, 3), "float32")) for name in "wv")
    with bb.function("main", [x, w] if constant else [x, w, v]):
        with bb.dataflow():
            other = relax.const(np.full((4, 3), 2, "float32")) if constant else v
            made = [bb.emit(relax.op.matmul(x, each)) for each in (w, other)]
            output = bb.emit_output(relax.op.subtract(*made))
        bb.emit_func_output(output)
    return bb.get()


def check(rows):
    module = relax.transform.CombineParallelMatmul()(products(rows))
    vm = relax.VirtualMachine(relax.build(module, tvm.target.Target("llvm")), tvm.cpu())
    x, w = np.arange(8, dtype="float32").reshape(2, 4), np.ones((4, 3), "float32")
    result = vm["main"](tvm.runtime.tensor(x), tvm.runtime.tensor(w)).numpy()
    np.testing.assert_array_equal(result, x @ (w - 2))


def test_a_symbolic_operand():
    check((getattr(tvm, "tirx", None) or tvm.tir).Var("n", "int64"))


def test_a_static_operand():
    check(2)


def test_parameters_are_combined():
    module = relax.transform.CombineParallelMatmul()(products(2, constant=False))
    assert str(module).count("R.matmul(") == 1


if __name__ == "__main__":
    tvm.testing.main()
