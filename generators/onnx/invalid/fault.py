"""Faults: each breaks one thing in a valid model, which has to be refused by an error that says so.

A fault is declared only where the schema's text leaves no room, and holds in every version that it
applies to. ONNX's checker or its strict inference refuses most; some only an oracle does, which
runs the model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import SEEDS, Axis, Family
from relaxcheck.generators.core.case import AnyCase, Invalid, Value
from relaxcheck.generators.core.faults import near_defaults
from relaxcheck.generators.core.points import narrowed
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.model import INITIALIZER, INPUT, Attribute, Model, Node
from relaxcheck.generators.onnx.schemas import Schema, schema
from relaxcheck.generators.onnx.sketch import DATA, DIMS, HELD, OPSET, SIZE, STATIC, USUAL

_VARIED = 2
"""Axes of an invalid case that may be off their default."""

_PLAIN = {DIMS: (STATIC,), DATA: (INPUT,), HELD: (INITIALIZER,), SIZE: (USUAL,)}
"""The values of axes that leave shapes known, so that a fault in them shows before a run."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to make the model of an operator invalid.

    ``names`` are what an error may call the offending attribute or input, any of them.
    ``applies`` says in which versions it is a fault. ``breaking`` changes the model, given the node
    of the operator. ``pinned`` are the values of axes that it needs, of which a family has one.
    """

    kind: str
    names: tuple[str, ...]
    breaking: Callable[[Model, Node], Model]
    applies: Callable[[Schema], bool] = lambda version: True
    pinned: Mapping[str, Sequence[Value]] = field(default_factory=dict)


def strategies(
    family: Family, operator: str, versions: Sequence[Schema], faults: Sequence[Fault]
) -> tuple[st.SearchStrategy[AnyCase], ...]:
    """For each of ``faults`` that applies to a version of ``operator``: the cases that have it."""
    return tuple(
        whole.map(partial(broken, operator=operator, fault=fault))
        for fault, whole in unbroken(family, versions, faults)
    )


def unbroken(
    family: Family, versions: Sequence[Schema], faults: Sequence[Fault]
) -> Iterator[tuple[Fault, st.SearchStrategy[OnnxCase]]]:
    """Each of ``faults`` that applies to one of ``versions``; the valid cases it is put into."""
    for fault in faults:
        opsets = [version.opset for version in versions if fault.applies(version)]
        if opsets:
            yield fault, _cases(family, fault, opsets)


@st.composite
def _cases(draw: st.DrawFn, family: Family, fault: Fault, opsets: Sequence[int]) -> OnnxCase:
    opset = draw(st.sampled_from(opsets), label=OPSET)
    plain = pinned(family.axes, _PLAIN, strict=False)
    axes = pinned(plain, {**fault.pinned, OPSET: (opset,)})
    case = family.build(near_defaults(draw, axes, _VARIED), draw(SEEDS))
    assert isinstance(case, OnnxCase)
    return case


def broken(case: OnnxCase, operator: str, fault: Fault) -> OnnxCase:
    """``case`` with ``fault`` put into its node of ``operator``."""
    node = next(each for each in case.model.nodes if each.operator == operator)
    model = fault.breaking(case.model, node)
    (changed,) = (
        after.operator
        for before, after in zip(case.model.nodes, model.nodes, strict=True)
        if before is node
    )
    used = set(model.symbols)
    rows = [{name: size for name, size in row.items() if name in used} for row in case.bindings]
    return msgspec.structs.replace(
        case,
        model=model,
        bindings=tuple(row for at, row in enumerate(rows) if row not in rows[:at]),
        expect=Invalid(changed, _names(fault, case.model, model, node) or (changed,)),
        at=msgspec.UNSET,
    )


def _names(fault: Fault, before: Model, after: Model, node: Node) -> tuple[str, ...]:
    """The names that an error may use: those of the fault, and what the node lost in it."""
    (changed,) = (new for old, new in zip(before.nodes, after.nodes, strict=True) if old is node)
    lost = [name for name in node.attributes if name not in changed.attributes]
    version = schema(node.operator, before.opset)
    assert version is not None
    if len(changed.inputs) < len(node.inputs):
        # One letter is no word that only an input is called by.
        lost += [each.name for each in version.inputs if len(each.name) > 1]
    return (*fault.names, *lost)


def pinned(
    axes: Sequence[Axis], values: Mapping[str, Sequence[Value]], *, strict: bool = True
) -> tuple[Axis, ...]:
    """``axes`` where each that ``values`` names has no other values than those.

    Raises:
        ValueError: an axis has none of them, if ``strict``; otherwise it keeps its own.
    """
    kept = {}
    for axis in axes:
        if axis.name in values:
            own = tuple(value for value in axis.values if value in values[axis.name])
            if strict and not own:
                raise ValueError(f"axis {axis.name} has none of {values[axis.name]!r}")
            if own:
                kept[axis.name] = own
    return narrowed(axes, kept)


# Changes


def with_node(model: Model, node: Node, **fields: object) -> Model:
    """``model`` where ``node`` has other ``fields``."""
    changed = msgspec.structs.replace(node, **fields)
    nodes = tuple(changed if each is node else each for each in model.nodes)
    return msgspec.structs.replace(model, nodes=nodes)


def with_attribute(model: Model, node: Node, name: str, value: Attribute) -> Model:
    """``model`` where ``node`` has the attribute ``name``."""
    return with_node(model, node, attributes={**node.attributes, name: value})


def with_tensor(model: Model, name: str, **fields: object) -> Model:
    """``model`` whose tensor ``name`` has other ``fields``."""
    tensors = tuple(
        msgspec.structs.replace(each, **fields) if each.name == name else each
        for each in model.tensors
    )
    return msgspec.structs.replace(model, tensors=tensors)
