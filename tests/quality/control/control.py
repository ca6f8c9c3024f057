"""The control: an implementation right by construction, which takes TVM's place.

It is a derivation of its own of what the operators mean (see ``oracles/MEANINGS.md``), in NumPy,
in the case's own dtypes: transposed convolution is gathered, attention goes query by query, and
layouts are index arithmetic. It shares nothing with the oracles. Where a correct implementation has
a choice, the case's seed chooses: the order of each sum, where attention scales and divides, and
what a mixed-precision pipeline keeps in float16.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from generators.program import Case, Node
from generators.values import constants, numpy_dtype
from harness.pipelines import PIPELINES
from tests.quality.control import attention, convolution
from tests.quality.control.convolution import Refused
from tests.quality.control.summation import Freedom, Term, summed

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Type:
    """Shape and dtype of a tensor of the program."""

    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Held:
    """A tensor at run time: its type's dtype, and its value, which mixed precision may narrow."""

    array: Array
    dtype: str
    constant: bool = False

    @property
    def half(self) -> bool:
        """Whether it is kept in float16 though the program says float32."""
        return self.dtype == "float32" and self.array.dtype == np.float16


Infer = Callable[[Node, Sequence[Type]], Type]
Compute = Callable[[Node, Sequence[Array], Freedom], Array]


@dataclass(frozen=True, slots=True)
class Operator:
    """``infer`` the result's type, or refuse; ``compute`` it from arrays of one dtype.

    ``narrows``: mixed precision always gives it float16 operands for float32 ones; without, it is
    in float16 where all of its operands are. ``accumulates``: its operands are cast to the result's
    dtype, float32 also under mixed precision.
    """

    infer: Infer
    compute: Compute
    narrows: bool = False
    accumulates: bool = False


def check(case: Case) -> None:
    """Infer the type of every node at every binding.

    Raises:
        Refused: a node is not allowed by its operator's definition, which the message names.
        NotImplementedError: the control lacks an operator.
    """
    for binding in case.bindings:
        types = {
            given.name: Type(case.shape(given.name, binding), given.dtype)
            for given in case.program.inputs
        }
        for node in case.program.nodes:
            operands = [types[name] for name in node.arguments]
            types[node.name] = _operator(node).infer(node, operands)


def evaluate(case: Case, run_time: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs of ``case`` for its run-time inputs, in their order."""
    freedom = Freedom(case.seed)
    mixed = PIPELINES[case.pipeline].mixed_precision
    fixed, variable = constants(case), iter(run_time)
    held = {
        given.name: Held(
            fixed[given.name] if given.constant else next(variable), given.dtype, given.constant
        )
        for given in case.program.inputs
    }
    for node in case.program.nodes:
        held[node.name] = _apply(node, [held[name] for name in node.arguments], mixed, freedom)
    outputs = (held[name] for name in case.program.outputs)
    with np.errstate(all="ignore"):
        return tuple(each.array.astype(numpy_dtype(each.dtype)) for each in outputs)


def _apply(node: Node, operands: Sequence[Held], mixed: bool, freedom: Freedom) -> Held:
    operator = _operator(node)
    types = [Type(each.array.shape, each.dtype) for each in operands]
    result = operator.infer(node, types)
    mixed = mixed and any(each.dtype == "float32" for each in operands)
    may_narrow = mixed and (
        operator.narrows or all(each.half or each.constant for each in operands)
    )
    narrow = may_narrow and (operator.narrows or freedom.choice(("half", "single")) == "half")
    dtype = "float16" if narrow and not operator.accumulates else operands[0].dtype
    if operator.accumulates:
        dtype = result.dtype
    arrays = []
    with np.errstate(all="ignore"):
        for each in operands:
            array = each.array
            if narrow and each.dtype == "float32":
                array = array.astype(np.float16)
            own = each.dtype == operands[0].dtype
            arrays.append(array.astype(numpy_dtype(dtype)) if own else array)
        value = operator.compute(node, arrays, freedom)
        if narrow and result.dtype == "float32" and freedom.choice(("half", "single")) == "half":
            value = value.astype(np.float16)
    return Held(value, result.dtype)


def _operator(node: Node) -> Operator:
    if node.operator not in OPERATORS:
        raise NotImplementedError(f"the control lacks the operator {node.operator}")
    return OPERATORS[node.operator]


def _convolution(node: Node, operands: Sequence[Type]) -> convolution.Call:
    data, weight = operands
    return convolution.understood(
        node.operator, node.attributes, data.shape, weight.shape, (data.dtype, weight.dtype)
    )


def _infer_convolution(node: Node, operands: Sequence[Type]) -> Type:
    call = _convolution(node, operands)
    return Type(call.shape, call.out_dtype)


def _compute_convolution(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    call = _convolution(node, [Type(each.shape, each.dtype.name) for each in operands])
    data, weight = operands
    return convolution.transposed_convolution(call, data, weight, freedom)


def _infer_attention(node: Node, operands: Sequence[Type]) -> Type:
    shape = attention.shape_of(
        node.operator,
        node.attributes,
        [each.shape for each in operands],
        [each.dtype for each in operands],
    )
    return Type(shape, operands[0].dtype)


def _compute_attention(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    query, key, value, *bias = operands
    given = bias[0] if bias else None
    return attention.attend(node.attributes, query, key, value, given, freedom)


def _infer_var_len(node: Node, operands: Sequence[Type]) -> Type:
    result = _infer_attention(node, operands[:3])
    if operands[0].shape[0] != 1:
        raise Refused(f"{node.operator}: the leading (batch) dimension is not 1")
    starts = (operands[3], operands[5])
    if any(start.dtype not in ("int32", "int64") for start in starts):
        raise Refused(f"{node.operator}: the dtype of seqstart is not an integer's")
    if len(starts[0].shape) != 1 or starts[0].shape != starts[1].shape:
        raise Refused(f"{node.operator}: seqstart_q and seqstart_k differ in shape")
    return result


def _compute_var_len(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    query, key, value, starts_q, _, starts_k, _ = operands
    return attention.attend_each(node.attributes, query, key, value, (starts_q, starts_k), freedom)


def _infer_matmul(node: Node, operands: Sequence[Type]) -> Type:
    a, b = operands
    if min(len(a.shape), len(b.shape)) < 2:
        raise NotImplementedError("the control multiplies no vectors")
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-2]:
        raise Refused(f"{node.operator}: shapes {a.shape}, {b.shape}, dtypes {a.dtype}, {b.dtype}")
    outer = _broadcast(node, (a.shape[:-2], b.shape[:-2]))
    dtype = str(node.attributes.get("out_dtype") or a.dtype)
    return Type((*outer, a.shape[-2], b.shape[-1]), dtype)


def _compute_matmul(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    a, b = operands
    terms = [Term(a[..., :, [at]], b[..., [at], :]) for at in range(a.shape[-1])]
    outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return summed(terms, (*outer, a.shape[-2], b.shape[-1]), a.dtype, freedom)


def _infer_elementwise(node: Node, operands: Sequence[Type]) -> Type:
    if len({each.dtype for each in operands}) != 1:
        raise Refused(f"{node.operator}: the operands' dtypes differ")
    return Type(_broadcast(node, [each.shape for each in operands]), operands[0].dtype)


def _broadcast(node: Node, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise Refused(f"{node.operator}: shapes {shapes} do not broadcast") from error


def _axes(node: Node, rank: int) -> tuple[int, ...]:
    axes = node.attributes.get("axes")
    return axes if isinstance(axes, tuple) else tuple(range(rank))[::-1]


def _infer_permuted(node: Node, operands: Sequence[Type]) -> Type:
    shape = operands[0].shape
    axes = _axes(node, len(shape))
    if sorted(axis % max(len(shape), 1) for axis in axes) != list(range(len(shape))):
        raise Refused(f"{node.operator}: axes {axes} of a tensor of rank {len(shape)}")
    return Type(tuple(shape[axis] for axis in axes), operands[0].dtype)


def _compute_permuted(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    return operands[0].transpose(_axes(node, operands[0].ndim))


def _rectified(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    # IEEE 754-2019 has two maxima, of which one gives the number where the other is NaN.
    maximum = np.maximum if freedom.choice(("maximum", "number")) == "maximum" else np.fmax
    result: Array = maximum(operands[0], np.zeros((), operands[0].dtype))
    return result


_CONVOLUTION = Operator(_infer_convolution, _compute_convolution, narrows=True, accumulates=True)

OPERATORS: Mapping[str, Operator] = {
    **{f"nn.conv{rank}d_transpose": _CONVOLUTION for rank in convolution.SPATIAL},
    "nn.attention": Operator(_infer_attention, _compute_attention, narrows=True),
    "nn.attention_var_len": Operator(_infer_var_len, _compute_var_len, narrows=True),
    "matmul": Operator(_infer_matmul, _compute_matmul, narrows=True, accumulates=True),
    "add": Operator(_infer_elementwise, lambda node, each, freedom: each[0] + each[1]),
    "multiply": Operator(_infer_elementwise, lambda node, each, freedom: each[0] * each[1]),
    "nn.relu": Operator(_infer_elementwise, _rectified),
    "permute_dims": Operator(_infer_permuted, _compute_permuted),
}
"""What the control can do, by Relax's names."""
