"""Normalizations: of trailing axes, of groups of channels, of a batch."""

from collections.abc import Sequence

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim, symbols
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.faults import Fault
from relaxcheck.generators.core.fills.kinds import Positive
from relaxcheck.generators.core.operand import FitsDims, divides
from relaxcheck.generators.core.points import Given, integer, text, toggle
from relaxcheck.generators.core.program import ITEM
from relaxcheck.generators.operators.choices import decimal, has_no_zero
from relaxcheck.generators.operators.faults import argument_grown, attribute_is, axis_out_of_range
from relaxcheck.generators.operators.record import Apply, Attribute, Numerics, Operand, Operator

_SOURCE = "docstring of relax.op.{}; MEANINGS.md, Elementwise, reductions, normalization"

_EPSILON = Axis("epsilon", (None, "0.001", "1"), None, default_weight=2)

_TRAILING = ("-1", "-2, -1", "all")
"""Values of the axis ``axes``: the last axis, the last two, all of them."""


def _trailing(rank: int, axes: str) -> bool:
    return axes != "-2, -1" or rank > 1


def _of_trailing(name: str, scales: int) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        count = {"-1": 1, "-2, -1": 2}.get(text(point, "axes"), value.rank)
        for dim in value.shape[-count:]:
            draft.require(dim, 1)
        axes = tuple(range(-count, 0) if point["negative"] else range(value.rank)[-count:])
        operands = [draft.operand(value.shape[-count:], value.dtype) for _ in range(scales)]
        epsilon = decimal(point, "epsilon")
        draft.call(name, [value, *operands], value.shape, axes=axes, **epsilon)

    return apply


def _by_channel(name: str) -> Apply:
    def apply(draft: Draft, value: Value, point: Point) -> None:
        channels = value.shape[1]
        for dim in value.shape[1:]:
            draft.require(dim, 1)
        scales = [draft.operand((channels,), value.dtype) for _ in range(2)]
        attributes: dict[str, program.Attribute] = decimal(point, "epsilon")
        if name == "nn.group_norm":
            groups = integer(point, "num_groups")
            if groups > 1 and symbols(channels):
                raise Unfit("groups of a symbolic number of channels")
            attributes["num_groups"] = groups
        axes = tuple(range(2, value.rank))
        draft.call(name, [value, *scales], value.shape, channel_axis=1, axes=axes, **attributes)

    return apply


def _batch_norm(draft: Draft, value: Value, point: Point) -> None:
    axis = integer(point, "axis")
    training = point["training"] is not False
    for at, dim in enumerate(value.shape):
        if training and at != axis % value.rank:
            draft.require(dim, 1)
    channels = (value.shape[axis],)
    operands = [draft.operand(channels, value.dtype) for _ in range(3)]
    operands.append(draft.operand(channels, value.dtype, fill=Positive(0.0)))
    common = decimal(point, "epsilon") | decimal(point, "momentum")
    if point["training"] is not None:
        common["training"] = training
    items = {"all": (1, 2, 0), "first": (0,)}[text(point, "items")]
    for item in items:
        shape = value.shape if item == 0 else channels
        attributes = {"axis": axis, **common, ITEM: item}
        draft.call("nn.batch_norm", [value, *operands], shape, **attributes)


def _has_groups(shape: Sequence[Dim], groups: int) -> bool:
    return groups == 1 or (not symbols(shape[1]) and divides(groups, shape[1]))


_GROUPS = ("groups", "channel")

_THREE: Point = {"rank": 3, "sizes": "plain", "symbolic": "none", "num_groups": 1}
"""A batch of 2, 3 channels, a spatial axis of 4."""


def _scale_grown(name: str, **pinned: int) -> Fault:
    """A scale of one channel more than the data has."""
    return argument_grown(name, 1, kind="scale-differs", pinned={"rank": 3, **pinned})


def _trailing_faults(name: str) -> tuple[Fault, ...]:
    return (
        axis_out_of_range(name, "axes"),
        argument_grown(name, 1, kind="scale-differs", pinned={"rank": 2}),
    )


def _common(*more: Attribute) -> tuple[Attribute, ...]:
    return (
        *more,
        Attribute("epsilon", "float", 1e-5),
        Attribute("center", "bool", True),
        Attribute("scale", "bool", True),
    )


def _scales(count: int) -> tuple[Operand, ...]:
    return tuple(Operand(name, ranks=(1, 2, 3, 4)) for name in ("gamma", "beta")[:count])


def _vectors(*names: str) -> tuple[Operand, ...]:
    return tuple(Operand(name, ranks=(1,)) for name in names)


OPERATORS = (
    Operator(
        "nn.layer_norm",
        meaning="(data - mean) / sqrt(variance + epsilon) * gamma + beta over the given axes.",
        source=_SOURCE.format("nn.layer_norm"),
        operands=(Operand("data", ranks=(3, 2, 1, 4)), *_scales(2)),
        attributes=_common(Attribute("axes", "axes")),
        axes=(
            Axis("axes", _TRAILING, "-1", Given(("rank",), _trailing)),
            toggle("negative"),
            _EPSILON,
        ),
        apply=_of_trailing("nn.layer_norm", 2),
        faults=_trailing_faults("nn.layer_norm"),
        numerics=Numerics.ACCUMULATES,
        requires="an element along each normalized axis",
        operand_fits=has_no_zero,
    ),
    Operator(
        "nn.rms_norm",
        meaning="data / sqrt(mean of data**2 + epsilon) * weight over the given axes.",
        source=_SOURCE.format("nn.rms_norm"),
        operands=(Operand("data", ranks=(3, 2, 1, 4)), Operand("weight", ranks=(1, 2, 3, 4))),
        attributes=(Attribute("axes", "axes", -1), Attribute("epsilon", "float", 1e-5)),
        axes=(
            Axis("axes", _TRAILING, "-1", Given(("rank",), _trailing)),
            toggle("negative"),
            _EPSILON,
        ),
        apply=_of_trailing("nn.rms_norm", 1),
        faults=_trailing_faults("nn.rms_norm"),
        numerics=Numerics.ACCUMULATES,
        requires="an element along each normalized axis",
        operand_fits=has_no_zero,
    ),
    Operator(
        "nn.group_norm",
        meaning="Normalizes each group of channels with its spatial axes, then scales channels.",
        source=_SOURCE.format("nn.group_norm"),
        operands=(Operand("data", ranks=(3, 4)), *_vectors("gamma", "beta")),
        attributes=_common(
            Attribute("num_groups", "int"),
            Attribute("channel_axis", "axis"),
            Attribute("axes", "axes"),
        ),
        axes=(Axis("num_groups", (1, 2, 3, 4), 1, FitsDims(_has_groups)), _EPSILON),
        apply=_by_channel("nn.group_norm"),
        faults=(
            attribute_is("groups-do-not-divide", "nn.group_norm", "num_groups", 2, _GROUPS, _THREE),
            attribute_is("groups-zero", "nn.group_norm", "num_groups", 0, _GROUPS),
            _scale_grown("nn.group_norm"),
        ),
        numerics=Numerics.ACCUMULATES,
        requires="an element in each group; a static number of channels",
        operand_fits=has_no_zero,
    ),
    Operator(
        "nn.instance_norm",
        meaning="Normalizes the spatial axes of each channel, then scales channels.",
        source=_SOURCE.format("nn.instance_norm"),
        operands=(Operand("data", ranks=(3, 4)), *_vectors("gamma", "beta")),
        attributes=_common(Attribute("channel_axis", "axis"), Attribute("axes", "axes")),
        axes=(_EPSILON,),
        apply=_by_channel("nn.instance_norm"),
        faults=(_scale_grown("nn.instance_norm"),),
        numerics=Numerics.ACCUMULATES,
        requires="an element along each spatial axis",
        operand_fits=has_no_zero,
    ),
    Operator(
        "nn.batch_norm",
        meaning="Normalizes each channel by the batch's own mean and variance (training) or by the "
        "moving ones. Items 1 and 2 are the moving ones after it: (1 - momentum) * old + "
        "momentum * the batch's.",
        source=_SOURCE.format("nn.batch_norm"),
        operands=(
            Operand("data", ranks=(3, 2, 4)),
            *_vectors("gamma", "beta", "moving_mean", "moving_var"),
        ),
        attributes=(
            Attribute("axis", "axis"),
            *_common(),
            Attribute("momentum", "float", 0.1),
            Attribute("training", "bool", True),
        ),
        axes=(
            Axis("axis", (1, 0, -1), 1),
            Axis("training", (None, True, False), None),
            Axis("momentum", (None, "0.25", "1", "0"), None, default_weight=2),
            Axis("items", ("first", "all"), "first", default_weight=2),
            _EPSILON,
        ),
        apply=_batch_norm,
        faults=(axis_out_of_range("nn.batch_norm"), _scale_grown("nn.batch_norm", axis=1)),
        numerics=Numerics.ACCUMULATES,
        requires="an element of each channel where training; no variance below 0",
        operand_fits=has_no_zero,
    ),
)
