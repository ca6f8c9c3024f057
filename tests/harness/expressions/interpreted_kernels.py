"""Stands in for ``harness.expressions.kernels``: interprets what that compiles, so it is right.

Values are those of a processor (``processor``), which shares nothing with the oracle. It must not
be asked for one where it would stop.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from tvm.error import InternalError

from relaxcheck.generators.expressions.language import Expression
from relaxcheck.harness.expressions import execute as execute_expressions
from relaxcheck.harness.expressions import kernels
from relaxcheck.harness.expressions.analyzer import check
from relaxcheck.harness.expressions.kernel_plans import LENGTHS, Kernel
from tests.harness.expressions.ideal_session import IdealSession
from tests.harness.expressions.processor import Array, computed

Function = Callable[..., None]


def put_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have expressions checked against what is right, wherever they stand; TVM is not asked."""
    monkeypatch.setattr(kernels, "kernels_built", _kernels_built)
    monkeypatch.setattr(kernels, "call", _call)
    monkeypatch.setattr(kernels, "shapes_built", lambda named, how: _sizes(named))
    monkeypatch.setattr(kernels, "parameters_built", lambda named, how: _taking(named))
    monkeypatch.setattr(kernels, "extents_built", lambda named, how: _making(named))

    def exactly(subject: Any, *, fully: bool = False) -> Any:
        return check(subject, IdealSession, fully=fully)

    monkeypatch.setattr(execute_expressions, "check", exactly)


def _kernels_built(groups: Sequence[Sequence[Kernel]], how: kernels.How) -> Mapping[str, Function]:
    return {f"f{number}": _function(group) for number, group in enumerate(groups)}


def _call(function: Function, table: Any, arrays: Sequence[Any]) -> Any:
    function(table, *arrays)
    return arrays[-1]


def _function(group: Sequence[Kernel]) -> Function:
    def run(table: Any, guard: Any, *rest: Any) -> None:
        *lengths, out = rest
        n = dict(zip(LENGTHS, map(len, lengths), strict=True))
        guarded = written = 0
        for member in group:
            _nest(member, guard[guarded:], n, out[written:])
            guarded, written = guarded + member.points, written + member.written

    return run


def _nest(kernel: Kernel, guard: Any, n: Mapping[str, int], out: Any) -> None:
    counts = list(kernel.extents)
    if kernel.symbolic:
        counts[-1] = n[kernel.variables[-1].dtype]
    every = list(product(*map(range, counts)))
    columns = {
        variable.name: np.array([variable.low + steps[at] for steps in every], object)
        for at, variable in enumerate(kernel.variables)
    }
    values, stops, _ = computed(kernel.expression, columns, len(every))
    for steps, value, stopped in zip(every, values, stops, strict=True):
        point = 0
        for step, extent in zip(steps, kernel.extents, strict=True):
            point = point * extent + step
        if kernel.guarded and not guard[point]:
            continue
        if stopped:
            raise AssertionError(f"{kernel.expression} stops the processor at {steps}")
        if kernel.bounds is None:
            out[point] = _bits(value)
            continue
        low, high = kernel.bounds
        # A table holds at each place the place.
        out[point] = _bits(value - low)
        if kernel.backwards:
            out[kernel.points + point] = _bits(high - value)


def _bits(value: int) -> int:
    """The int64 of the same bits."""
    return (value + 2**63) % 2**64 - 2**63


def _sizes(named: kernels.Named) -> Callable[[Sequence[int]], tuple[int, ...]]:
    return lambda numbers: tuple(_each(named, numbers))


def _each(named: kernels.Named, numbers: Sequence[int]) -> Iterator[int]:
    ends = [0]
    for _, names in named:
        ends.append(ends[-1] + len(names))
    for (expression, names), (begin, end) in zip(named, pairwise(ends), strict=True):
        yield value_at(expression, dict(zip(names, numbers[begin:end], strict=True)))


def value_at(expression: Expression, binding: Mapping[str, int]) -> int:
    """The value of ``expression`` at one point, as a processor computes it."""
    columns: dict[str, Array] = {name: np.array([value]) for name, value in binding.items()}
    values, stops, _ = computed(expression, columns, 1)
    if stops[0]:
        raise AssertionError(f"{expression} stops the processor at {binding}")
    return int(values[0])


def _taking(named: kernels.Named) -> kernels.OfSizes:
    def take(numbers: Sequence[int], sizes: Sequence[int]) -> None:
        for right, size in zip(_each(named, numbers), sizes, strict=True):
            if size != right:
                raise InternalError(f"{size} vs. {right}")

    return take


def _making(named: kernels.Named) -> Callable[[Sequence[int]], tuple[int, ...]]:
    def make(numbers: Sequence[int]) -> tuple[int, ...]:
        sizes = tuple(_each(named, numbers))
        if min(sizes) < 0:
            raise InternalError(f"an extent is {min(sizes)}")
        return sizes

    return make
