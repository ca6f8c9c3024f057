"""Windows of the sizes that people use: a reduced example ends at a kernel of 3 by 3, not 1 by 1.

This is no step: a step goes down, and these sizes go up.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from math import prod

import msgspec

from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.fills.kinds import Fill, Literal, Random
from relaxcheck.generators.core.layouts import parts
from relaxcheck.generators.core.program import Attribute, Case, Input, Node
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import Operator, Window
from relaxcheck.harness.programs.reduction.steps import candidate, remade, with_node
from relaxcheck.harness.programs.reduction.value_steps import WRITTEN_OUT


def familiar_windows(case: Case) -> Iterator[Case]:
    """``case`` with every window at its familiar size, and data that it fits into, if that differs.

    At most one candidate, which may be invalid.
    """
    changed = case
    for node in case.program.nodes:
        record = OPERATORS.get(node.operator)
        if record is not None and record.window is not None:
            made = candidate(partial(_with_window, changed, node, record, record.window))
            changed = next(made, changed)
    if changed.program != case.program:
        yield changed


def _with_window(case: Case, node: Node, record: Operator, window: Window) -> Case:
    """``case`` with the window of ``node`` at its familiar size.

    Raises:
        LookupError: the window is no input.
        ValueError: its size is symbolic, or a layout does not fit a shape.
    """
    inputs = {tensor.name: tensor for tensor in case.program.inputs}
    called = node
    if window.attribute:
        sizes = {window.attribute: (window.size,) * len(window.spatial)}
        called = msgspec.structs.replace(node, attributes={**node.attributes, **sizes})
    else:
        kernel = inputs[node.arguments[1]]
        dims = _spatial(kernel, _layout(node, record, window.kernel_layout), window.spatial)
        if not all(isinstance(dim, int) for dim in dims.values()):
            raise ValueError("the size of the window is symbolic")
        inputs[kernel.name] = _resized(kernel, dict.fromkeys(dims, window.size))
    data = inputs.get(node.arguments[record.at_hand])
    if window.inside and data is not None:
        there = _spatial(data, _layout(node, record, window.data_layout), window.spatial)
        steps = _each(node.attributes.get("dilation", 1), len(window.spatial))
        reach = [step * (window.size - 1) + 1 for step in steps]
        inputs[data.name] = _resized(
            data,
            {
                at: max(dim, span)
                for (at, dim), span in zip(there.items(), reach, strict=True)
                if isinstance(dim, int)
            },
        )
    return remade(case, inputs=tuple(inputs.values()), nodes=with_node(case, called))


def _layout(node: Node, record: Operator, name: str) -> str:
    """The layout that the attribute ``name`` of ``node`` says, or its default."""
    default = next(each.default for each in record.attributes if each.name == name)
    return str(node.attributes.get(name, default))


def _spatial(tensor: Input, layout: str, letters: str) -> dict[int, Dim]:
    """The dimensions of ``tensor`` along ``letters``, in their order, by their place in ``layout``.

    Raises:
        ValueError: ``layout`` has another rank, or not these letters.
    """
    places = {
        letter: at
        for at, ((letter, factor), _) in enumerate(zip(parts(layout), tensor.shape, strict=True))
        if not factor
    }
    if missing := [letter for letter in letters if letter not in places]:
        raise ValueError(f"{layout} has no axis {missing[0]}")
    return {places[letter]: tensor.shape[places[letter]] for letter in letters}


def _each(value: Attribute, rank: int) -> tuple[int, ...]:
    """The integer, or list of integers, ``value`` along each of ``rank`` axes.

    Raises:
        ValueError: it is neither, or a list of another length.
    """
    if isinstance(value, int):
        return (value,) * rank
    if not isinstance(value, tuple) or len(value) not in (1, rank):
        raise ValueError(f"{value!r} is no list of {rank} integers")
    return tuple(map(int, value if len(value) == rank else value * rank))


def _resized(tensor: Input, sizes: Mapping[int, Dim]) -> Input:
    """``tensor`` with ``sizes`` by axis. Values that are all equal stay so where they are few."""
    shape = tuple(sizes.get(at, dim) for at, dim in enumerate(tensor.shape))
    if shape == tensor.shape:
        return tensor
    fill: Fill = tensor.fill
    if isinstance(fill, Literal):
        count = prod(map(int, shape))
        alike = len(set(fill.values)) == 1 and count <= WRITTEN_OUT
        fill = Literal(fill.values[:1] * count) if alike else Random()
    return msgspec.structs.replace(tensor, shape=shape, fill=fill)
