"""A legalization that returns the call raises an error that names operator, attribute and value."""

import re
from functools import partial
from typing import Any

import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.lowerings import unlowered
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["max_pool", "avg_pool", "adaptive_avg_pool"])
def test_an_output_layout_that_is_not_lowered(fixes_on: None, kind: str, rank: int) -> None:
    operator = getattr(relax.op.nn, f"{kind}{rank}d")
    out_layout = f"N{SPATIAL[rank]}C"
    module = compiled.module(lambda x: operator(x, out_layout=out_layout), (1, 2, *[3] * rank))
    with pytest.raises(
        tvm_api.OpNotImplemented, match=f"{kind}{rank}d cannot be .*out_layout='{out_layout}'"
    ):
        relax.transform.LegalizeOps()(module)


def test_operators_with_a_lowering_keep_it(fixes_on: None) -> None:
    module = compiled.module(relax.op.nn.max_pool2d, (1, 2, 3, 3))
    assert compiled.calls(relax.transform.LegalizeOps()(module)) == ["relax.call_tir"]


def test_a_planted_legalization_that_bails_is_refused() -> None:
    def bail(builder: Any, call: Any) -> Any:
        return call

    name = "relax.nn.max_pool2d"
    operator = tvm_api.get_op(name)
    original = operator.get_attr("FLegalize")
    operator.reset_attr("FLegalize")
    operator.set_attr("FLegalize", bail, 10)
    try:
        module = compiled.module(relax.op.nn.max_pool2d, (1, 2, 3, 3))
        assert compiled.calls(relax.transform.LegalizeOps()(module)) == [name]
        with (
            fixes.install(),
            pytest.raises(NotImplementedError, match=r"max_pool2d .*pool_size=\(1, 1\)"),
        ):
            relax.transform.LegalizeOps()(module)
    finally:
        operator.reset_attr("FLegalize")
        operator.set_attr("FLegalize", original, 10)


def test_every_operator_of_the_list_exists() -> None:
    assert [name for name in unlowered.OPERATORS if tvm_api.get_op(name) is None] == []


def is_lowered_or_refused(make: Any, *shapes: tuple[int, ...]) -> None:
    """LegalizeOps leaves nothing of the operator."""
    module = compiled.module(make, *shapes)
    (name,) = compiled.calls(module)
    try:
        after = relax.transform.LegalizeOps()(module)
    except NotImplementedError:
        return
    assert name not in compiled.calls(after)


POOL = (
    "relax.nn.avg_pool2d cannot be lowered with ceil_mode=False, count_include_pad=True,"
    " dilation=(1, 1), layout='NCHW', out_layout='NHWC', padding=(0, 0, 0, 0),"
    " pool_size=(2, 2), strides=(1, 1)"
)


@pytest.mark.parametrize(
    ("make", "shapes", "message"),
    [
        (
            lambda x: relax.op.nn.avg_pool2d(x, (2, 2), count_include_pad=True, out_layout="NHWC"),
            ((1, 2, 5, 5),),
            POOL,
        ),
    ],
)
def test_messages(fixes_on: None, make: Any, shapes: Any, message: str) -> None:
    module = compiled.module(make, *shapes)
    with pytest.raises(tvm_api.OpNotImplemented, match=f"^{re.escape(message)}$"):
        relax.transform.LegalizeOps()(module)


PROGRAMS: whole.Programs = {
    "unlowered": {
        "pooling": tuple(
            partial(is_lowered_or_refused, partial(operator, out_layout="NHWC"), (1, 2, 3, 3))
            for operator in (
                relax.op.nn.max_pool2d,
                relax.op.nn.avg_pool2d,
                relax.op.nn.adaptive_avg_pool2d,
            )
        ),
        "gradients of pooling": (
            partial(
                is_lowered_or_refused,
                partial(relax.op.grad.max_pool2d_backward, dilation=(2, 2)),
                *((1, 1, 3, 3), (1, 1, 3, 3)),
            ),
        ),
    },
}
