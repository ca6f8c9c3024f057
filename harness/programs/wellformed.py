"""Check a program that was decoded, beyond its types: names, attributes, sizes.

A case that no tensor, operator or pass pipeline can stand for is bad input. TVM would fail on it,
and the failure would look like a finding.
"""

import re
from collections.abc import Iterator, Mapping
from keyword import iskeyword
from math import prod

from relaxcheck.generators.calls import required
from relaxcheck.generators.core.attributes import index_map_of
from relaxcheck.generators.core.called import meanings
from relaxcheck.generators.core.called.meanings import CALLS
from relaxcheck.generators.core.called.tir_functions import CALL_TIR, FUNCTIONS
from relaxcheck.generators.core.case import CaseError, Invalid, Mismatch
from relaxcheck.generators.core.contexts import check_context
from relaxcheck.generators.core.dims import Dim, evaluate, fold, symbols
from relaxcheck.generators.core.fills.kinds import Below, Literal, Misfit, Offsets
from relaxcheck.generators.core.gradients import gradients, places
from relaxcheck.generators.core.program import (
    CALL,
    CLOSURES,
    DTYPES,
    ITEM,
    Attribute,
    Case,
    Input,
    Node,
    Program,
    ShapeValue,
    called,
)
from relaxcheck.generators.core.structure import AS_TUPLE, BRANCH, LOCAL, PASSING
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.record import Attribute as Declared
from relaxcheck.generators.operators.record import Operator
from relaxcheck.generators.passes.checking import check_passes
from relaxcheck.harness.compiling.wellformed import LARGEST_SIZE, check_settings

MOST_ELEMENTS = 2**28
"""Elements of the largest tensor: 2 GB in float64, which is what the reference computes in."""

HIGHEST_RANK = 64
"""NumPy has no tensor of more dimensions."""

MOST_NODES = 1000
MOST_BINDINGS = 1000

_OPERATOR = re.compile(r"[A-Za-z]\w*(\.[A-Za-z]\w*)*", re.ASCII)

_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "text": (str,),
    "dtype": (str,),
    "layout": (str,),
    "axis": (int,),
    "axes": (int, tuple),
    "ints": (int, tuple),
    "shape": (tuple, ShapeValue),
    "expressions": (tuple, ShapeValue),
    "extent": (int, float, tuple, ShapeValue),
    "value": (int, float),
    "constant": (int, float),
    "index_map": (str,),
}
"""By ``Declared.type``."""

_CALL = {"function", "sizes"}
_SPECIAL = {
    CALL: {*_CALL, PASSING},
    **dict.fromkeys(CLOSURES, _CALL),
    CALL_TIR: {"function", "of", "shape", "dtype"},
}
"""The attributes of operators that are no functions of ``relax.op``."""


def check(case: Case) -> None:
    """Check names, settings, attributes and sizes of ``case``.

    Raises:
        CaseError: one of them makes no sense, in one line.
    """
    check_settings(case, MOST_BINDINGS)
    check_passes(case)
    check_context(case)
    lenient = isinstance(case.expect, Invalid)
    if gradients(case.program):
        places(case.program)
    for program in (case.program, *case.program.functions.values()):
        _check_nodes(program, lenient=lenient)
        for each in program.inputs:
            _check_name(each.name)
            _check_values(each)
    for binding in case.bindings:
        for name, size in binding.items():
            if not 0 <= size <= LARGEST_SIZE:
                raise CaseError(f"{name} = {size}: no dimension has this size")
        _check_sizes(case.program, binding, lenient=lenient)
    if lenient:
        _check_expectation(case)


def _check_name(name: str) -> None:
    if iskeyword(name) or not name.isascii():
        raise CaseError(f"{name!r} cannot name a value")


def _check_nodes(program: Program, *, lenient: bool) -> None:
    if len(program.nodes) > MOST_NODES:
        raise CaseError(f"{len(program.nodes)} nodes; at most {MOST_NODES} are compiled")
    for node in program.nodes:
        _check_name(node.name)
        for name, value in node.attributes.items():
            _check_attribute(node, name, value)
        record = OPERATORS.get(node.operator)
        if record is not None:
            _check_call(node, record, lenient=lenient)
        elif not _OPERATOR.fullmatch(node.operator):
            raise CaseError(f"node {node.name}: operator {node.operator!r} is unknown")


def _check_attribute(node: Node, name: str, value: Attribute) -> None:
    if not name.isidentifier() or iskeyword(name):
        raise CaseError(f"node {node.name}: {name!r} cannot name an attribute")
    numbers = value if isinstance(value, tuple) else (value,)
    if any(isinstance(number, int) and not -(2**63) <= number < 2**63 for number in numbers):
        raise CaseError(f"node {node.name}: attribute {name} has a number outside int64")


def _check_call(node: Node, record: Operator, *, lenient: bool) -> None:
    """Check arguments and attributes of ``node`` against its record.

    Of a program that is invalid on purpose (``lenient``) an attribute may have any value.
    """
    least = sum(not operand.optional for operand in record.operands)
    shapes = sum(attribute.type in ("shape", "expressions") for attribute in record.attributes)
    most = len(record.operands) + shapes
    if any(operand.many for operand in record.operands):
        most = max(most, len(node.arguments))
    if not least <= len(node.arguments) <= most:
        takes = f"{least}" if least == most else f"{least} to {most}"
        raise CaseError(
            f"node {node.name}: {node.operator} takes {takes} operands, not {len(node.arguments)}"
        )
    declared = {attribute.name: attribute for attribute in record.attributes}
    names = {*declared, ITEM, *_SPECIAL.get(node.operator, ())}
    for name, value in node.attributes.items():
        if name not in names:
            raise CaseError(f"node {node.name}: {node.operator} has no attribute {name!r}")
        if name in declared and not lenient:
            _check_type(node, declared[name], value)
    if node.operator == CALL_TIR and node.attributes.get("function") not in FUNCTIONS:
        raise CaseError(f"node {node.name}: no function of TIR is called so")
    if node.operator in CALLS:
        _check_function(node)
    if node.attributes.get(PASSING) not in (None, AS_TUPLE, LOCAL):
        raise CaseError(f"node {node.name}: {PASSING} is not {AS_TUPLE!r} or {LOCAL!r}")


def _check_function(node: Node) -> None:
    """Check that ``node`` names a function and has what that takes, of whatever value."""
    function = meanings.FUNCTIONS.get(str(node.attributes.get("function")))
    if function is None:
        raise CaseError(f"node {node.name}: no function is called so")
    missing = {*required(node.operator), *meanings.further_attributes(function)}
    missing -= node.attributes.keys()
    if missing:
        raise CaseError(f"node {node.name}: no attribute {', '.join(sorted(missing))}")
    count = len(function.results)
    items = range(count) if count > 1 else (None,)
    if len(node.arguments) != function.arguments or node.attributes.get(ITEM) not in items:
        raise CaseError(
            f"node {node.name}: {node.attributes['function']} has {function.arguments} arguments "
            f"and {count} results"
        )


def _check_type(node: Node, declared: Declared, value: Attribute) -> None:
    types = _TYPES[declared.type]
    fits = isinstance(value, types) and (bool in types or not isinstance(value, bool))
    if value is None:
        fits = declared.default is None
    if declared.type == "dtype" and isinstance(value, str):
        fits = value in DTYPES or value == declared.default
    if declared.type == "index_map" and isinstance(value, str):
        try:
            index_map_of(value)
        except ValueError:
            fits = False
    if not fits:
        raise CaseError(
            f"node {node.name}: attribute {declared.name} of {node.operator} is no "
            f"{declared.type}: {str(value)[:80]!r}"
        )


def _check_values(tensor: Input) -> None:
    """Check that the dtype has the values that are given in full."""
    if not isinstance(tensor.fill, Literal):
        return
    if all(isinstance(dim, int) for dim in tensor.shape):
        elements = prod(dim for dim in tensor.shape if isinstance(dim, int))
        if elements != len(tensor.fill.values):
            raise CaseError(
                f"input {tensor.name}: {len(tensor.fill.values)} values for {elements} elements"
            )
    if "int" in tensor.dtype:
        bits = int(tensor.dtype.rpartition("int")[2])
        signed = not tensor.dtype.startswith("u")
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if signed else (0, 2**bits)
        if not all(low <= value < high for value in tensor.fill.values):
            raise CaseError(f"input {tensor.name}: {tensor.dtype} does not have all its values")


def _shapes(program: Program) -> Iterator[tuple[str, tuple[Dim, ...]]]:
    """Every shape in ``program`` that its symbols decide, with a name for it."""
    for tensor in program.inputs:
        yield f"input {tensor.name}", tensor.shape
        match tensor.fill:
            case Misfit(shape=shape):
                yield f"the argument for {tensor.name}", shape
            case Offsets(total=limit) | Below(limit=limit):
                yield f"the limit of {tensor.name}", (limit,)
    for node in program.nodes:
        for name, value in node.attributes.items():
            if isinstance(value, ShapeValue):
                known = (dim for dim in value.dims if not symbols(dim) & set(program.counted))
                yield f"attribute {name} of {node.name}", tuple(known)


def _check_sizes(program: Program, binding: Mapping[str, int], *, lenient: bool) -> None:
    """Check the sizes of everything whose shape is stated, with the symbols as in ``binding``.

    An attribute may have a size of -1, which is to be inferred; so may ``lenient`` programs have
    wrong ones.
    """
    for place, shape in _shapes(program):
        sizes = _sizes(place, shape, binding)
        stated = not place.startswith("attribute")
        if stated and not lenient and min(sizes, default=0) < 0:
            raise CaseError(f"{place} has a dimension of size {min(sizes)}")
        if max(sizes, default=0) > LARGEST_SIZE or prod(map(abs, sizes)) > MOST_ELEMENTS:
            raise CaseError(f"{place}: no tensor of shape {_short(sizes)} fits into memory")
    for node in program.nodes:
        if node.operator in (CALL, BRANCH, *CLOSURES):
            function, dims = called(node, program.functions)
            sizes = _sizes(f"node {node.name}", dims, binding)
            inner = dict(zip(function.symbols, sizes, strict=True))
            _check_sizes(function, inner, lenient=lenient)


def _sizes(place: str, shape: tuple[Dim, ...], binding: Mapping[str, int]) -> tuple[int, ...]:
    if len(shape) > HIGHEST_RANK:
        raise CaseError(f"{place} has {len(shape)} dimensions; at most {HIGHEST_RANK} are possible")
    try:
        sizes = tuple(evaluate(dim, binding) for dim in shape)
    except ZeroDivisionError as error:
        raise CaseError(f"{place}: a dimension divides by zero at {dict(binding)}") from error
    expressions = (dim for dim in shape if isinstance(dim, str))
    constants = [number for dim in expressions for number in fold(dim, _number, _none, _both)]
    if any(abs(number) > LARGEST_SIZE for number in constants):
        raise CaseError(f"{place}: a dimension has a number that is no size")
    return sizes


def _number(value: int) -> list[int]:
    return [value]


def _none(name: str) -> list[int]:
    return []


def _both(sign: str, left: list[int], right: list[int]) -> list[int]:
    return left + right


def _short(sizes: tuple[int, ...]) -> str:
    text = " × ".join(str(size) if abs(size) < 10**12 else "…" for size in sizes)
    return text if len(text) <= 80 else f"{text[:80]}…"


def _check_expectation(case: Case) -> None:
    assert isinstance(case.expect, Invalid)
    expect = case.expect
    if not expect.fault:
        raise CaseError("the expectation names no fault")
    if isinstance(expect, Mismatch):
        inputs = case.program.inputs
        if expect.operator not in {each.name for each in inputs} or not expect.sizes:
            raise CaseError(f"no parameter {expect.operator!r} to be refused, or no sizes")
        numbers = re.findall(r"\d+", " ".join(expect.fault))
        tensor = case.program.input(expect.operator)
        if not numbers or int(numbers[0]) >= len(tensor.shape):
            raise CaseError(f"{expect.fault[0]!r} is no dimension of {expect.operator}")
        if isinstance(tensor.fill, Misfit) and len(tensor.fill.shape) != len(tensor.shape):
            raise CaseError(f"the values of {expect.operator} have another rank than its shape")
    elif expect.operator not in {node.operator for node in case.program.nodes}:
        raise CaseError(f"no node of the operator {expect.operator!r}, which is to be refused")
