"""A permutation of a tensor without elements compiles, whatever stands before and after it."""

import numpy as np
import pytest
import tvm
from tvm import relax

import fixes
from fixes import empty_permute, tvm_api


@pytest.mark.parametrize("mode", ["bytecode", "compiled"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 0, 3), (1, 0, 2)),
        ((1, 0, 1, "H"), (1, 3, 0, 2)),
        ((0, 3), (1, 0)),
        ((2, 0, 3, 4), (-2, 0, -1, 1)),
        ((2, 0, 3), None),
    ],
)
def test_an_empty_permutation_runs(
    shape: tuple[int | str, ...], axes: tuple[int, ...] | None, mode: str
) -> None:
    height = tvm_api.shape_var("H")
    dims = [height if dim == "H" else dim for dim in shape]
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type(dims, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            permuted = builder.emit(relax.op.permute_dims(relax.op.nn.relu(x), axes and list(axes)))
            result = builder.emit_output(relax.op.nn.relu(permuted))
        builder.emit_func_output(result)
    with fixes.install():
        built = relax.build(builder.get(), "llvm", exec_mode=mode)
    array = np.ones([3 if dim == "H" else dim for dim in shape], np.float32)
    out = relax.VirtualMachine(built, tvm.cpu())["main"](tvm.runtime.tensor(array))
    assert tuple(out.shape) == array.transpose(axes).shape


def test_a_tensor_with_elements_is_lowered_as_before() -> None:
    x = relax.Var("x", tvm_api.tensor_type((2, 3), "float32"))
    call = relax.BlockBuilder().normalize(relax.op.permute_dims(x, [1, 0]))
    with fixes.install():
        lowered = call.op.get_attr("FLegalize")(relax.BlockBuilder(), call)
    assert lowered.op.name == "relax.call_tir"


def test_this_tvm_needs_it() -> None:
    assert empty_permute.FIX.needed()
