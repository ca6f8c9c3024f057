"""A function that has a gradient is called as any other where no gradient is asked for."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax, te
from tvm.script import relax as R


def test_call_tir_with_grad_is_lowered():
    placeholder = te.placeholder((tvm.tirx.IntImm("int64", 3),), "float32", name="x")
    twice = te.compute(placeholder.shape, lambda i: placeholder(i) + placeholder(i))
    function = te.create_prim_func([placeholder, twice]).without_attr("global_symbol")
    x = relax.Var("x", R.Tensor((3,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            called = bb.add_func(function, "twice")
            call = relax.op.call_tir_with_grad(called, [x], R.Tensor((3,), "float32"), "gradient")
            y = bb.emit_output(bb.emit(call))
        bb.emit_func_output(y)
    vm = relax.VirtualMachine(relax.build(bb.get(), tvm.target.Target("llvm")), tvm.cpu())
    result = vm["main"](tvm.runtime.tensor(np.array([1, 2, 4], "float32"))).numpy()
    np.testing.assert_array_equal(result, [2, 4, 8])


if __name__ == "__main__":
    tvm.testing.main()
