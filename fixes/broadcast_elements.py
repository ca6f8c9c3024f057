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


def all_seen(left: Sequence[PrimExpr], right: Sequence[PrimExpr]) -> bool:
    """Whether TVM itself sees that the dimensions are equal, of symbols that may be negative.

    Either way round: that ``3*b*m - 12*b`` is ``b*3*(m - 4)`` it sees, and the other it does not.
    What ``prover.equal`` proves by more than that, TOPI takes for two dimensions.
    """
    analyzer = tvm_api.analyzer()
    return all(
        bool(analyzer.can_prove_equal(one, other) and analyzer.can_prove_equal(other, one))
        for one, other in zip(left, right, strict=True)
    )
