"""A legalization that returns the call becomes an error that names operator, attribute, value."""

from typing import Any

import pytest
from tvm import relax

import fixes
from fixes import tvm_api, unlowered
from tests.fixes import compiled

SPATIAL = {1: "W", 2: "HW", 3: "DHW"}


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["conv", "max_pool", "avg_pool", "adaptive_avg_pool"])
def test_an_output_layout_that_is_not_lowered(fixes_on: None, kind: str, rank: int) -> None:
    operator = getattr(relax.op.nn, f"{kind}{rank}d")
    out_layout = f"N{SPATIAL[rank]}C"
    shapes = [(1, 2, *[3] * rank)] + ([(2, 2, *[2] * rank)] if kind == "conv" else [])
    module = compiled.module(lambda *given: operator(*given, out_layout=out_layout), *shapes)
    with pytest.raises(
        tvm_api.OpNotImplemented, match=f"{kind}{rank}d cannot be .*out_layout='{out_layout}'"
    ):
        relax.transform.LegalizeOps()(module)


def test_what_is_lowered_still_is(fixes_on: None) -> None:
    module = compiled.module(relax.op.nn.conv2d, (1, 2, 3, 3), (2, 2, 2, 2))
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
