"""Which element broadcasting puts where, also where run time tells which dimensions are 1."""

from collections.abc import Sequence

from tvm import tirx

from fixes import prover, tvm_api, tvm_api_shapes
from fixes.tvm_api import PrimExpr, Tensor


def element(tensor: Tensor, position: Sequence[PrimExpr], shape: Sequence[PrimExpr]) -> PrimExpr:
    """The element that broadcasting ``tensor`` to ``shape`` puts at ``position``."""
    missing = len(shape) - len(tensor.shape)
    found = []
    for at, wanted, have in zip(position[missing:], shape[missing:], tensor.shape, strict=True):
        if tvm_api.as_int(have) == 1:
            found.append(tvm_api.integer(0))
        elif prover.equal(have, wanted):
            found.append(at)
        else:
            found.append(tirx.Select(tvm_api.equal(have, 1), tvm_api.integer(0), at))
    return tensor(*found)


def all_seen(left: Sequence[PrimExpr], right: Sequence[PrimExpr]) -> bool:
    """Whether TOPI sees that the dimensions are equal: their difference is simplified to 0.

    Either way round: that ``3*b*m - 12*b`` is ``b*3*(m - 4)`` is seen, and the other is not. What
    is not seen TOPI takes for two dimensions, though ``prover.equal`` and TVM's types know better.
    """
    return all(
        tvm_api_shapes.alike(one, other) or (_vanishes(one - other) and _vanishes(other - one))
        for one, other in zip(left, right, strict=True)
    )


def _vanishes(difference: PrimExpr) -> bool:
    # Once: what is left may come to 0 if it is simplified again, which TOPI does not do.
    left = tvm_api.analyzer().simplify(difference)
    return tvm_api_shapes.alike(left, tvm_api.integer_like(left, 0))
