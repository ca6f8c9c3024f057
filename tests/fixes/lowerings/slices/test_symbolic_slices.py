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
    """The function for the second half of 2 n elements is passed n."""
    n = tvm_api.shape_var("n")

    def second_half(builder: Any, x: Any) -> Any:
        longer = builder.emit(OP.concat([x, x], 0))
        return builder.emit(OP.strided_slice(longer, [0], [n], [n + n]))

    def run() -> None:
        whole.runs(second_half, (n,), sizes=((3,),), want=np.ones(3))

    with installation.install([symbolic_slices.FIX]):
        run()
    run()


PROGRAMS: whole.Programs = {
    "symbolic_slices": {"bounds": (whole.upstream("symbolic_slices", "fused"),)},
}

CURES: whole.Cures = {
    "slice-to-multiple-fused": (("symbolic_slices", "bounds"),),
}
