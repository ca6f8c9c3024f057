"""Programs with other dimensions in place of their own."""

from collections.abc import Callable

import msgspec

from relaxcheck.generators.core import dims
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Below, Fill, Misfit, Offsets
from relaxcheck.generators.core.program import Attribute, Program, ShapeValue


def at_sizes(function: Program, sizes: tuple[Dim, ...]) -> Program:
    """``function`` with dimensions of its caller, ``sizes``, in place of its symbols."""
    values = dict(zip(function.symbols, sizes, strict=True))

    def other(dim: Dim) -> Dim:
        if not dims.symbols(dim):
            return dim
        return dims.canonical(
            dims.fold(
                dim,
                constant=str,
                symbol=lambda name: f"({values[name]})",
                binary=lambda sign, left, right: f"({left} {sign} {right})",
            )
        )

    return with_dims(function, other, other)


def with_dims(program: Program, dim: Callable[[Dim], Dim], limit: Callable[[Dim], Dim]) -> Program:
    """Replace the dimensions of ``program``; those of its functions stay.

    ``dim`` maps the dimensions of inputs and nodes, in order; ``limit`` maps the dimensions that
    bound input values.
    """
    inputs = tuple(
        msgspec.structs.replace(
            tensor, shape=tuple(map(dim, tensor.shape)), fill=_fill(tensor.fill, limit)
        )
        for tensor in program.inputs
    )
    nodes = tuple(
        msgspec.structs.replace(
            node,
            attributes={name: _attribute(value, dim) for name, value in node.attributes.items()},
        )
        for node in program.nodes
    )
    return msgspec.structs.replace(program, inputs=inputs, nodes=nodes)


def _attribute(value: Attribute, dim: Callable[[Dim], Dim]) -> Attribute:
    return ShapeValue(tuple(map(dim, value.dims))) if isinstance(value, ShapeValue) else value


def _fill(fill: Fill, limit: Callable[[Dim], Dim]) -> Fill:
    match fill:
        case Offsets(total=total):
            return Offsets(limit(total))
        case Below(limit=most):
            return msgspec.structs.replace(fill, limit=limit(most))
        case Misfit(shape=shape):
            return Misfit(tuple(map(limit, shape)))
    return fill
