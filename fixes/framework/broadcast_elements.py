"""The element that broadcasting reads, also where only run time shows which dimensions are 1."""

from collections.abc import Sequence

from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

UPSTREAM = NewFile("relax/transform/legalize_ops/broadcast_elements.py")


def element(tensor: Tensor, position: Sequence[PrimExpr], shape: Sequence[PrimExpr]) -> PrimExpr:
    """The element of ``tensor`` that broadcasting to ``shape`` puts at ``position``."""
    missing = len(shape) - len(tensor.shape)
    indices = []
    for at, wanted, have in zip(position[missing:], shape[missing:], tensor.shape, strict=True):
        if tvm_api.as_int(have) == 1:
            indices.append(tvm_api.integer(0))
        elif prover.equal(have, wanted):
            indices.append(at)
        else:
            indices.append(tirx.Select(tvm_api.equal(have, 1), tvm_api.integer(0), at))
    return tensor(*indices)


def all_seen(left: Sequence[PrimExpr], right: Sequence[PrimExpr]) -> bool:
    """True if TOPI sees that the dimensions are equal: it simplifies their difference to 0.

    Both ways round must work: TOPI sees that ``3*b*m - 12*b`` is ``b*3*(m - 4)``, but not the
    reverse. It treats as different what it does not see, though ``prover.equal`` and TVM's types
    know better.
    """
    return all(
        tvm_api_shapes.alike(dim, other) or (_vanishes(dim - other) and _vanishes(other - dim))
        for dim, other in zip(left, right, strict=True)
    )


def _vanishes(difference: PrimExpr) -> bool:
    # Simplify once, as TOPI does; a second time may reach 0.
    left = tvm_api.analyzer().simplify(difference)
    return tvm_api_shapes.alike(left, tvm_api.integer_like(left, 0))
