"""Calls of functions of TIR and packed functions: the tensors that they say they take and give.

TVM does not compare the types that a call states with those of its arguments: a program that
states others is not defined.
"""

from collections.abc import Mapping
from typing import NamedTuple

from relaxcheck.generators.core.called.meanings import CALLS
from relaxcheck.generators.core.called.tir_functions import CALL_TIR
from relaxcheck.generators.core.dims import evaluate, symbols
from relaxcheck.generators.core.program import (
    CALL,
    CLOSURES,
    Attribute,
    Node,
    Program,
    ShapeValue,
    called,
)
from relaxcheck.generators.core.structure import BRANCH

_CALLS = frozenset({CALL_TIR, *CALLS})


class Actual(NamedTuple):
    """The shape and dtype of a tensor at a binding."""

    shape: tuple[int, ...]
    dtype: str


def check(program: Program, binding: Mapping[str, int], tensors: Mapping[str, Actual]) -> None:
    """Compare each call with its ``tensors`` at ``binding``; those that are missing are not.

    An argument of one of the program's functions, or of branches, has the type of the input.

    Raises:
        ValueError: an argument or a result is not as the call says.
    """
    for node in program.nodes:
        if node.operator in (CALL, BRANCH, *CLOSURES):
            _check_inputs(node, program, binding, tensors)
        if node.operator not in _CALLS:
            continue
        stated = Actual(_at(node.attributes["of"], binding), str(node.attributes["dtype"]))
        for name in node.arguments:
            _compare(node.name, name, stated, tensors)
        if node.operator == CALL_TIR:
            result = Actual(_at(node.attributes["shape"], binding), stated.dtype)
            _compare(node.name, node.name, result, tensors)


def _check_inputs(
    node: Node, program: Program, binding: Mapping[str, int], tensors: Mapping[str, Actual]
) -> None:
    function, dims = called(node, program.functions)
    if any(not symbols(dim) <= binding.keys() for dim in dims):
        return
    inner = dict(zip(function.symbols, (evaluate(dim, binding) for dim in dims), strict=True))
    arguments = node.arguments[node.operator == BRANCH :]
    for tensor, name in zip(function.inputs, arguments, strict=True):
        _compare(
            node.name, name, Actual(_at(ShapeValue(tensor.shape), inner), tensor.dtype), tensors
        )


def _compare(call: str, name: str, stated: Actual, tensors: Mapping[str, Actual]) -> None:
    actual = tensors.get(name, stated)
    differs = len(stated.shape) != len(actual.shape) or any(
        size not in (-1, other) for size, other in zip(stated.shape, actual.shape, strict=True)
    )
    if differs or stated.dtype != actual.dtype:
        raise ValueError(
            f"node {call}: {name} is {actual.dtype}{list(actual.shape)}, and the call says "
            f"{stated.dtype}{list(stated.shape)}"
        )


def _at(value: Attribute, binding: Mapping[str, int]) -> tuple[int, ...]:
    """The sizes of an attribute that is a shape; -1 where the data decide."""
    dims = value.dims if isinstance(value, ShapeValue) else value
    assert isinstance(dims, tuple)
    return tuple(evaluate(dim, binding) if symbols(dim) <= binding.keys() else -1 for dim in dims)
