"""The inputs and attributes of ONNX's LSTM, GRU and RNN, and what makes them invalid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import invalid, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.recurrent.activations import activations
from relaxcheck.fixes.frontends.onnx.recurrent.cells import Recurrence
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr, PrimExpr

UPSTREAM = NewFile("relax/frontend/onnx/recurrent_arguments.py")

Dims = Sequence[PrimExpr]

INPUTS = {
    "LSTM": ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"),
    "GRU": ("X", "W", "R", "B", "sequence_lens", "initial_h"),
    "RNN": ("X", "W", "R", "B", "sequence_lens", "initial_h"),
}
_REQUIRED = ("X", "W", "R")
_FLOATS = ("float32", "float64", "float16", "bfloat16")
_REVERSE = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
_ACTIVATIONS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_ATTRIBUTES = {
    "activation_alpha",
    "activation_beta",
    "activations",
    "clip",
    "direction",
    "hidden_size",
    "layout",
}
_OWN_ATTRIBUTES = {"LSTM": {"input_forget"}, "GRU": {"linear_before_reset"}, "RNN": set[str]()}
_OF_THE_IMPORTER = "tvm_custom"


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes that the inputs of a node share; length and batch may be symbolic."""

    length: PrimExpr
    batch: PrimExpr
    inputs: int
    hidden: int

    def expected(self, recurrence: Recurrence) -> dict[str, list[PrimExpr | int]]:
        """The shape of each input, by ONNX name."""
        directions, rows = len(recurrence.reverse), recurrence.gates * self.hidden
        state = [*recurrence.state_at(directions, self.batch), self.hidden]
        along = [self.batch, self.length] if recurrence.batch_first else [self.length, self.batch]
        return {
            "X": [*along, self.inputs],
            "W": [directions, rows, self.inputs],
            "R": [directions, rows, self.hidden],
            "B": [directions, 2 * rows],
            "sequence_lens": [self.batch],
            "initial_h": state,
            "initial_c": state,
            "P": [directions, 3 * self.hidden],
        }


def named(operator: str, inputs: Sequence[Expr | None]) -> dict[str, Expr]:
    """The inputs of a node of ``operator`` that are present, by ONNX name.

    Raises:
        ValueError: an input is missing, there are too many, or the dtypes do not go together.
        OpNotImplemented: the dtype of X is not a float.
    """
    names = INPUTS[operator]
    if len(inputs) > len(names):
        raise invalid(operator, f"it has at most {len(names)}", inputs=len(inputs))
    operands = {
        name: operand for name, operand in zip(names, inputs, strict=False) if operand is not None
    }
    for name in _REQUIRED:
        if name not in operands:
            raise invalid(operator, "it is required", **{name: None})
    dtype = tvm_api.dtype_of(operands["X"])
    if dtype not in _FLOATS:
        raise refuse(operator, **{"dtype of X": dtype})
    for name, operand in operands.items():
        wanted = "int32" if name == "sequence_lens" else dtype
        own_dtype = tvm_api.dtype_of(operand)
        if own_dtype != wanted:
            raise invalid(operator, f"it must be {wanted}", **{f"dtype of {name}": own_dtype})
    return operands


def read_recurrence(operator: str, attributes: Mapping[str, Any], weights: Expr) -> Recurrence:
    """The computation of a node of ``operator`` with these attributes; ``weights`` is its R.

    Raises:
        ValueError: the operator does not have an attribute, or an attribute not this value.
        OpNotImplemented: the shape of R is unknown, or an activation needs a value.
    """
    for name in sorted(set(attributes) - _ATTRIBUTES - _OWN_ATTRIBUTES[operator]):
        if name != _OF_THE_IMPORTER:
            raise invalid(operator, "it has no such attribute", **{name: attributes[name]})
    direction = _text(attributes.get("direction", "forward"))
    if direction not in _REVERSE:
        raise invalid(operator, f"it must be one of {', '.join(_REVERSE)}", direction=direction)
    reverse = _REVERSE[direction]
    flags = {
        name: _flag(operator, name, attributes)
        for name in ("layout", *sorted(_OWN_ATTRIBUTES[operator]))
    }
    clip = attributes.get("clip")
    if clip is not None and not clip > 0:
        raise invalid(operator, "it must be greater than 0", clip=clip)
    hidden = static(operator, "R", weights, 3)[2]
    if int(attributes.get("hidden_size", hidden)) != hidden:
        why = f"the last dimension of R is {hidden}"
        raise invalid(operator, why, hidden_size=attributes["hidden_size"])
    defaults = _ACTIVATIONS[operator]
    wanted = len(defaults) * len(reverse)
    names = [
        _text(activation) for activation in attributes.get("activations", defaults * len(reverse))
    ]
    if len(names) != wanted:
        raise invalid(operator, f"there must be {wanted} of them", activations=names)
    alpha = attributes.get("activation_alpha", ())
    beta = attributes.get("activation_beta", ())
    functions = activations(operator, names, alpha, beta)
    each = len(defaults)
    return Recurrence(
        operator,
        hidden,
        tuple(functions[first : first + each] for first in range(0, wanted, each)),
        reverse,
        batch_first=flags.pop("layout"),
        clip=clip,
        **flags,
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _flag(operator: str, name: str, attributes: Mapping[str, Any]) -> bool:
    value = attributes.get(name, 0)
    if value not in (0, 1):
        raise invalid(operator, "it must be 0 or 1", **{name: value})
    return bool(value)


def static(operator: str, name: str, weights: Expr, rank: int) -> list[int]:
    """The shape of ``weights``, which must be static and without 0.

    Raises:
        ValueError: it does not have ``rank`` dimensions, or a dimension is 0.
        OpNotImplemented: the shape is unknown or symbolic.
    """
    if not tvm_api.has_shape(weights):
        raise refuse(operator, **{f"type of {name}": tvm_api.show_type(tvm_api.type_of(weights))})
    shape = tvm_api.shape_of(weights)
    dims = [dim for dim in map(tvm_api.as_int, shape) if dim is not None]
    shown = {f"shape of {name}": tvm_api.show(shape)}
    if len(shape) != rank:
        raise invalid(operator, f"it must be of {rank} dimensions", **shown)
    if len(dims) != rank:
        raise refuse(operator, **shown)
    if 0 in dims:
        raise invalid(operator, "no dimension may be 0", **shown)
    return dims


def shaped(
    builder: BlockBuilder, recurrence: Recurrence, operands: Mapping[str, Expr]
) -> tuple[dict[str, Expr], Sizes]:
    """The inputs, each with a shape, and their sizes.

    An unknown shape gets symbols for its dimensions. A symbolic last dimension of X is checked at
    run time, by a match_cast.

    Raises:
        ValueError: the dimensions of two inputs can never go together.
        OpNotImplemented: the shape of W is unknown or symbolic.
    """
    operator = recurrence.operator
    inputs = static(operator, "W", operands["W"], 3)[2]
    known = Sizes(
        tvm_api.shape_var("length"), tvm_api.shape_var("batch"), inputs, recurrence.hidden
    )
    tensors = {}
    for name, operand in operands.items():
        dims = known.expected(recurrence)[name]
        tensors[name] = operand
        if not tvm_api.has_shape(operand):
            if int(tvm_api.type_of(operand).ndim) not in (-1, len(dims)):
                shown = {f"type of {name}": tvm_api.show_type(tvm_api.type_of(operand))}
                raise invalid(operator, f"it must be of {len(dims)} dimensions", **shown)
            symbols = [tvm_api.shape_var(f"{name}_{axis}") for axis in range(len(dims))]
            tensors[name] = _cast(
                builder, operand, [*symbols[:2], inputs] if name == "X" else symbols
            )
    data = tensors["X"]
    shape = tvm_api.shape_of(data)
    if len(shape) != 3:
        raise invalid(operator, "it must be of 3 dimensions", **{"shape of X": tvm_api.show(shape)})
    length, batch = (shape[1], shape[0]) if recurrence.batch_first else (shape[0], shape[1])
    sizes = Sizes(length, batch, inputs, recurrence.hidden)
    shapes = {name: tvm_api.shape_of(tensor) for name, tensor in tensors.items()}
    agree(recurrence, sizes, shapes)
    if tvm_api.as_int(shape[2]) is None:
        tensors["X"] = _cast(builder, data, [*shape[:2], inputs])
    return tensors, sizes


def _cast(builder: BlockBuilder, expr: Expr, shape: Sequence[PrimExpr | int]) -> Expr:
    return builder.match_cast(expr, tvm_api.tensor_type(shape, tvm_api.dtype_of(expr)))


def agree(
    recurrence: Recurrence, sizes: Sizes, shapes: Mapping[str, Dims]
) -> list[tuple[PrimExpr, str]]:
    """Conditions that inputs of ``shapes`` must meet at run time, with their error messages.

    Raises:
        ValueError: a rank is wrong, or two dimensions can never be equal.
    """
    expected, left = sizes.expected(recurrence), []
    for name, dims in shapes.items():
        wanted = expected[name]
        why = f"it must be {tvm_api.show([*wanted])}"
        shown = {f"shape of {name}": tvm_api.show([*dims])}
        if len(dims) != len(wanted):
            raise invalid(recurrence.operator, why, **shown)
        for axis, (dim, other) in enumerate(zip(dims, wanted, strict=True)):
            condition = tvm_api.equal(dim, other)
            if prover.proves(condition):
                continue
            if prover.proves(tvm_api.negated(condition)):
                raise invalid(recurrence.operator, why, **shown)
            text = f"{tvm_api.show(dim)}, must be {tvm_api.show(other)}, as X and R have it"
            left.append((condition, f"{recurrence.operator}: dimension {axis} of {name}, {text}"))
    return left
