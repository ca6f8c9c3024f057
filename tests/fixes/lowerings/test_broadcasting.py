"""Broadcasting of dimensions that are 1 at run time agrees with NumPy."""

from typing import Any

import numpy as np
import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.framework.probes import program
from relaxcheck.fixes.lowerings import (
    broadcasting,
)
from relaxcheck.fixes.proving import prover
from tests.fixes import compiled
from tests.fixes import whole_programs as whole

OP = relax.op


BROADCAST: list[tuple[tuple[Any, ...], tuple[Any, ...], list[dict[str, int]]]] = [
    (("N",), (3,), [{"N": 1}, {"N": 3}]),
    (("M", "N"), (2, 4, 3), [{"M": 4, "N": 3}, {"M": 1, "N": 3}, {"M": 4, "N": 1}]),
    ((1, "N"), (4, 3), [{"N": 1}, {"N": 3}]),
]


@pytest.mark.parametrize(("shape", "wanted", "bindings"), BROADCAST)
@pytest.mark.parametrize("fused", [False, True])
def test_broadcasting(shape: Any, wanted: Any, bindings: Any, fused: bool) -> None:
    def make(x: Any) -> Any:
        return OP.broadcast_to(x, wanted)

    run = compiled.run_with(broadcasting.FIX, make, shape, dtypes=("float32",), fused=fused)
    for binding in bindings:
        array = compiled.sample(compiled.size(shape, binding))
        np.testing.assert_array_equal(run(array), np.broadcast_to(array, wanted))


def test_shapes_that_topi_cannot_prove_are_broadcast() -> None:
    """The prover knows that the quotient is 1; TOPI takes it for the target dimension."""
    m = tvm_api.shape_var("m")
    whole = tvm_api.floordiv(m - 2, 5) * 6 + 6
    unit = tvm_api.floordiv(whole, tvm_api.floordiv(m + 3, 5) * 6)
    assert prover.equal(unit, tvm_api.integer(1))
    with installation.install([broadcasting.FIX]):
        module = program(lambda x, y: OP.broadcast_to(x, (1, 2, 3)), (unit, 2, 1), (m,))
        run = compiled.build(module)
    for size in (2, 13):
        x, y = compiled.sample((1, 2, 1)), compiled.sample((size,))
        np.testing.assert_array_equal(run(x, y), np.broadcast_to(x, (1, 2, 3)))


def test_equal_shapes_are_left_to_tvm() -> None:
    module = compiled.module(lambda x: OP.broadcast_to(x, (3, 4)), (1, 4))
    with installation.install([broadcasting.FIX]):
        assert "T_broadcast_to" in str(relax.transform.LegalizeOps()(module))


PROGRAMS: whole.Programs = {
    "broadcasting": {"symbols": (whole.upstream("broadcasting", "broadcast_of_one_element"),)},
}

CURES: whole.Cures = {
    "broadcast-of-one": (("broadcasting", "symbols"),),
}
