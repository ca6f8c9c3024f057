"""Calls of every operator, as tests of the oracles make them, for tests of the control."""

from collections.abc import Iterator
from typing import Any

import msgspec

from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.core.fills.kinds import Random
from relaxcheck.generators.core.program import Program
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import drafted
from tests.oracles.agreeing import program_of
from tests.oracles.reference import test_elementwise as elementwise
from tests.oracles.reference import test_movement as movement
from tests.oracles.reference import test_normalization as normalization
from tests.oracles.reference import test_reductions as reductions
from tests.oracles.reference import test_windows as windows

FLOATS = ("float16", "bfloat16", "float32", "float64")
EIGHT_BITS = ("float8_e4m3fn", "float8_e5m2")
WHOLE = ("int8", "uint8", "int32")

_POINTS = 60

Shapes = list[tuple[int, ...]]


def calls(operator: str) -> Iterator[Program]:
    """Programs of one call of ``operator``, in all the dtypes that it is defined for.

    Of an operator that no table of the oracles' tests has, points of its record's axes.
    """
    listed = list(_listed(operator))
    yield from listed or _recorded(operator)


def _recorded(operator: str) -> Iterator[Program]:
    steering = Steering(OPERATORS[operator].family_axes)
    for choice in range(_POINTS):
        program, bindings = drafted(OPERATORS[operator], steering.point(choice))
        plain = static(program, bindings[0])
        if OPERATORS[operator].alone:
            # What follows it is there for the compiler.
            ends = [at for at, node in enumerate(plain.nodes, 1) if node.operator == operator]
            plain = msgspec.structs.replace(
                plain, nodes=plain.nodes[: ends[-1]], outputs=(plain.nodes[ends[-1] - 1].name,)
            )
        last = msgspec.structs.replace(plain.nodes[-1], name="y")
        # Items of a tuple are nodes of their own: one of them is enough.
        alone = {source.name for source in plain.inputs}.issuperset(last.arguments)
        nodes = (last,) if alone else (*plain.nodes[:-1], last)
        yield msgspec.structs.replace(plain, nodes=nodes, outputs=("y",))


def _listed(operator: str) -> Iterator[Program]:
    for shapes, attributes, dtypes in _forms(operator):
        for dtype in dtypes:
            yield program_of(operator, shapes, dtype, **attributes)
    for name, shapes, _, rest in movement.P:
        if name == operator:
            yield from _moved(operator, shapes, dict(rest))


def _forms(operator: str) -> Iterator[tuple[Shapes, dict[str, Any], tuple[str, ...]]]:
    """Shapes, attributes and dtypes of the operators that compute."""
    number = (*FLOATS, *WHOLE)
    unary = (*elementwise.UNARY, *elementwise.GATED, *elementwise.ATTRIBUTES, "nn.relu")
    if operator in unary:
        exact = operator in ("negative", "abs", "nn.relu")
        for shape in ((7, 30), (0,), ()):
            attributes = elementwise.ATTRIBUTES.get(operator, {})
            yield [shape], attributes, number if exact else FLOATS
    elif operator in (*elementwise.BINARY, *elementwise.COMPARED, "add", "multiply"):
        for pair in elementwise.PAIRS:
            yield list(pair), {}, FLOATS if operator in ("divide", "power") else number
    elif operator in elementwise.WHOLE:
        for pair in elementwise.PAIRS:
            yield list(pair), {}, WHOLE
    elif operator in (*reductions.SUMS, *reductions.ALONG):
        whole = operator in ("sum", "prod", "max", "min", "cumsum", "cumprod", "argmax", "argmin")
        for attributes in reductions._attributes(operator):
            for shape in ((3, 5, 4), (1, 1, 1), (2, 33)):
                axis = attributes.get("axis")
                if not isinstance(axis, tuple) or max(axis) < len(shape):
                    yield [shape], attributes, number if whole else FLOATS
    for table in (windows.CALLS, normalization.CALLS):
        for shapes, attributes in table.get(operator, []):
            yield shapes, attributes, FLOATS
    if operator == "permute_dims":
        for shape, attributes in (((2, 3, 4), {"axes": (2, 0, 1)}), ((2, 0), {}), ((), {})):
            yield [shape], attributes, number
    if operator == "astype":
        for to in (*FLOATS, *EIGHT_BITS, "int32", "int8", "uint16", "bool"):
            for dtype in (*number, *EIGHT_BITS, "bool"):
                yield [(3, 4)], {"dtype": to}, (dtype,)


def _moved(operator: str, shapes: Shapes, rest: dict[str, Any]) -> Iterator[Program]:
    kinds, fills = rest.pop("kinds", (None,) * len(shapes)), rest.pop("fills", ())
    for dtype in ("float32", "bfloat16", "int32") if shapes else ("float32",):
        if operator == "match_cast" and dtype != "float32":
            continue
        dtypes = [kind or dtype for kind in kinds]
        yield program_of(operator, shapes, dtypes, [fill or Random() for fill in fills], **rest)
