"""Slices that reverse a dimension to a far end."""

from typing import Any

from tvm import relax

from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.slices import far_ends
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


def test_another_step_backwards_is_left_alone() -> None:
    def make(x: Any) -> Any:
        return OP.strided_slice(x, [0], [-1], [1 - 2**31], [-2])

    with installation.install([far_ends.FIX]):
        assert compiled.calls(compiled.module(make, ("M",))) == ["relax.strided_slice"]


PROGRAMS: whole.Programs = {
    "far_ends": {"backwards": (whole.upstream("far_ends", "backwards"),)},
}

CURES: whole.Cures = {
    "slice-to-far-end": (("far_ends", "backwards"),),
}
