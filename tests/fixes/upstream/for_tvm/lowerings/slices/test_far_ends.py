"""An axis is turned around by a slice to an end that is further than any dimension."""

import numpy as np
import tvm
import tvm.testing
from tvm import relax, tirx


def module(make, shape, then=lambda x, y: relax.op.nn.relu(y)):
    builder = relax.BlockBuilder()
    x = relax.Var("x", shape)
    with builder.function("main", [x]):
        with builder.dataflow():
            y = builder.emit(make(x))
            z = builder.emit_output(then(x, y))
        builder.emit_func_output(z)
    return builder.get()


def run(mod, *arrays):
    executable = relax.build(mod, tvm.target.Target("llvm"))
    vm = relax.VirtualMachine(executable, tvm.cpu())
    return vm["main"](*(tvm.runtime.tensor(array) for array in arrays)).numpy()


def symbolic(*sizes):
    kind = getattr(relax, "TensorStructInfo", None) or relax.TensorType
    return kind(
        [tirx.Var(size, "int64") if isinstance(size, str) else size for size in sizes], "float32"
    )


def test_backwards():
    mod = module(
        lambda x: relax.op.strided_slice(x, [1], [-1], [1 - 2**31], [-1]),
        symbolic("m", "n"),
        relax.op.add,
    )
    array = np.arange(6, dtype="float32").reshape(2, 3)
    np.testing.assert_array_equal(run(mod, array), array + array[:, ::-1])


def test_forwards():
    mod = module(
        lambda x: relax.op.strided_slice(x, [1], [1], [2**31 - 1], [2]), symbolic("m", "n")
    )
    array = np.arange(10, dtype="float32").reshape(2, 5)
    np.testing.assert_array_equal(run(mod, array), array[:, 1::2])
    assert run(mod, array[:, :0]).shape == (2, 0)


def test_an_end_that_is_near_stays():
    mod = module(lambda x: relax.op.strided_slice(x, [0], [0], [2]), symbolic("m"))
    assert run(mod, np.ones(1, "float32")).shape == (1,)
    assert run(mod, np.ones(3, "float32")).shape == (2,)


if __name__ == "__main__":
    tvm.testing.main()
