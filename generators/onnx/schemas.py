"""The schemas of ONNX's operators, as far as drawing needs them.

They are those of the installed package ``onnx``: a version of an operator that a newer package adds
is drawn by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import onnx
from onnx import defs

from relaxcheck.generators.onnx.contributed import CONTRIBUTED, Contributed
from relaxcheck.generators.onnx.model import DTYPES
from relaxcheck.generators.onnx.proto import dtype_of

FIRST_OPSET = 7
"""The first opset that is drawn: earlier ones broadcast in another way."""

NEWEST_OPSET: int = defs.onnx_opset_version()

_USUAL = 18
"""The opset that exporters usually write: the versions then in force are drawn in it."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input or output: its name, the name of its type parameter or its dtype, and its number.

    ``optional``: it may be left out. ``variadic``: it may occur several times.
    """

    name: str
    type: str
    optional: bool
    variadic: bool


@dataclass(frozen=True, slots=True)
class Schema:
    """One version of an operator, in force from opset ``since`` to ``until``.

    ``types`` are the dtypes of each type parameter: of tensors alone, without text and complex
    numbers. ``attributes`` are the defaults by name, None where there is none. ``domain`` is "" for
    ONNX's own operators.
    """

    operator: str
    since: int
    until: int
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]
    attributes: Mapping[str, Any]
    required: frozenset[str]
    types: Mapping[str, tuple[str, ...]]
    domain: str = ""

    @property
    def opset(self) -> int:
        """The opset that cases of this version are in."""
        if self.since <= _USUAL <= self.until:
            return _USUAL
        return max(self.since, FIRST_OPSET)

    def input(self, name: str) -> Parameter | None:
        """The input called ``name``, None if this version has none."""
        return next((each for each in self.inputs if each.name == name), None)


@cache
def versions(operator: str) -> tuple[Schema, ...]:
    """The versions of ``operator`` that are in force in an opset from ``FIRST_OPSET`` on.

    An operator of another domain has that in front of its name, and one version.

    Raises:
        KeyError: ONNX has no such operator.
    """
    if operator in CONTRIBUTED:
        return (_contributed(CONTRIBUTED[operator]),)
    known = sorted(_history()[operator], key=lambda schema: int(schema.since_version))
    ends = [schema.since_version - 1 for schema in known[1:]] + [NEWEST_OPSET]
    return tuple(
        _read(schema, end)
        for schema, end in zip(known, ends, strict=True)
        if end >= FIRST_OPSET and not schema.deprecated
    )


def schema(operator: str, opset: int) -> Schema | None:
    """The version of ``operator`` that is in force in ``opset``; None if there is none."""
    return next((each for each in versions(operator) if each.since <= opset <= each.until), None)


def operators() -> tuple[str, ...]:
    """The names of all operators of ONNX's own domain that some such opset has, sorted."""
    return tuple(sorted(name for name in _history() if versions(name)))


@cache
def _history() -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for each in defs.get_all_schemas_with_history():
        if each.domain == "":
            found.setdefault(str(each.name), []).append(each)
    return found


def _read(schema: Any, until: int) -> Schema:
    return Schema(
        str(schema.name),
        int(schema.since_version),
        int(until),
        tuple(map(_parameter, schema.inputs)),
        tuple(map(_parameter, schema.outputs)),
        {name: _default(each) for name, each in schema.attributes.items()},
        frozenset(name for name, each in schema.attributes.items() if each.required),
        {each.type_param_str: _dtypes(each.allowed_type_strs) for each in schema.type_constraints},
    )


def _contributed(each: Contributed) -> Schema:
    return Schema(
        each.operator,
        _USUAL,
        _USUAL,
        _listed(each.inputs),
        _listed(each.outputs),
        each.attributes,
        frozenset(each.required),
        each.types,
        each.domain,
    )


def _listed(text: str) -> tuple[Parameter, ...]:
    pairs = [(each.rstrip("?").split(":"), each.endswith("?")) for each in text.split()]
    return tuple(Parameter(name, kind, optional, False) for (name, kind), optional in pairs)


def _parameter(each: Any) -> Parameter:
    option = defs.OpSchema.FormalParameterOption
    return Parameter(
        str(each.name),
        str(each.type_str),
        each.option == option.Optional,
        each.option == option.Variadic,
    )


def _default(attribute: Any) -> Any:
    if attribute.default_value.type == onnx.AttributeProto.UNDEFINED:
        return None
    value = onnx.helper.get_attribute_value(attribute.default_value)
    return value.decode() if isinstance(value, bytes) else value


def _dtypes(types: list[str]) -> tuple[str, ...]:
    names = {"float": "float32", "double": "float64"}
    found = [
        each.removeprefix("tensor(").removesuffix(")") for each in types if each[:7] == "tensor("
    ]
    known = [_MLTYPES.get(name, names.get(name, name)) for name in found]
    return tuple(name for name in DTYPES if name in known and name not in _LEFT_OUT)


_LEFT_OUT = ("string", "complex64", "complex128")
_MLTYPES = {
    name.lower(): dtype_of(code) for name, code in onnx.TensorProto.DataType.items() if code
}
"""The names of dtypes by ONNX's own, in lower case."""
