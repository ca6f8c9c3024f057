"""Steps that write in place: on a fresh value, through a view of it, or after one was taken."""

from collections.abc import Mapping
from random import Random

from relaxcheck.generators.core.fills.kinds import Below
from relaxcheck.generators.core.polynomials import times
from relaxcheck.generators.torch.graphs.drafting import EVERYTHING, Drafting
from relaxcheck.generators.torch.graphs.steps.step import FUNCTIONAL, METHOD, Step
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import Dots, Span


def _fresh(draft: Drafting, wire: Wire) -> Wire:
    """A copy of ``wire`` in memory of its own, which may be written."""
    return draft.call(f"{METHOD}.clone", wire, shape=wire.shape, gives=wire.dtype)


def _fresh_in_rows(draft: Drafting, wire: Wire) -> Wire:
    """As ``_fresh``, laid out row by row, so that ``view`` takes it."""
    copied = _fresh(draft, wire)
    return draft.call(f"{METHOD}.contiguous", copied, shape=wire.shape, gives=wire.dtype)


def _write(draft: Drafting, value: Wire, random: Random) -> None:
    """Write ``value`` in place."""
    match random.randrange(6):
        case 0:
            draft.do(f"{METHOD}.mul_", value, 2)
        case 1:
            draft.do(f"{METHOD}.add_", value, 1)
        case 2:
            draft.do(f"{METHOD}.fill_", value, 3)
        case 3:
            draft.do(f"{METHOD}.relu_", value)
        case 4:
            draft.do(f"{METHOD}.clamp_", value, -1, 1)
        case _:
            draft.do(f"{METHOD}.zero_", value)


def _in_place(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Write a fresh value in place, by one form or two."""
    if not wire.is_float:
        return None
    value = _fresh(draft, wire)
    for _ in range(random.choice((1, 1, 2))):
        _write(draft, value, random)
    return value


_FORMS = ("sigmoid_", "tanh_", "exp_", "neg_", "abs_", "square_", "sub_", "div_", "copy_")


def _form(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """An in-place form whose own result goes on."""
    if not wire.is_float:
        return None
    value = _fresh(draft, wire)
    name = random.choice(_FORMS)
    others: tuple[object, ...] = ()
    if name in ("sub_", "div_"):
        others = (2,)
    if name == "copy_":
        last = wire.shape[-1] if wire.rank else 1
        others = (draft.weight((last if isinstance(last, int) else 1,) if wire.rank else ()),)
    return draft.call(f"{METHOD}.{name}", value, *others, shape=wire.shape, gives=wire.dtype)


def _activation(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """An activation with ``inplace=True``."""
    if not wire.is_float:
        return None
    value = _fresh(draft, wire)
    name = random.choice(("relu", "silu", "hardtanh", "leaky_relu", "elu", "hardswish", "mish"))
    draft.do(f"{FUNCTIONAL}.{name}", value, inplace=True)
    return value


def _through_view(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Write a view of a fresh value: the value changes with it."""
    if not wire.is_float or not wire.rank:
        return None
    value = _fresh_in_rows(draft, wire)
    view = _view(draft, value, random)
    _write(draft, view, random)
    return random.choice((value, value, view))


def _view(draft: Drafting, value: Wire, random: Random) -> Wire:
    last = value.shape[-1]
    first = value.shape[0]
    kinds = ["flat", "unsqueezed", "detached"]
    if isinstance(last, int) and last > 1:
        kinds += ["selected", "cut", "stepped", "narrowed", "expanded-as"]
    if isinstance(first, int) and first > 0:
        kinds += ["row"]
    if value.rank > 1:
        kinds += ["transposed"]
    match random.choice(kinds):
        case "selected":
            return draft.cut(value, Dots(), -1, shape=value.shape[:-1])
        case "cut":
            size = int(last) - 1
            return draft.cut(value, Dots(), Span(1), shape=(*value.shape[:-1], size))
        case "stepped":
            size = (int(last) + 1) // 2
            span = Span(None, None, 2)
            return draft.cut(value, Dots(), span, shape=(*value.shape[:-1], size))
        case "narrowed":
            return draft.call(
                "torch.narrow", value, -1, 0, 1, shape=(*value.shape[:-1], 1), gives=value.dtype
            )
        case "row":
            return draft.cut(value, 0, shape=value.shape[1:])
        case "transposed":
            shape = (*value.shape[:-2], last, value.shape[-2])
            return draft.call("torch.transpose", value, -1, -2, shape=shape, gives=value.dtype)
        case "unsqueezed":
            return draft.call(
                "torch.unsqueeze", value, 0, shape=(1, *value.shape), gives=value.dtype
            )
        case "detached":
            return draft.call(f"{METHOD}.detach", value, shape=value.shape, gives=value.dtype)
        case "expanded-as":
            return draft.call(
                f"{METHOD}.view_as", value, value, shape=value.shape, gives=value.dtype
            )
    flat = [value.size(0), -1] if value.rank > 1 else [-1]
    shape = (value.shape[0], times(*value.shape[1:])) if value.rank > 1 else value.shape
    return draft.call(f"{METHOD}.view", value, flat, shape=shape, gives=value.dtype)


def _read_after(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Take a view, write its base, then read the view."""
    if not wire.is_float or not wire.rank:
        return None
    value = _fresh_in_rows(draft, wire)
    view = _view(draft, value, random)
    _write(draft, value, random)
    return draft.call("torch.neg", view, shape=view.shape, gives=view.dtype)


def _put(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """``y[..., 0] = v`` and ``y[i] = v``."""
    if not wire.is_float or not wire.rank:
        return None
    last = wire.shape[-1]
    if not isinstance(last, int) or last < 2:
        return None
    value = _fresh(draft, wire)
    match random.randrange(4):
        case 0:
            draft.do(f"{METHOD}.fill_", draft.cut(value, Dots(), 0, shape=wire.shape[:-1]), 2)
        case 1:
            part = draft.cut(value, Dots(), Span(1), shape=(*wire.shape[:-1], last - 1))
            draft.do(f"{METHOD}.copy_", part, draft.weight((last - 1,), wire.dtype))
        case 2:
            mask = draft.weight((last,), "bool", name="m")
            draft.do(f"{METHOD}.masked_fill_", value, mask, -2)
        case _:
            places = draft.weight((1,), "int64", Below(last), "i")
            draft.do(f"{METHOD}.index_fill_", value, -1, places, 2)
    return value


def _twice(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Use a value, write it, and use it again."""
    if not wire.is_float:
        return None
    value = _fresh(draft, wire)
    before = draft.call("torch.mul", value, 3, shape=wire.shape, gives=wire.dtype)
    draft.do(f"{METHOD}.add_", value, 1)
    return draft.call("torch.sub", before, value, shape=wire.shape, gives=wire.dtype)


def _columns(draft: Drafting, wire: Wire, random: Random) -> Wire | None:
    """Write some columns of all rows by others of the same value."""
    last = wire.shape[-1] if wire.rank else 0
    if not wire.is_float or not isinstance(last, int) or last < 2:
        return None
    value = _fresh(draft, wire)
    before = [EVERYTHING] * (wire.rank - 1)
    target = draft.cut(value, *before, 0, shape=wire.shape[:-1])
    source = draft.cut(value, *before, -1, shape=wire.shape[:-1])
    draft.do(f"{METHOD}.add_", target, source, alpha=2)
    return value


STEPS: Mapping[str, Step] = {
    "in-place": _in_place,
    "in-place-form": _form,
    "in-place-activation": _activation,
    "view-written": _through_view,
    "view-read": _read_after,
    "put": _put,
    "used-twice": _twice,
    "columns": _columns,
}
