"""The sizes of a convolution with layouts: its tensors' extents, its output's, its bindings."""

from collections.abc import Mapping, Sequence
from math import gcd, lcm

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.layouts import Extent, packing
from relaxcheck.generators.core.points import bindings, first_then, integer, text

BATCHES = (1, 2, 3, 7, 0)

ITERATIONS = 600_000
"""The most products that all bindings of a case sum together, but for the first two bindings.

Unoptimised code then takes milliseconds, as compiling it does.
"""

# Later bindings add _GROWTH to a size, or multiply a channel count by _MULTIPLES.
_GROWTH = {"W": (0, 1, 2, 0, 3), "H": (0, 2, 0, 1, 3)}
_MULTIPLES = {"C": (1, 2, 1, 3, 2), "K": (1, 1, 2, 2, 3)}


def reach(kernel: int, dilation: int) -> int:
    """The elements that a window spans along one axis."""
    return dilation * (kernel - 1) + 1


def output_extent(size: int, kernel: int, stride: int, dilation: int, *padding: int) -> int:
    """The places of a window along one axis."""
    return (size + sum(padding) - reach(kernel, dilation)) // stride + 1


def window(point: Point, letter: str) -> tuple[int, int, int, int, int]:
    """Kernel, stride, dilation and both paddings along the axis ``letter``."""
    kernel, stride, dilation, begin, end = (
        integer(point, f"{name}.{letter.lower()}")
        for name in ("kernel", "stride", "dilation", "pad_begin", "pad_end")
    )
    return kernel, stride, dilation, begin, end


def _unit(groups: int, outer: int, inner: int) -> int:
    return lcm(inner, outer // gcd(outer, groups))


def _inputs(point: Point) -> int:
    """Input channels of a group for one unit of the symbol C.

    The fewest with which data and kernel fill their inner dimensions.
    """
    outer = packing(text(point, "data_layout"), "C")
    return _unit(integer(point, "groups"), outer, packing(text(point, "kernel_layout"), "I"))


def _outputs(point: Point) -> int:
    """Output channels for one unit of the symbol K: an inner dimension of the kernel."""
    return packing(text(point, "kernel_layout"), "O")


def symbol_stands_alone(groups: int, data_layout: str, kernel_layout: str) -> bool:
    """Return True if data or kernel has the bare symbol C as a dimension, which defines it.

    The kernel always has the bare symbol K.
    """
    outer, inner = packing(data_layout, "C"), packing(kernel_layout, "I")
    unit = _unit(groups, outer, inner)
    return unit == inner or groups * unit == outer


def inputs(point: Point) -> Extent:
    """The input channels of a group."""
    if point["symbolic.in_channels"]:
        return Extent(_inputs(point), "C")
    return Extent(integer(point, "in_channels_per_group"))


def outputs(point: Point) -> Extent:
    """The output channels of all groups."""
    if point["symbolic.out_channels"]:
        return Extent(_outputs(point), "K")
    return Extent(integer(point, "groups") * integer(point, "out_channels_per_group"))


def data_extents(spatial: str, point: Point) -> dict[str, Extent]:
    """The extent of each letter of the data's layout."""
    extents = {
        letter: Extent(1, letter)
        if point[f"symbolic.{letter.lower()}"]
        else Extent(integer(point, f"size.{letter.lower()}"))
        for letter in spatial
    }
    batch = Extent(1, "B") if point["symbolic.batch"] else Extent(integer(point, "batch"))
    own = inputs(point)
    return {"N": batch, "C": Extent(integer(point, "groups") * own.count, own.symbol), **extents}


def weight_extents(spatial: str, point: Point) -> dict[str, Extent]:
    """The extent of each letter of the kernel's layout."""
    extents = {letter: Extent(integer(point, f"kernel.{letter.lower()}")) for letter in spatial}
    return {"O": outputs(point), "I": inputs(point), **extents}


def bindings_of(spatial: str, point: Point) -> tuple[dict[str, int], ...]:
    """The bindings of the case at ``point``: the first gives every symbol the point's own size."""
    columns: dict[str, Sequence[int]] = {}
    if point["symbolic.batch"]:
        columns["B"] = first_then(integer(point, "batch"), BATCHES)
    if point["symbolic.in_channels"]:
        units = integer(point, "in_channels_per_group") // _inputs(point)
        columns["C"] = [units * factor for factor in _MULTIPLES["C"]]
    if point["symbolic.out_channels"]:
        # Multiples of these form whole groups, and fill whole inner dimensions of the output.
        channels = integer(point, "groups") * integer(point, "out_channels_per_group")
        units = channels // _outputs(point)
        columns["K"] = [units * factor for factor in _MULTIPLES["K"]]
    for letter in spatial:
        if point[f"symbolic.{letter.lower()}"]:
            size = integer(point, f"size.{letter.lower()}")
            columns[letter] = [size + growth for growth in _GROWTH[letter]]
    rows = bindings(columns)
    costs = [iterations(spatial, point, row) for row in rows]
    kept, spent = [0], costs[0]
    for at, cost in enumerate(costs[1:], 1):
        # Without a second binding nothing would show that they are symbols.
        if len(kept) == 1 or spent + cost <= ITERATIONS:
            kept.append(at)
            spent += cost
    return tuple(rows[at] for at in kept)


def iterations(spatial: str, point: Point, binding: Mapping[str, int]) -> int:
    """The products of an element and a weight, zeros among them, that the output sums."""
    inner = integer(point, "in_channels_per_group")
    wide = integer(point, "groups") * integer(point, "out_channels_per_group")
    if "C" in binding:
        inner = binding["C"] * _inputs(point)
    if "K" in binding:
        wide = binding["K"] * _outputs(point)
    count = binding.get("B", integer(point, "batch")) * inner * wide
    for letter in spatial:
        kernel, *others = window(point, letter)
        size = binding.get(letter, integer(point, f"size.{letter.lower()}"))
        count *= kernel * output_extent(size, kernel, *others)
    return count
