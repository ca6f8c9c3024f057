"""Views that begin inside of their tensor, which kernels take once they are copied."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.layouts import view_copies
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


def part(x: Any, count: Any, offset: Any) -> Any:
    return OP.memory.view(x, (count,), relative_byte_offset=offset)


def joined(builder: Any, x: Any) -> Any:
    """A view within a tuple, and a view of a view."""
    half = builder.emit(part(x, 2, 8))
    last = builder.emit(part(half, 1, 4))
    return builder.emit(OP.concat([half, last, x]))


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(
    ("make", "want"),
    [
        (lambda builder, x: builder.emit(OP.negative(part(x, 2, 4))), [-1, -2]),
        (lambda builder, x: builder.emit(part(x, 2, 8)), [2, 3]),
        (lambda builder, x: builder.emit(OP.negative(part(x, 2, 0))), [0, -1]),
        (joined, [2, 3, 3, 0, 1, 2, 3]),
    ],
)
def test_kernels_take_them(make: Any, want: list[float], fused: bool) -> None:
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type((4,), "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            result = builder.emit_output(make(builder, x))
        builder.emit_func_output(result)
    with installation.install([view_copies.FIX]):
        pipeline = relax.get_default_pipeline(compiled.TARGET) if fused else "default"
        run = compiled.build(builder.get(), pipeline=pipeline)
    assert run(np.arange(4, dtype="float32")).tolist() == want


def test_a_symbolic_offset() -> None:
    def last(x: Any) -> Any:
        (n,) = tvm_api.shape_of(x)
        return OP.negative(part(x, 1, (n - 1) * 4))

    with installation.install([view_copies.FIX]):
        run = compiled.build(compiled.module(last, ("N",)))
    for size in (1, 5):
        assert run(np.arange(size, dtype="float32")).tolist() == [1 - size]


@pytest.mark.parametrize(("offset", "copies"), [(None, 0), (0, 0), (4, 1)])
def test_views_without_an_offset_stay(offset: int | None, copies: int) -> None:
    module = compiled.module(lambda x: part(x, 2, offset), (4,))
    with installation.install([view_copies.FIX]):
        lowered = relax.transform.LowerRuntimeBuiltin()(module)
    assert lowered.script().count("ensure_zero_offset") == copies


PROGRAMS: whole.Programs = {
    "view_copies": {
        "kernels": (
            partial(
                whole.runs,
                lambda builder, x: builder.emit(OP.negative(builder.emit(part(x, 2, 8)))),
                (4,),
                sizes=[(4,)],
                want=[-1, -1],
            ),
            whole.upstream("view_copies", "kernel_on_a_view_with_an_offset"),
        ),
    },
}

CURES: whole.Cures = {
    "view-with-an-offset": (("view_copies", "kernels"),),
}
