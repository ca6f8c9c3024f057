"""Arguments that no operator has a meaning for.

Type inference divides by strides and numbers of groups of 0, in C++, before it looks at them. It
looks neither at the size of a pool nor at the mode of a pad: windows without elements leave the
output unwritten, and any unknown mode pads with the value.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from tvm import relax

from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import (
    LEGALIZE,
    FaultPart,
    Fix,
    checked,
    invalid,
)
from relaxcheck.fixes.framework.patch import Checking, NewFile

UPSTREAM = NewFile("relax/op/invalid_arguments.py")

_POOLS = tuple(f"{kind}_pool{rank}d" for kind in ("max", "avg") for rank in (1, 2, 3))
_CONVOLUTIONS = tuple(f"conv{rank}d" for rank in (1, 2, 3))
_MODES = ("constant", "reflect", "replicate", "circular")


def _at_least_one(constructor: str, *names: str) -> Callable[[Mapping[str, Any]], None]:
    """A check that the integers in the arguments ``names`` are at least 1."""

    def check(arguments: Mapping[str, Any]) -> None:
        for name in names:
            argument = arguments[name]
            listed = argument if isinstance(argument, list | tuple) else [argument]
            if any(isinstance(value, int) and value < 1 for value in listed):
                operator = f"relax.nn.{constructor}"
                raise invalid(operator, "a number is less than 1", **{name: argument})

    return check


def _known_mode(arguments: Mapping[str, Any]) -> None:
    """Check that the mode of a pad is known."""
    mode = arguments["pad_mode"]
    if mode is not None and mode not in _MODES:
        raise invalid("relax.nn.pad", f"the mode is none of {', '.join(_MODES)}", pad_mode=mode)


def refuses_strides() -> bool:
    """True if strides of 0 of pools and convolutions are refused by name."""
    return all(
        probes.is_refused(partial(_called, name, strides=0), name, "strides")
        for name in (*_POOLS, *_CONVOLUTIONS)
    )


def refuses_pool_sizes() -> bool:
    """True if pools over windows of no elements are refused by name."""
    return all(
        probes.is_refused(partial(_called, name, pool_size=0), name, "pool_size") for name in _POOLS
    )


def refuses_pad_modes() -> bool:
    """True if an unknown mode of a pad is refused by name."""

    def make() -> None:
        call = probes.one_call(lambda x: relax.op.nn.pad(x, (1, 1), pad_mode="sideways"), (3,))
        call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)

    return probes.is_refused(make, "pad", "mode")


def refuses_no_groups() -> bool:
    """True if a group_norm of no groups is refused by name."""

    def make() -> None:
        probes.one_call(
            lambda *tensors: relax.op.nn.group_norm(
                *tensors, num_groups=0, channel_axis=1, axes=[2]
            ),
            *((1, 2, 3), (2,), (2,)),
        )

    return probes.is_refused(make, "group_norm", "num_groups")


def _called(name: str, **arguments: Any) -> None:
    """Build and lower the call ``name`` of data of 3 elements along each axis."""
    rank = int(name[-2])
    kernels = [(1, 1, *(2,) * rank)] if name in _CONVOLUTIONS else []
    operator = getattr(relax.op.nn, name)
    call = probes.one_call(
        lambda *tensors: operator(*tensors, **arguments), (1, 1, *(3,) * rank), *kernels
    )
    call.op.get_attr(LEGALIZE)(relax.BlockBuilder(), call)


_CHECKED: tuple[tuple[str, tuple[str, ...]], ...] = (
    *((name, ("pool_size", "strides")) for name in _POOLS),
    *((name, ("strides",)) for name in _CONVOLUTIONS),
    ("group_norm", ("num_groups",)),
)
"""Constructors, and their arguments that are at least 1."""

_CONSTRUCTORS = {
    name: getattr(relax.op.nn, name) for name in (*(name for name, _ in _CHECKED), "pad")
}

FIX = Fix(
    name="invalid_arguments",
    operators=tuple(f"relax.nn.{name}" for name in _CONSTRUCTORS),
    fault=(
        "strides and numbers of groups of 0 are refused by an internal error; pools without"
        " elements and unknown modes of a pad are accepted"
    ),
    issue=None,
    parts=(
        FaultPart("strides", lambda: not refuses_strides()),
        FaultPart("pool sizes", lambda: not refuses_pool_sizes()),
        FaultPart("pad modes", lambda: not refuses_pad_modes()),
        FaultPart("groups", lambda: not refuses_no_groups()),
    ),
    rebindings=lambda: (
        *(checked(_CONSTRUCTORS[name], _at_least_one(name, *names)) for name, names in _CHECKED),
        checked(_CONSTRUCTORS["pad"], _known_mode),
    ),
    after="prelu",
    patch=(
        *(
            Checking(name, _at_least_one, ", ".join(f'"{argument}"' for argument in (name, *names)))
            for name, names in _CHECKED
        ),
        Checking("pad", _known_mode),
    ),
)
