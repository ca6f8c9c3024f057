"""Steps of sliding windows: convolution, pooling and interpolation."""

from generators.dims import Dim
from generators.dynamic_draft import Draft, Unfit, Value, shape_value
from generators.dynamic_movement import Step, another, tensor
from generators.polynomials import minus, over, plus, times
from generators.program import Attribute

STEPS: dict[str, Step] = {}


def places(
    draft: Draft, size: Dim, window: int, stride: int, dilation: int, before: int, after: int
) -> Dim:
    """How many places a window has along an axis; it is required to have one."""
    span = dilation * (window - 1) + 1
    free = minus(plus(size, before, after), span)
    draft.require(free)
    return plus(over(free, stride), 1)


def _image(draft: Draft, rank: int) -> Value:
    """The last value if it has ``rank`` spatial axes, otherwise a new input that has."""
    try:
        value = tensor(draft, rank + 2)
    except Unfit:
        value = None
    if value is not None and value.rank == rank + 2:
        return value
    sizes: tuple[Dim, ...] = ("m", "m", "n", 5)
    batches: tuple[Dim, ...] = (1, 2, "b")
    spatial = [draft.draw.choice(sizes) for _ in range(rank)]
    return draft.start((draft.draw.choice(batches), draft.draw.choice((2, 4)), *spatial))


def _convolution(rank: int) -> Step:
    def applied(draft: Draft) -> None:
        value = _image(draft, rank)
        channels = value.shape[1]
        draft.require(channels, 1)
        groups = draft.draw.choice((1, 1, 2))
        if groups > 1 and (not isinstance(channels, int) or channels % groups):
            groups = 1
        inner = channels if groups == 1 else over(channels, groups)
        wide = groups * draft.draw.choice((1, 2, 3))
        window = [draft.draw.choice((1, 2, 3)) for _ in range(rank)]
        strides = [draft.draw.choice((1, 1, 2, 5)) for _ in range(rank)]
        dilation = [draft.draw.choice((1, 1, 2)) for _ in range(rank)]
        pads = [draft.draw.choice((0, 1, 2)) for _ in range(2 * rank)]
        spatial = [
            places(draft, *each)
            for each in zip(
                value.shape[2:], window, strides, dilation, pads[:rank], pads[rank:], strict=True
            )
        ]
        kernel = draft.input((wide, inner, *window), constant=draft.draw.chance(2))
        draft.call(
            f"nn.conv{rank}d",
            [value, kernel],
            (value.shape[0], wide, *spatial),
            strides=tuple(strides),
            padding=tuple(pads),
            dilation=tuple(dilation),
            groups=groups,
        )

    return applied


def _transposed(rank: int) -> Step:
    def applied(draft: Draft) -> None:
        value = _image(draft, rank)
        channels = value.shape[1]
        for dim in value.shape[1:]:
            draft.require(dim, 1)
        wide = draft.draw.choice((1, 2))
        window = [draft.draw.choice((1, 2, 3)) for _ in range(rank)]
        strides = [draft.draw.choice((1, 2, 3)) for _ in range(rank)]
        extra = [draft.draw.below(stride) for stride in strides]
        pads = [draft.draw.choice((0, 0, 1)) for _ in range(rank)]
        spatial: list[Dim] = []
        for dim, k, s, e, p in zip(value.shape[2:], window, strides, extra, pads, strict=True):
            size = plus(times(minus(dim, 1), s), k - 2 * p + e)
            draft.require(size, 1)
            spatial.append(size)
        kernel = draft.input((channels, wide, *window), constant=draft.draw.chance(2))
        draft.call(
            f"nn.conv{rank}d_transpose",
            [value, kernel],
            (value.shape[0], wide, *spatial),
            strides=tuple(strides),
            padding=tuple(pads),
            output_padding=tuple(extra),
        )

    return applied


def _pool(operator: str, rank: int) -> Step:
    def applied(draft: Draft) -> None:
        value = _image(draft, rank)
        window = [draft.draw.choice((1, 2, 3)) for _ in range(rank)]
        strides = [draft.draw.choice((1, 2, 3)) for _ in range(rank)]
        pads = [draft.draw.below(size // 2 + 1) for size in window]
        dilation = [draft.draw.choice((1, 1, 2)) if "max" in operator else 1 for _ in range(rank)]
        if not any(isinstance(dim, str) for dim in value.shape[2:]) and draft.draw.below(3):
            raise Unfit("nothing symbolic to slide over")
        spatial = []
        for dim, k, s, d, p in zip(value.shape[2:], window, strides, dilation, pads, strict=True):
            draft.require(dim, 1)
            spatial.append(places(draft, dim, k, s, d, p, p))
        given: dict[str, Attribute] = {}
        if "avg" in operator:
            given["count_include_pad"] = draft.draw.chance(2)
        draft.call(
            operator,
            [value],
            (*value.shape[:2], *spatial),
            pool_size=tuple(window),
            strides=tuple(strides),
            padding=tuple(pads + pads),
            dilation=tuple(dilation),
            **given,
        )

    return applied


def _adaptive(rank: int) -> Step:
    def applied(draft: Draft) -> None:
        value = _image(draft, rank)
        for dim in value.shape[2:]:
            draft.require(dim, 1)
        out = tuple(draft.draw.choice((1, 2, 3, 5)) for _ in range(rank))
        draft.call(
            f"nn.adaptive_avg_pool{rank}d", [value], (*value.shape[:2], *out), output_size=out
        )

    return applied


def _resize2d(draft: Draft) -> None:
    value = _image(draft, 2)
    for dim in value.shape[2:]:
        draft.require(dim, 1)
    out: list[Dim] = []
    for dim in value.shape[2:]:
        sizes: tuple[Dim, ...] = (times(2, dim), times(3, dim), dim, 4, another(draft))
        out.append(draft.draw.choice(sizes))
    for dim in out:
        draft.require(dim, 1)
    method, mode = draft.draw.choice(
        (
            ("nearest_neighbor", "asymmetric"),
            ("linear", "half_pixel"),
            ("linear", "align_corners"),
        )
    )
    given: dict[str, Attribute] = {}
    if method == "nearest_neighbor":
        given["rounding_method"] = "floor"
    draft.call(
        "image.resize2d",
        [value],
        (*value.shape[:2], *out),
        size=shape_value(out),
        method=method,
        coordinate_transformation_mode=mode,
        **given,
    )


for _rank in (1, 2):
    STEPS[f"nn.conv{_rank}d"] = _convolution(_rank)
    STEPS[f"nn.conv{_rank}d_transpose"] = _transposed(_rank)
    STEPS[f"nn.adaptive_avg_pool{_rank}d"] = _adaptive(_rank)
    for _kind in ("max", "avg"):
        STEPS[f"nn.{_kind}_pool{_rank}d"] = _pool(f"nn.{_kind}_pool{_rank}d", _rank)
STEPS["image.resize2d"] = _resize2d
