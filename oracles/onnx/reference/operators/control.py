"""Branches and loops over graphs; sequences and optionals."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from relaxcheck.generators.onnx.model import Graph
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.onnx.reference.call import (
    Call,
    Maybe,
    Value,
    axis_of,
    integer,
    integers,
    operator,
)
from relaxcheck.oracles.onnx.reference.operators.movement import parts
from relaxcheck.oracles.onnx.reference.values import joined, moved, whole
from relaxcheck.oracles.reference.estimate import Estimate

_LONGEST = 10_000
"""The largest number of iterations that are evaluated."""


def _graph(call: Call, name: str) -> Graph:
    value = call.node.attributes[name]
    if not isinstance(value, Graph):
        raise ValueError(f"{name} is no graph")
    return value


def _is_true(condition: Value) -> bool:
    if not isinstance(condition, Estimate):
        raise ValueError("a condition is a sequence")
    return bool(integer(condition))


def _tensor(value: Value) -> Estimate:
    if not isinstance(value, Estimate):
        raise Unsupported("reference: a sequence in place of a tensor")
    return value


@operator("If")
def _if(call: Call) -> tuple[Value, ...]:
    branch = "then_branch" if _is_true(call[0]) else "else_branch"
    return call.run(_graph(call, branch), ())


@operator("Loop")
def _loop(call: Call) -> tuple[Value, ...]:
    """The values carried, and what the body gives beside them, put together along a new axis."""
    body = _graph(call, "body")
    limit, condition = call.optional(0), call.optional(1)
    most = _LONGEST if limit is None else integer(limit)
    goes_on = condition is None or _is_true(condition)
    carried: list[Value] = [each for each in call.operands[2:] if each is not None]
    scanned: list[list[Estimate]] = [[] for _ in body.outputs[1 + len(carried) :]]
    for at in range(most):
        if not goes_on:
            break
        if at >= _LONGEST:
            raise Unsupported(f"reference: more than {_LONGEST} iterations")
        results = call.run(body, (whole(at), whole(1, "bool"), *carried))
        # Without a condition to begin with, that of the body still ends the loop.
        goes_on = _is_true(results[0])
        carried = list(results[1 : 1 + len(carried)])
        for line, value in zip(scanned, results[1 + len(carried) :], strict=True):
            line.append(_tensor(value))
    if not all(scanned):
        raise Unsupported("reference: Loop without an iteration gives no shape")
    return *carried, *(_stacked(line, 0) for line in scanned)


def _stacked(line: Sequence[Estimate], axis: int) -> Estimate:
    return joined(line, lambda arrays: np.stack(arrays, axis))


def _per(call: Call, name: str, count: int) -> tuple[int, ...]:
    return tuple(call.attribute(name) or (0,) * count)


@operator("Scan")
def _scan(call: Call) -> tuple[Value, ...]:
    """As Loop, over the elements along an axis of the last operands."""
    if call.since < 9:
        raise Unsupported("reference: Scan over batches, in opset 8")
    body, count = _graph(call, "body"), call.attribute("num_scan_inputs")
    split = len(call.operands) - count
    carried: list[Value] = [call[at] for at in range(split)]
    sources = [call[at] for at in range(split, len(call.operands))]
    axes, turns = (_per(call, f"scan_input_{name}", count) for name in ("axes", "directions"))
    lines = []
    for source, axis, turn in zip(sources, axes, turns, strict=True):
        place = axis_of(axis, source.value.ndim)
        each = moved(source, lambda array, at=place: np.moveaxis(array, at, 0))  # type: ignore[misc]
        lines.append(moved(each, lambda array: array[::-1]) if turn else each)
    length = lines[0].value.shape[0]
    scanned: list[list[Estimate]] = [[] for _ in body.outputs[split:]]
    for at in range(length):
        elements = [moved(line, lambda array, n=at: array[n]) for line in lines]  # type: ignore[misc]
        results = call.run(body, (*carried, *elements))
        carried = list(results[:split])
        for line, value in zip(scanned, results[split:], strict=True):
            line.append(_tensor(value))
    if not all(scanned):
        raise Unsupported("reference: Scan without an iteration gives no shape")
    axes, turns = (
        _per(call, f"scan_output_{name}", len(scanned)) for name in ("axes", "directions")
    )
    outputs = []
    for line, axis, turn in zip(scanned, axes, turns, strict=True):
        place = axis_of(axis, line[0].value.ndim + 1)
        outputs.append(_stacked(line[::-1] if turn else line, place))
    return *carried, *outputs


def _sequence(call: Call, at: int = 0) -> tuple[Estimate, ...]:
    value = call.operands[at]
    if not isinstance(value, tuple):
        raise ValueError("of a tensor")
    return value


@operator("SequenceEmpty")
def _sequence_empty(call: Call) -> Any:
    return ()


@operator("SequenceConstruct")
def _sequence_construct(call: Call) -> Any:
    return call.tensors


def _place(position: Estimate | None, count: int, default: int) -> int:
    at = default if position is None else integer(position)
    at = at + count if at < 0 else at
    if not 0 <= at <= count:
        raise ValueError(f"place {at} of {count}")
    return at


@operator("SequenceInsert")
def _sequence_insert(call: Call) -> Any:
    items = _sequence(call)
    at = _place(call.optional(2), len(items), len(items))
    return (*items[:at], call[1], *items[at:])


@operator("SequenceErase")
def _sequence_erase(call: Call) -> Any:
    items = _sequence(call)
    at = _place(call.optional(1), len(items), len(items) - 1)
    return (*items[:at], *items[at + 1 :])


@operator("SequenceAt")
def _sequence_at(call: Call) -> Estimate:
    items = _sequence(call)
    return items[_place(call[1], len(items) - 1 if integer(call[1]) >= 0 else len(items), 0)]


@operator("SequenceLength")
def _sequence_length(call: Call) -> Estimate:
    return whole(len(_sequence(call)))


@operator("SplitToSequence")
def _split_to_sequence(call: Call) -> Any:
    """Parts of stated sizes, or as long as stated but for the last; else of 1 each."""
    x, sizes = call[0], call.optional(1)
    axis = axis_of(call.attribute("axis"), x.value.ndim)
    length = x.value.shape[axis]
    if sizes is None:
        cut = parts(x, axis, (1,) * length)
        if call.flag("keepdims"):
            return cut
        return tuple(moved(each, lambda array: np.squeeze(array, axis)) for each in cut)
    if sizes.value.ndim:
        return parts(x, axis, integers(sizes))
    step = integer(sizes)
    return parts(x, axis, tuple(min(step, length - at) for at in range(0, length, step)))


@operator("ConcatFromSequence")
def _concat_from_sequence(call: Call) -> Estimate:
    items, axis = _sequence(call), call.attribute("axis")
    if call.flag("new_axis"):
        return _stacked(items, axis_of(axis, items[0].value.ndim + 1))
    place = axis_of(axis, items[0].value.ndim)
    return joined(items, lambda arrays: np.concatenate(arrays, place))


@operator("SequenceMap")
def _sequence_map(call: Call) -> Any:
    """The body for each element of the first sequence, with those of the others beside it."""
    body = _graph(call, "body")
    length = len(_sequence(call))
    columns: list[list[Estimate]] = [[] for _ in body.outputs]
    for at in range(length):
        operands = tuple(
            each[at] if isinstance(each, tuple) else each
            for each in call.operands
            if each is not None
        )
        for column, value in zip(columns, call.run(body, operands), strict=True):
            column.append(_tensor(value))
    return tuple(map(tuple, columns))


@operator("Optional")
def _optional(call: Call) -> Any:
    value = call.operands[0] if call.operands else None
    if isinstance(value, Maybe):
        raise ValueError("of an optional")
    return Maybe(value)


@operator("OptionalHasElement")
def _optional_has_element(call: Call) -> Estimate:
    value = call.operands[0] if call.operands else None
    has = value.value is not None if isinstance(value, Maybe) else value is not None
    return whole(has, "bool")


@operator("OptionalGetElement")
def _optional_get_element(call: Call) -> Any:
    value = call.operands[0]
    value = value.value if isinstance(value, Maybe) else value
    if value is None:
        raise ValueError("of nothing")
    return value
