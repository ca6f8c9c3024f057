"""The memory of an overwritten argument is not given away while the result is used."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax
from tvm.script import relax as R

TYPES = "sinfo_args" if hasattr(relax, "TensorStructInfo") else "ty_args"


def run(mod, *arrays):
    vm = relax.VirtualMachine(relax.build(mod, tvm.target.Target("llvm")), tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def negated(call_arguments, indices, types, item=None):
    """Twice x, overwritten by a packed function, less the square of x, which comes after."""
    x = relax.Var("x", R.Tensor((3,), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            doubled = bb.emit(relax.op.add(x, x))
            call = relax.op.call_inplace_packed(
                *call_arguments, doubled, inplace_indices=indices, **{TYPES: types}
            )
            result = bb.emit(call)
            if item is not None:
                result = bb.emit(relax.TupleGetItem(result, item))
            squared = bb.emit(relax.op.multiply(x, x))
            output = bb.emit_output(relax.op.subtract(result, squared))
        bb.emit_func_output(output)
    return bb.get()


def test_one_result():
    @tvm.register_global_func("test.overwritten_memory.negate", override=True)
    def negate(x):
        x.copyfrom(-x.numpy())
        return x

    vector = R.Tensor((3,), "float32")
    module = negated(["test.overwritten_memory.negate"], [0], [vector])
    result = run(module, np.array([1, 3, 5], "float32"))
    np.testing.assert_array_equal(result, [-3, -15, -35])


def test_one_of_two_results():
    @tvm.register_global_func("test.overwritten_memory.negate_with_sum", override=True)
    def negate_with_sum(x):
        total = tvm.runtime.tensor(np.asarray(x.numpy().sum()))
        x.copyfrom(-x.numpy())
        return [total, x]

    types = [R.Tensor((), "float32"), R.Tensor((3,), "float32")]
    name = "test.overwritten_memory.negate_with_sum"
    module = negated([name], [-1, 0], types, item=1)
    result = run(module, np.array([1, 3, 5], "float32"))
    np.testing.assert_array_equal(result, [-3, -15, -35])


if __name__ == "__main__":
    tvm.testing.main()
