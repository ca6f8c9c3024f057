"""ONNX's numbers of data types: their names, and how the importer holds their tensors.

TVM holds no tensors of integers narrower than 8 bits. Within a model they are held in 8 bits.
"""

from collections.abc import Iterator
from typing import Any

from relaxcheck.fixes.framework.fix import refuse
from relaxcheck.fixes.framework.patch import NewFile

UPSTREAM = NewFile("relax/frontend/onnx/formats.py")

NARROW = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2}
"""The bits of integers that are held in 8."""

EIGHT_BITS = {
    "float8_e4m3fn": 448.0,
    "float8_e4m3fnuz": 240.0,
    "float8_e5m2": 57344.0,
    "float8_e5m2fnuz": 57344.0,
}
"""The largest numbers of floating-point formats of 8 bits."""

EXPONENTS = "float8_e8m0fnu"
"""The format of powers of 2, which has neither a sign nor a zero."""

_HELD = (
    *("float16", "float32", "float64", "bfloat16", "bool", *EIGHT_BITS, EXPONENTS),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def name_of(number: int) -> str:
    """ONNX's name of the data type ``number``: ``INT4``."""
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(number))


def dtype_named(number: int) -> str:
    """TVM's name of ONNX's data type ``number``; empty if TVM has none."""
    import numpy as np
    from onnx import helper

    try:
        name = np.dtype(helper.tensor_dtype_to_np_dtype(number)).name
    except KeyError:
        return ""
    return name if name in _HELD or name in NARROW else ""


def held(dtype: str) -> str:
    """The dtype in which tensors of ``dtype`` are held."""
    return f"{dtype.rstrip('0123456789')}8" if dtype in NARROW else dtype


def bits_of(dtype: str) -> int:
    """The number at the end of the name of ``dtype``."""
    return int("".join(filter(str.isdigit, dtype)))


def limits(dtype: str) -> tuple[int, int]:
    """The least and the largest integer of ``dtype``."""
    bits = bits_of(dtype)
    if dtype.startswith("u"):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def required(operator: str, attribute: str, number: int) -> str:
    """TVM's name of the data type that ``attribute`` of ``operator`` asks for.

    Raises:
        OpNotImplemented: TVM has none.
    """
    dtype = dtype_named(number)
    if not dtype:
        raise refuse(operator, **{attribute: name_of(number)})
    return dtype


def require_held(model: Any) -> None:
    """Check that TVM can hold the inputs and outputs of ``model``.

    Raises:
        OpNotImplemented: a tensor has a data type of fewer than 8 bits, or of texts. The error
            names the operators that read or write it.
    """
    # What no node reads comes last: its error can name no operator.
    others = sorted(_others(model.graph), key=lambda each: not _operators_at(model.graph, each[1]))
    for role, name, number in others:
        operators = _operators_at(model.graph, name) or "the model"
        raise refuse(operators, **{role: name, "dtype": name_of(number)})


def has_other(graph: Any) -> bool:
    """True if an input or an output of ``graph`` has a data type that TVM cannot hold."""
    return any(_others(graph))


def _others(graph: Any) -> Iterator[tuple[str, str, int]]:
    """Role, name and data type of inputs and outputs that TVM cannot hold."""
    initialized = {tensor.name for tensor in graph.initializer}
    values = {
        "input": [each for each in graph.input if each.name not in initialized],
        "output": list(graph.output),
    }
    for role, several in values.items():
        for value in several:
            number = value.type.tensor_type.elem_type
            if number and dtype_named(number) not in _HELD:
                yield role, value.name, number


def _operators_at(graph: Any, name: str) -> str:
    """The operators of nodes that read or write the value ``name``; empty if none does."""
    operators = {node.op_type for node in graph.node if name in (*node.input, *node.output)}
    return ", ".join(sorted(operators))
