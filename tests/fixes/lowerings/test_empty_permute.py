"""A permutation of a tensor without elements compiles, whatever stands before and after it."""

from typing import Any

import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.lowerings import empty_permute
from tests.fixes import compiled
from tests.fixes import whole_programs as whole


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
        machine = compiled.machine(builder.get(), exec_mode=mode)
    array = np.ones([3 if dim == "H" else dim for dim in shape], np.float32)
    out = machine["main"](tvm.runtime.tensor(array))
    assert tuple(out.shape) == array.transpose(axes).shape


def test_a_tensor_with_elements_is_lowered_as_before() -> None:
    x = relax.Var("x", tvm_api.tensor_type((2, 3), "float32"))
    call = relax.BlockBuilder().normalize(relax.op.permute_dims(x, [1, 0]))
    with fixes.install():
        lowered = call.op.get_attr("FLegalize")(relax.BlockBuilder(), call)
    assert lowered.op.name == "relax.call_tir"


def test_this_tvm_needs_it() -> None:
    assert empty_permute.FIX.needed()


@pytest.mark.parametrize("shape", [(1, 3, 1), (2, 1, "N"), (1, 1, 1), ("N", "M", 3)])
@pytest.mark.parametrize("axes", [None, [1, 2, 0]])
def test_values(fixes_on: None, shape: tuple[Any, ...], axes: list[int] | None) -> None:
    program = compiled.module(lambda x: relax.op.permute_dims(x, axes), shape)
    function = compiled.build(program)
    for binding in ({"N": 2, "M": 4}, {"N": 0, "M": 1}):
        array = compiled.sample(compiled.size(shape, binding))
        np.testing.assert_array_equal(function(array), array.transpose(axes))


@pytest.mark.parametrize("dtype", ["float16", "int8", "bool"])
def test_dtype_and_shape_of_an_empty_one(fixes_on: None, dtype: str) -> None:
    shape = (2, 0, "N", 5)
    for axes in (None, [3, 1, 0, 2], [-1, 0, -2, 1]):
        program = compiled.module(
            lambda x, axes=axes: relax.op.permute_dims(x, axes), shape, dtypes=(dtype,)
        )
        array = np.zeros((2, 0, 3, 5), dtype)
        out = compiled.build(program)(array)
        assert out.shape == array.transpose(axes).shape
        assert out.dtype == array.dtype


def test_the_lowered_function_reads_nothing(fixes_on: None) -> None:
    program = compiled.module(lambda x: relax.op.permute_dims(x, [1, 0]), (0, 3))
    text = str(relax.transform.LegalizeOps()(program))
    assert "T.reads()" in text
    assert 'R.Tensor((3, 0), dtype="float32")' in text


def test_the_lowering_of_tvm_is_asked_otherwise() -> None:
    program = compiled.module(lambda x: relax.op.permute_dims(x, [1, 0]), (2, 3))
    want = str(relax.transform.LegalizeOps()(program))
    with fixes.install():
        assert str(relax.transform.LegalizeOps()(program)) == want


@pytest.mark.parametrize(
    ("make", "needed"),
    [
        (lambda x: relax.op.reshape(x, (3, 2)), True),
        (lambda x: relax.op.permute_dims(x), False),
    ],
)
def test_a_reshape_is_the_fault(make: Any, needed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    rewritten = probes.program(make, (2, 3))
    monkeypatch.setattr(relax.transform, "RewriteDataflowReshape", lambda: lambda module: rewritten)
    assert empty_permute.FIX.needed() is needed


def test_an_empty_tensor_is_permuted_to_another_order_of_its_axes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original, seen = relax.op.permute_dims, []

    def construct(x: Any, axes: list[int]) -> Any:
        seen.append(([int(extent) for extent in tvm_api.shape_of(x.args[0])], axes))
        return original(x, axes)

    monkeypatch.setattr(relax.op, "permute_dims", construct)
    assert empty_permute.FIX.needed()
    ((shape, axes),) = seen
    assert shape.count(0) == 1
    assert sorted(axes) == list(range(len(shape)))
    # The 0 moves: in its old place it would mean "as before", and be right.
    assert axes.index(shape.index(0)) != shape.index(0)


def test_an_error_of_the_pass_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing() -> Any:
        def fail(module: Any) -> Any:
            raise RuntimeError("no")

        return fail

    monkeypatch.setattr(relax.transform, "RewriteDataflowReshape", failing)
    assert empty_permute.FIX.needed()


def test_a_pass_that_leaves_it_alone_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = []

    def harmless() -> Any:
        def leave(module: Any) -> Any:
            lowered.append("call_tir" in str(module))
            return module

        return leave

    monkeypatch.setattr(relax.transform, "RewriteDataflowReshape", harmless)
    assert not empty_permute.FIX.needed()
    assert lowered == [True]


PROGRAMS: whole.Programs = {
    "empty_permute": {
        "a dimension 0": (whole.upstream("empty_permute", "permutation_moves_the_empty_dimension"),)
    },
}

CURES: whole.Cures = {
    "conv1d-transpose-empty-permute": (("empty_permute", "a dimension 0"),),
}
