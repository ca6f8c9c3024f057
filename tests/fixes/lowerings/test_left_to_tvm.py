"""A lowering passes the calls that it leaves to TVM's own on unchanged, and returns its result."""

from collections.abc import Callable
from typing import Any

import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import Fix
from relaxcheck.fixes.lowerings import (
    broadcasting,
    empty_tensors,
    integer_division,
)
from relaxcheck.fixes.lowerings.pooling import adaptive_pooling
from relaxcheck.fixes.lowerings.slices import symbolic_slices

OP = relax.op
M = tvm_api.shape_var("m")


def tensor(*shape: Any, dtype: str = "float32") -> Any:
    return tvm_api.tensor_type(shape, dtype)


def pooling(out: tuple[int, ...], **layouts: str) -> Callable[..., Any]:
    make = OP.nn.adaptive_avg_pool3d if len(out) == 3 else OP.nn.adaptive_avg_pool2d
    return lambda x: make(x, out, **layouts)


def sliced(begin: int, end: Any, step: int = 1, *, inbound: bool = False) -> Callable[..., Any]:
    return lambda x: OP.strided_slice(x, [0], [begin], [end], [step], assume_inbound=inbound)


LEFT: list[tuple[str, Fix, Callable[..., Any], tuple[Any, ...]]] = [
    ("mean of all", adaptive_pooling.FIX, pooling((1, 1)), (tensor(1, 1, 3, 2),)),
    (
        "another layout of the result",
        adaptive_pooling.FIX,
        pooling((2, 1), out_layout="NHWC"),
        (tensor(1, 1, 3, 2),),
    ),
    *(
        (layout, adaptive_pooling.FIX, pooling(out, layout=layout), (tensor(1, 1, *size, 2),))
        for layout, out, size in (
            ("NCHW2h", (4, 2), (3, 2)),
            ("NCHW2w", (2, 4), (3, 2)),
            ("NCDHW2d", (4, 2, 2), (3, 2, 2)),
        )
    ),
    (
        "no shape to broadcast",
        broadcasting.FIX,
        lambda x: OP.broadcast_to(x, (2, 3)),
        (tvm_api.unshaped_type(1, "float32"),),
    ),
    (
        "no symbol to broadcast",
        broadcasting.FIX,
        lambda x: OP.broadcast_to(x, (2, 3, M)),
        (tensor(1, M),),
    ),
    ("quotient of floats", integer_division.FIX, OP.divide, (tensor(2), tensor(2))),
    *(
        (f"no shape of operand {at}", integer_division.FIX, OP.divide, types)
        for at in (0, 1)
        for types in [(tensor(2, dtype="int32"), tvm_api.unshaped_type(1, "int32"))[:: 1 - 2 * at]]
    ),
    ("split of something", empty_tensors.FIX, lambda x: OP.split(x, 2), (tensor(2, 3),)),
    ("split of symbols", empty_tensors.FIX, lambda x: OP.split(x, 2), (tensor(2 * M, 3),)),
    ("mean of rows", empty_tensors.FIX, lambda x: OP.mean(x, 1), (tensor(2, 3),)),
    ("slice of numbers", symbolic_slices.FIX, sliced(0, 2), (tensor(M),)),
    ("slice backwards", symbolic_slices.FIX, sliced(-1, M, -1), (tensor(M),)),
    ("slice in bounds", symbolic_slices.FIX, sliced(0, M, inbound=True), (tensor(M),)),
]


@pytest.mark.parametrize(
    ("fix", "make", "types"), [case[1:] for case in LEFT], ids=[case[0] for case in LEFT]
)
def test_calls_that_are_left_to_tvm(
    fix: Fix, make: Callable[..., Any], types: tuple[Any, ...]
) -> None:
    builder = relax.BlockBuilder()
    call = builder.normalize(make(*(relax.Var(f"x{at}", each) for at, each in enumerate(types))))
    lowered = relax.const(1)

    def original(*arguments: Any) -> Any:
        assert len(arguments) == 2
        assert arguments[0] is builder
        assert arguments[1].same_as(call)
        return lowered

    (attribute,) = (each for each in fix.attributes if each.operator == str(call.op.name))
    assert attribute.replace(original)(builder, call).same_as(lowered)
