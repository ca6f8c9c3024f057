"""The sizes of a transposed convolution: its tensors' extents, its output's, its bindings."""

from collections.abc import Mapping, Sequence

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.layouts import Extent, packing
from relaxcheck.generators.core.points import bindings, first_then, integer, text

BATCHES = (1, 2, 3, 7, 0)

ITERATIONS = 600_000
"""The most products that all bindings of a case sum together; bindings beyond it are left out.

Unoptimised code then takes milliseconds, as compiling it does. The first binding always stays, and
with symbols a second one: with a single binding, symbols would have no effect.
"""

# Later bindings add _GROWTH to a size, or multiply a channel count by _MULTIPLES.
_GROWTH = {"W": (0, 1, 2, 0, 3), "H": (0, 2, 0, 1, 3), "D": (0, 0, 1, 2, 1)}
_MULTIPLES = {"C": (1, 2, 1, 3, 2), "K": (1, 1, 2, 2, 3)}


def output_extent(
    size: int, kernel: int, stride: int, dilation: int, output_padding: int, *padding: int
) -> int:
    """The size of the output along one axis."""
    return (size - 1) * stride - sum(padding) + dilation * (kernel - 1) + 1 + output_padding


def _units(point: Point) -> tuple[int, int]:
    """Input channels for one unit of the symbol C; output channels of a group for one unit of K.

    The tensor that packs most has the bare symbol, so that no dimension needs a division.
    """
    kernel = text(point, "kernel_layout")
    inputs = max(packing(text(point, "data_layout"), "C"), packing(kernel, "I"))
    return inputs, packing(kernel, "O")


def _in_channels(point: Point) -> Extent:
    if point["symbolic.in_channels"]:
        return Extent(_units(point)[0], "C")
    return Extent(integer(point, "groups") * integer(point, "in_channels_per_group"))


def data_extents(spatial: str, point: Point) -> dict[str, Extent]:
    """The extent of each letter of the data's layout."""
    extents = {
        letter: Extent(1, letter)
        if point[f"symbolic.{letter.lower()}"]
        else Extent(integer(point, f"size.{letter.lower()}"))
        for letter in spatial
    }
    batch = Extent(1, "B") if point["symbolic.batch"] else Extent(integer(point, "batch"))
    return {"N": batch, "C": _in_channels(point), **extents}


def weight_extents(spatial: str, point: Point) -> dict[str, Extent]:
    """The extent of each letter of the kernel's layout."""
    extents = {letter: Extent(integer(point, f"kernel.{letter.lower()}")) for letter in spatial}
    if point["symbolic.out_channels"]:
        outputs = Extent(_units(point)[1], "K")
    else:
        outputs = Extent(integer(point, "out_channels_per_group"))
    return {"I": _in_channels(point), "O": outputs, **extents}


def bindings_of(spatial: str, point: Point) -> tuple[dict[str, int], ...]:
    """The bindings of the case at ``point``: the first gives every symbol the point's own size."""
    columns: dict[str, Sequence[int]] = {}
    if point["symbolic.batch"]:
        columns["B"] = first_then(integer(point, "batch"), BATCHES)
    inputs, outputs = _units(point)
    if point["symbolic.in_channels"]:
        channels = integer(point, "groups") * integer(point, "in_channels_per_group")
        columns["C"] = [channels // inputs * factor for factor in _MULTIPLES["C"]]
    if point["symbolic.out_channels"]:
        channels = integer(point, "out_channels_per_group")
        columns["K"] = [channels // outputs * factor for factor in _MULTIPLES["K"]]
    for letter in spatial:
        if point[f"symbolic.{letter.lower()}"]:
            size = integer(point, f"size.{letter.lower()}")
            columns[letter] = [size + growth for growth in _GROWTH[letter]]
    return _affordable(spatial, point, bindings(columns))


def _affordable(
    spatial: str, point: Point, rows: tuple[dict[str, int], ...]
) -> tuple[dict[str, int], ...]:
    """The first of ``rows``, and those after it that ``ITERATIONS`` has room for; two at least."""
    costs = [iterations(spatial, point, row) for row in rows]
    kept, spent = [0], costs[0]
    for at, cost in enumerate(costs[1:], 1):
        if spent + cost <= ITERATIONS:
            kept.append(at)
            spent += cost
    if len(kept) == 1 < len(rows):
        kept.append(min(range(1, len(rows)), key=costs.__getitem__))
    return tuple(rows[at] for at in kept)


def iterations(spatial: str, point: Point, binding: Mapping[str, int]) -> int:
    """The number of products of an element and a weight, zeros included, that the output sums."""
    channels = "in_channels_per_group", "out_channels_per_group"
    inner, outputs = (integer(point, name) for name in channels)
    if "C" in binding:
        inner = binding["C"] * _units(point)[0] // integer(point, "groups")
    if "K" in binding:
        outputs = binding["K"] * _units(point)[1]
    count = binding.get("B", integer(point, "batch")) * integer(point, "groups") * inner * outputs
    for letter in spatial:
        *window, begin, end = (
            integer(point, f"{name}.{letter.lower()}")
            for name in ("kernel", "stride", "dilation", "output_padding", "pad_begin", "pad_end")
        )
        size = binding.get(letter, integer(point, f"size.{letter.lower()}"))
        count *= window[0] * output_extent(size, *window, begin, end)
    return count
