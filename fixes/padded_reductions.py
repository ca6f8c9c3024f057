"""Reductions over an axis that is padded at its end: what is past the end is made to add nothing.

A sum takes in zeros, a product ones, a maximum the least value that there is. Softmax takes the
largest away and sums exponentials: of -infinity that is nothing. A product of two tensors that are
both padded along what it sums over sums zeros there. Where a reduction is divided by the number of
elements, that would be the padded one: ``padded_means.py`` writes such otherwise.
"""

from collections.abc import Callable, Iterator

from fixes import prover
from fixes.padding import End, Refill, Rule, Site, listed
from fixes.tvm_api import as_int

_COUNTED = "it is divided by how many there are, with what stands past the end"


def reduced(site: Site) -> list[int]:
    """The padded axes of the argument that are reduced over."""
    axes = listed(site.call.attrs.axis)
    rank = max(1, site.rank(0))
    own = set(range(rank)) if axes is None else {axis % rank for axis in axes}
    return [axis for axis in site.padded(0) if axis in own]


def filled_with(value: float | End) -> Rule:
    """The rule of a reduction to which ``value`` adds nothing."""

    def rule(site: Site) -> Iterator[Refill]:
        for axis in reduced(site):
            yield Refill(0, axis, value)

    return rule


def place(value: End) -> Callable[[Site], Iterator[Refill]]:
    """The rule of what finds the place of an extreme: the first of several, so none past the end.

    Places in a flattened tensor are as before only where it is padded along its first axis alone.
    """

    def rule(site: Site) -> Iterator[Refill]:
        if site.call.attrs.axis is None:
            why = "places are counted through all axes"
            site.forbid(0, range(1, max(1, site.rank(0))), why)
        for axis in reduced(site):
            yield Refill(0, axis, value)

    return rule


def counted(site: Site) -> Iterator[Refill]:
    """What is divided by the number of elements: refused, as it is of integers."""
    site.forbid(0, listed(site.call.attrs.axis), _COUNTED)
    yield from ()


def softmax(site: Site) -> Iterator[Refill]:
    """Nothing is added to the sum by what is infinitely far below the largest."""
    axis = int(site.call.attrs.axis) % site.rank(0)
    if axis in site.padded(0):
        yield Refill(0, axis, End.LEAST)


def matmul(site: Site) -> Iterator[Refill]:
    """What is summed over is padded in both, and zeros in both: zero times infinity is NaN."""
    for argument, axis in ((0, site.rank(0) - 1), (1, max(0, site.rank(1) - 2))):
        if axis in site.padded(argument):
            yield Refill(argument, axis, 0)


def attention(site: Site) -> Iterator[Refill]:
    """Keys past the end are not seen: by the bias, or as a causal mask hides them.

    They and their values are zeros, for a weight of zero times infinity is NaN.
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
