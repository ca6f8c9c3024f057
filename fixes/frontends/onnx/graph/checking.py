"""A node held to its schema before it is converted: its attributes, its inputs, their types.

Converters read what they know. What a schema does not have they ignore, what it requires may be
missing, and operands of two types are computed as if they had one.
"""

from collections.abc import Sequence
from typing import Any

from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid
from relaxcheck.fixes.framework.patch import NewFile

UPSTREAM = NewFile("relax/frontend/onnx/checking.py", "Nodes, held to the schemas of ONNX.")

_OWN = ("", "ai.onnx")

_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
"""Operators of which Relax, too, takes operands of two types."""


def check(node: Any, inputs: Sequence[Any], opset: int) -> None:
    """Hold ``node``, whose ``inputs`` are values of Relax, to its schema in ``opset``.

    An operator without a schema there passes: some come from exporters before ONNX has them.

    Raises:
        ValueError: names the operator, and the attribute or input.
    """
    import onnx

    if node.domain not in _OWN:
        return
    try:
        schema = onnx.defs.get_schema(node.op_type, opset, "")
    except onnx.defs.SchemaError:
        return
    _check_attributes(node, schema, opset)
    _check_number(node, schema)
    _check_types(node, schema, inputs)


def _check_attributes(node: Any, schema: Any, opset: int) -> None:
    present = [each.name for each in node.attribute]
    for name in present:
        if name not in schema.attributes:
            raise invalid(node.op_type, f"opset {opset} has no such attribute", attribute=name)
    for name, each in schema.attributes.items():
        if each.required and name not in present:
            raise invalid(node.op_type, "the attribute is required", **{name: None})


def _check_number(node: Any, schema: Any) -> None:
    count = len(node.input)
    if count > schema.max_input:
        raise invalid(node.op_type, f"there are at most {schema.max_input}", inputs=count)
    single = type(schema).FormalParameterOption.Single
    for at, parameter in enumerate(schema.inputs):
        missing = at >= count or not node.input[at]
        if parameter.option == single and missing and at < schema.min_input:
            raise invalid(node.op_type, "the input is required", **{parameter.name: None})


def _check_types(node: Any, schema: Any, inputs: Sequence[Any]) -> None:
    """Hold operands of one type parameter to one type of elements, that it allows.

    Integers of 32 and of 64 bits pass: the importer itself has some sizes in 64 bits, and Relax
    refuses others, but for comparisons.
    """
    kinds: dict[str, tuple[str, str]] = {}
    allowed = {
        each.type_param_str: {_kind(_element(text)) for text in each.allowed_type_strs}
        for each in schema.type_constraints
    }
    for at, value in enumerate(inputs):
        parameter = schema.inputs[min(at, len(schema.inputs) - 1)]
        name = parameter.type_str
        if name not in allowed or not parameter.is_homogeneous or not _is_tensor(value):
            continue
        dtype = tvm_api.dtype_of(value)
        if _kind(dtype) not in allowed[name]:
            why = f"the operator takes other types as {name}"
            raise invalid(node.op_type, why, **{parameter.name: dtype})
        is_size = dtype in ("int32", "int64") and node.op_type not in _COMPARISONS
        own = "size" if is_size else dtype
        first, of_first = kinds.setdefault(name, (own, dtype))
        if own != first:
            why = f"another operand of type {name} has dtype {of_first}"
            raise invalid(node.op_type, why, **{parameter.name: dtype})


def _element(text: str) -> str:
    """The type of the elements in the type that ONNX writes as ``text``."""
    return text.rpartition("(")[2].rstrip(")")


def _is_tensor(value: Any) -> bool:
    # The importer has values of its own for optionals without an element.
    known = isinstance(value, relax.Expr) and tvm_api.is_tensor(value)
    return known and bool(tvm_api.dtype_of(value))


def _kind(dtype: str) -> str:
    """The kind of elements of ``dtype``: truth values, integers, or floats."""
    if dtype.startswith(("int", "uint")):
        return "integer"
    return "bool" if dtype == "bool" else "float"
