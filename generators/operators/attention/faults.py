"""Faults of attention: each makes a valid call invalid.

Each is refused by the operator's definition (TVM's docstring) and has no meaning in PyTorch's
``scaled_dot_product_attention`` or ONNX's Attention. Left out, because they differ there: another
number of heads in key than in value, a batch of 1 that could be broadcast, a window of 0 or less.
Left out as well are operands of several dtypes: TVM computes the right result in the query's dtype.
"""

from collections.abc import Callable

import msgspec

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.faults import Fault, with_attributes, with_dtype, with_shape
from relaxcheck.generators.core.program import Program

_BATCH = ("batch",)
_HEADS = ("heads",)
_LENGTH = ("length", "seq_len", "sequence")
_DIM = ("dimension of heads", "head_dim", "head dim", "head size")
_RANK = ("dimension", "ndim", "rank")
_DTYPE = ("dtype", "data type", "datatype")
_OFFSETS = ("seqstart", "offset", "cu_seqlens")

_VARIABLES: Point = {"operands": "variables"}
_STATIC_BATCH: Point = {**_VARIABLES, "batch": 2, "symbolic.batch": False}

_Breaking = Callable[[Program, Point], Program]


def attention_faults() -> tuple[Fault, ...]:
    """Every fault of ``nn.attention``, kinds distinct."""
    keys: Point = {**_VARIABLES, "symbolic.kv_len": False}
    bias: Point = {**_VARIABLES, "bias": "BHQK"}
    return (
        # 2 and 3: neither can be broadcast to the other.
        Fault("key-batch-differs", _BATCH, _grown("key", 0), _STATIC_BATCH),
        Fault("value-batch-differs", _BATCH, _grown("value", 0), _STATIC_BATCH),
        *_operand_faults("nn.attention", keys, _VARIABLES),
        Fault("bias-batch-differs", _BATCH, _grown("bias", 0), {**_STATIC_BATCH, **bias}),
        Fault("bias-heads-differ", _HEADS, _grown("bias", 1), bias),
        # 4 and 5, for the same reason.
        Fault(
            "bias-queries-differ",
            _LENGTH,
            _grown("bias", 2),
            {**bias, "q_len": 4, "symbolic.q_len": False},
        ),
        Fault("bias-keys-differ", _LENGTH, _grown("bias", 3), {**bias, **keys, "kv_len": 4}),
        Fault("bias-rank", _RANK, _unbatched("bias"), bias),
    )


def var_len_faults() -> tuple[Fault, ...]:
    """Every fault of ``nn.attention_var_len``, kinds distinct."""
    separate: Point = {"shared_sequences": False}
    return (
        *_operand_faults("nn.attention_var_len", {"symbolic.kv_total": False}, {}),
        Fault(
            "leading-dimension-not-one",
            (*_BATCH, "leading", "first dimension"),
            lambda program, _: _each(program, ("query", "key", "value"), 0, 1),
        ),
        Fault(
            "offsets-dtype",
            (*_OFFSETS, *_DTYPE),
            lambda program, _: with_dtype(program, "seqstart_q", "float32"),
        ),
        Fault(
            "offsets-differ",
            _OFFSETS,
            _grown("seqstart_k", 0),
            {**separate, "symbolic.sequences": False},
        ),
    )


def _operand_faults(operator: str, static_keys: Point, variables: Point) -> tuple[Fault, ...]:
    return (
        Fault("lengths-differ", _LENGTH, _grown("value", 1), static_keys),
        Fault("heads-do-not-divide", _HEADS, _more_heads, variables),
        Fault("head-dims-differ", _DIM, _grown("key", 3), variables),
        *(
            Fault(f"{name}-rank", _RANK, _unbatched(name), variables)
            for name in ("query", "key", "value")
        ),
        Fault("integer-dtype", (*_DTYPE, "float", "int32"), _integers, variables),
        Fault(
            "causal-mask-unknown",
            ("causal_mask", "causal mask", "mask"),
            lambda program, _: with_attributes(
                program, operator, lambda old: {"causal_mask": "Diagonal"}
            ),
        ),
    )


def _grown(name: str, at: int) -> _Breaking:
    """Makes a static dimension of the input ``name`` larger by one."""
    return lambda program, _: _each(program, (name,), at, 1)


def _each(program: Program, names: tuple[str, ...], at: int, more: int) -> Program:
    def grown(shape: list[Dim]) -> list[Dim]:
        dim = shape[at]
        if not isinstance(dim, int):
            raise ValueError(f"the dimension {dim!r} is symbolic")
        return [*shape[:at], dim + more, *shape[at + 1 :]]

    for name in names:
        program = with_shape(program, name, grown)
    return program


def _more_heads(program: Program, point: Point) -> Program:
    """One key/value head more than query heads: never a divisor."""
    query = program.input("query").shape[2]
    key = program.input("key").shape[2]
    if not (isinstance(query, int) and isinstance(key, int)):
        raise ValueError("the number of heads is symbolic")
    return _each(program, ("key", "value"), 2, query + 1 - key)


def _unbatched(name: str) -> _Breaking:
    return lambda program, _: with_shape(program, name, lambda shape: shape[1:])


def _integers(program: Program, _: Point) -> Program:
    inputs = tuple(msgspec.structs.replace(tensor, dtype="int32") for tensor in program.inputs)
    return msgspec.structs.replace(program, inputs=inputs)
