"""Convolution, pooling, resizing and padding along an axis that is padded at its end."""

from collections.abc import Iterator

from relaxcheck.fixes.bucketing.padding import End, Leak, Refill, Site
from relaxcheck.fixes.bucketing.receptive_field import TransposedWindow, Window
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import as_int
from relaxcheck.fixes.tvm_api import shapes as tvm_api_shapes

_CONTRACTED = "the sum over it would take in what stands past the end"


def convolution(site: Site) -> Iterator[Refill]:
    """Zeros where windows reach past the end of a spatial axis."""
    attrs = site.call.attrs
    data, kernel = _layout(site, attrs.data_layout), _layout(site, attrs.kernel_layout)
    for argument, axis in ((0, data.index("C")), (1, kernel.index("I"))):
        if int(attrs.groups) != 1:
            site.forbid(argument, [axis], _CONTRACTED)
        elif axis in site.padded(argument):
            yield Refill(argument, axis, 0)
    site.forbid(1, _spatial(kernel), "windows would be larger")
    if int(attrs.groups) != 1:
        site.forbid(1, [kernel.index("O")], "it is divided into groups")
    taps = [as_int(site.dims(1)[axis]) or 0 for axis in _spatial(kernel)]
    for number, axis in enumerate(_spatial(data)):
        after = int(attrs.padding[len(taps) + number])
        stride, dilation = int(attrs.strides[number]), int(attrs.dilation[number])
        window: Window | TransposedWindow = Window(taps[number], stride, dilation, after)
        if "transpose" in site.name:
            more = int(attrs.output_padding[number])
            window = TransposedWindow(taps[number], stride, dilation, after, more)
        if axis in site.padded(0) and window.reach():
            yield Refill(0, axis, 0)


def pool(site: Site) -> Iterator[Refill]:
    """The least value for a maximum; for a mean zeros, if they are counted."""
    attrs = site.call.attrs
    axes = _spatial(_layout(site, attrs.layout))
    for number, axis in enumerate(axes):
        if axis not in site.padded(0):
            continue
        window = Window(
            int(attrs.pool_size[number]),
            int(attrs.strides[number]),
            int(attrs.dilation[number]),
            int(attrs.padding[len(axes) + number]),
            bool(attrs.ceil_mode),
        )
        if not window.reach():
            continue
        if "max" in site.name:
            yield Refill(0, axis, End.LEAST_FINITE)
        elif not attrs.count_include_pad:
            raise site.leak(0, axis, "what stands past the end would be counted")
        elif attrs.ceil_mode:
            raise site.leak(0, axis, "with ceil_mode what is counted depends on where the end is")
        else:
            yield Refill(0, axis, 0)


def adaptive_pool(site: Site) -> Iterator[Refill]:
    """Every window depends on the end."""
    axes = _spatial(_layout(site, site.call.attrs.layout))
    site.forbid(0, axes, "all windows depend on where the end is")
    yield from ()


def resize(site: Site) -> Iterator[Refill]:
    """Nearest neighbour with a whole factor: element i is element i // factor of the argument.

    Other methods read neighbours past the end, or depend on the end.
    """
    attrs = site.call.attrs
    modes = (attrs.method, attrs.coordinate_transformation_mode, attrs.rounding_method)
    repeats = tuple(map(str, modes)) == ("nearest_neighbor", "asymmetric", "floor")
    for axis in _spatial(_layout(site, attrs.layout)):
        if axis in site.padded(0) and not (repeats and _is_multiple(site, axis)):
            why = "there is a rule for nearest_neighbor, asymmetric and floor, by a whole factor"
            raise site.leak(0, axis, why)
        if axis in site.padded(-1) and axis not in site.padded(0):
            raise site.leak(0, axis, "the factor would be another one")
    yield from ()


def _is_multiple(site: Site, axis: int) -> bool:
    """True if the result repeats each element along ``axis`` a whole number of times."""
    have, want = site.dims(0)[axis], site.dims(-1)[axis]
    forms = [tvm_api_shapes.linear(dim, site.symbol) for dim in (have, want)]
    before, after = (as_int(form[0]) if form else None for form in forms)
    if not before or not after or after % before:
        return False
    return prover.equal(have * (after // before), want)


def pad(site: Site) -> Iterator[Refill]:
    """The value that a constant pad fills in."""
    attrs = site.call.attrs
    widths = [int(width) for width in attrs.pad_width]
    for axis in site.padded(0):
        before, after = widths[2 * axis : 2 * axis + 2]
        if not before and not after:
            continue
        if str(attrs.pad_mode) != "constant":
            raise site.leak(0, axis, f"{attrs.pad_mode} padding depends on where the end is")
        if before < 0 or after < 0:
            raise site.leak(0, axis, "there is no rule for negative widths")
        if after:
            yield Refill(0, axis, float(attrs.pad_value))


def _layout(site: Site, layout: object) -> str:
    """The layout as text, with one upper-case letter an axis.

    Raises:
        Leak: it splits an axis.
    """
    text = str(layout)
    if not text.isalpha():
        raise Leak(f"{site.name}: no rule for the layout {text} tells how to pad it")
    return text


def _spatial(layout: str) -> list[int]:
    """The axes along which windows move, in the order of the attributes."""
    return [layout.index(letter) for letter in "DHW" if letter in layout]
