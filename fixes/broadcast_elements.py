"""Which element broadcasting puts where, also where run time tells which dimensions are 1."""

from collections.abc import Sequence

from tvm import tirx

from fixes import prover, tvm_api
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
