"""Reductions over an axis that is padded at its end: elements past the end must not contribute.

For a sum they are 0, for a product 1, for a maximum the least value. Softmax subtracts the maximum
and sums exponentials, to which -infinity adds nothing. A product of two tensors that are padded
along the contracted axis sums zeros there. Where a reduction divides by the number of elements,
that would be the padded number: ``padded/means.py`` rewrites such reductions.
"""

from collections.abc import Callable, Iterator

from relaxcheck.fixes.bucketing.padding import End, Refill, Rule, Site, listed
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import as_int

_COUNTED = "it is divided by how many there are, with what stands past the end"


def reduced(site: Site) -> list[int]:
    """The padded axes of the argument that are reduced."""
    axes = listed(site.call.attrs.axis)
    rank = max(1, site.rank(0))
    own = set(range(rank)) if axes is None else {axis % rank for axis in axes}
    return [axis for axis in site.padded(0) if axis in own]


def filled_with(value: float | End) -> Rule:
    """The rule of a reduction with neutral element ``value``."""

    def rule(site: Site) -> Iterator[Refill]:
        for axis in reduced(site):
            yield Refill(0, axis, value)

    return rule


def place(value: End) -> Callable[[Site], Iterator[Refill]]:
    """The rule of argmax and argmin: the first of several extremes, so none past the end.

    Indices into a flattened tensor stay the same only if it is padded along its first axis alone.
    """

    def rule(site: Site) -> Iterator[Refill]:
        if site.call.attrs.axis is None:
            why = "places are counted through all axes"
            site.forbid(0, range(1, max(1, site.rank(0))), why)
        for axis in reduced(site):
            yield Refill(0, axis, value)

    return rule


def counted(site: Site) -> Iterator[Refill]:
    """Divides by the number of elements: refused, as for integers."""
    site.forbid(0, listed(site.call.attrs.axis), _COUNTED)
    yield from ()


def softmax(site: Site) -> Iterator[Refill]:
    """Values infinitely far below the maximum add nothing to the sum."""
    axis = int(site.call.attrs.axis) % site.rank(0)
    if axis in site.padded(0):
        yield Refill(0, axis, End.LEAST)


def matmul(site: Site) -> Iterator[Refill]:
    """The contracted axis is padded in both operands: zeros in both, as 0 times infinity is NaN."""
    for argument, axis in ((0, site.rank(0) - 1), (1, max(0, site.rank(1) - 2))):
        if axis in site.padded(argument):
            yield Refill(argument, axis, 0)


def attention(site: Site) -> Iterator[Refill]:
    """Keys past the end are hidden by the bias, or by a causal mask.

    These keys and their values are zeros, since a weight of 0 times infinity is NaN.
    """
    attrs = site.call.attrs
    for argument in (0, 1, 2):
        site.forbid(argument, [2, 3], "heads and what they sum over must have their own size")
    if attrs.window_size is not None or str(attrs.causal_mask) == "BottomRight":
        for argument in (0, 1, 2):
            why = "which keys a query sees depends on where the end is"
            site.forbid(argument, [1], why)
    keys = site.dims(1)[1]
    if 1 not in site.padded(1):
        return
    hidden = str(attrs.causal_mask) == "TopLeft" and prover.equal(site.dims(0)[1], keys)
    if len(site.call.args) > 3 and as_int(site.dims(3)[3]) != 1:
        yield Refill(3, 3, End.LEAST)
    elif not hidden:
        site.forbid(1, [1], "queries would attend to what stands past the end")
    yield Refill(1, 1, 0)
    yield Refill(2, 1, 0)
