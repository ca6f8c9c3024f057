"""Slices that reverse a dimension to a far end."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.lowerings.slices import far_ends
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


@pytest.mark.parametrize("size", [1, 4, 5])
@pytest.mark.parametrize("step", [-2, -3])
def test_a_longer_step_backwards_slices_the_flipped_data(size: int, step: int) -> None:
    def make(x: Any) -> Any:
        return OP.strided_slice(x, [-1], [-1], [1 - 2**31], [step])

    with fixes.install():
        module = compiled.module(make, (2, "M"))
        assert compiled.calls(module) == ["relax.flip", "relax.strided_slice"]
        data = np.arange(2 * size, dtype="f4").reshape(2, size)
        np.testing.assert_array_equal(compiled.build(module)(data), data[:, ::step])


def test_a_slice_that_begins_elsewhere_is_left_alone() -> None:
    def make(x: Any) -> Any:
        return OP.strided_slice(x, [0], [-2], [1 - 2**31], [-2])

    with installation.install([far_ends.FIX]):
        assert compiled.calls(compiled.module(make, ("M",))) == ["relax.strided_slice"]


PROGRAMS: whole.Programs = {
    "far_ends": {"backwards": (whole.upstream("far_ends", "backwards"),)},
}

CURES: whole.Cures = {
    "slice-to-far-end": (("far_ends", "backwards"),),
}
