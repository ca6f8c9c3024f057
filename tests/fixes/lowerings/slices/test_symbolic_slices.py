"""The dimensions of slices to symbolic bounds."""

from typing import Any

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.probes import one_call
from relaxcheck.fixes.lowerings.slices import symbolic_slices
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes
from tests.fixes import whole_programs as whole

OP = relax.op


def test_a_bound_that_is_no_dimension_may_be_negative() -> None:
    """k may be an input, and -1 leaves the last element out; m is a dimension."""
    m, k = tvm_api.shape_var("m"), tvm_api.shape_var("k")
    for bound, value, want in ((k, -1, 4), (k, 2, 2), (k, -7, 0), (k, 9, 5), (m, 0, 5)):
        call = one_call(lambda x, end=bound: OP.strided_slice(x, [0], [0], [end]), (m,))
        spans = symbolic_slices.spans(call)
        assert spans is not None
        size = tvm_api_shapes.substitute(
            spans[0].size, {m: tvm_api.integer(5), k: tvm_api.integer(value)}
        )
        assert tvm_api.as_int(tvm_api.analyzer().simplify(size)) == want
        assert ("Select" in str(spans[0].size)) == bound.same_as(k)


def test_a_bound_that_no_dimension_is_alone() -> None:
    """The last two of n + 2 elements begin at n, which the function is passed."""
    n = tvm_api.shape_var("n")

    def last_two(builder: Any, x: Any, y: Any) -> Any:
        longer = builder.emit(OP.concat([x, y], 0))
        return builder.emit(OP.strided_slice(longer, [0], [n], [n + 2]))

    with installation.install([symbolic_slices.FIX]):
        whole.runs(last_two, (n,), (2,), sizes=((3,), (2,)), want=np.ones(2))


PROGRAMS: whole.Programs = {
    "symbolic_slices": {"bounds": (whole.upstream("symbolic_slices", "fused"),)},
}

CURES: whole.Cures = {
    "slice-to-multiple-fused": (("symbolic_slices", "bounds"),),
}
