"""The arguments of the three attention operators, and what makes them invalid.

TVM's type inference refuses some invalid calls with a message that does not name the operator,
accepts others, and crashes the process on an unknown shape. Here every call is checked when it is
built, and again when it is lowered.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, checked, invalid, refuse
from relaxcheck.fixes.framework.patch import Checking, NewFile
from relaxcheck.fixes.framework.requirements import Requirement, undecided
from relaxcheck.fixes.proving import prover
from relaxcheck.fixes.tvm_api import Call, Expr, PrimExpr

UPSTREAM = NewFile(
    "relax/op/nn/attention_arguments.py",
    "The arguments of the three attention operators, and what makes them invalid.",
)

CAUSAL_MASKS = ("TopLeft", "BottomRight")

_TENSORS = ("query", "key", "value")
_AXES = ("batch size", "sequence length", "number of heads", "dimension of heads")
_EQUAL = (
    ("query", "key", 0),
    ("query", "value", 0),
    ("key", "value", 1),
    ("key", "value", 2),
    ("query", "key", 3),
)
"""Two tensors and the axis on which they must agree."""


@dataclass(frozen=True, slots=True)
class Mask:
    """The attributes that decide which keys a query sees."""

    causal: str | None
    window: int | None

    def span(self, query: PrimExpr, queries: PrimExpr, keys: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        """The interval [first, last + 1) of the ``keys`` keys that query number ``query`` sees."""
        first: PrimExpr = tvm_api.integer(0)
        end = keys
        reach = query + tirx.abs(queries - keys) if self.causal == "BottomRight" else query
        if self.causal is not None:
            end = tirx.min(end, reach + 1)
        if self.window is not None:
            first = tirx.max(first, reach + 1 - self.window)
        return first, end


def read_mask(operator: str, causal_mask: Any, window_size: Any) -> Mask:
    """The mask with these attributes.

    Raises:
        ValueError: an unknown causal mask, or a window without keys.
    """
    if causal_mask is not None and str(causal_mask) not in CAUSAL_MASKS:
        why = f"the mask is none of {', '.join(CAUSAL_MASKS)}"
        raise invalid(operator, why, causal_mask=str(causal_mask))
    if window_size is not None and int(window_size) < 1:
        raise invalid(operator, "the window holds no key", window_size=int(window_size))
    return Mask(
        None if causal_mask is None else str(causal_mask),
        None if window_size is None else int(window_size),
    )


def check_dtypes(operator: str, query: Expr, key: Expr, value: Expr, *offsets: Expr) -> None:
    """Check that the dtypes go together.

    Raises:
        OpNotImplemented: query, key and value are not floating-point.
        ValueError: they differ, or offsets are not integers.
    """
    dtypes = dict(zip(_TENSORS, map(tvm_api.dtype_of, (query, key, value)), strict=True))
    if len(set(dtypes.values())) > 1:
        raise invalid(operator, "the dtypes differ", **dtypes)
    if "float" not in dtypes["query"]:
        raise refuse(operator, dtype=dtypes["query"])
    for starts in offsets:
        if "int" not in tvm_api.dtype_of(starts):
            why = f"offsets (seqstart) have dtype {tvm_api.dtype_of(starts)}"
            raise invalid(operator, why, dtype=tvm_api.dtype_of(starts))


def requirements(
    operator: str,
    query: Sequence[PrimExpr],
    key: Sequence[PrimExpr],
    value: Sequence[PrimExpr],
    bias: Sequence[PrimExpr] | None = None,
) -> Iterator[Requirement]:
    """Requirements on the shapes of query, key, value and bias.

    Raises:
        ValueError: a tensor does not have rank 4.
    """
    shapes = dict(zip(_TENSORS, (query, key, value), strict=True))
    if bias is not None:
        shapes["bias"] = bias
    for name, shape in shapes.items():
        if len(shape) != 4:
            raise invalid(operator, "its rank is not 4", **{name: tvm_api.show(shape)})
    for left, right, axis in _EQUAL:
        two = (shapes[left][axis], shapes[right][axis])
        shown = {name: tvm_api.show(shapes[name]) for name in (left, right)}
        yield Requirement(tvm_api.equal(*two), f"{_AXES[axis]} differs", shown)
    heads, kv_heads = query[2], key[2]
    if not prover.equal(heads, kv_heads):
        # Avoids division by zero: without key heads there must be no query heads.
        group = tvm_api.floordiv(heads, tvm_api.at_least_one(kv_heads))
        shown = {name: tvm_api.show(shapes[name]) for name in ("query", "key")}
        why = "the number of heads of key does not divide that of query"
        yield Requirement(tvm_api.equal(group * kv_heads, heads), why, shown)
    if bias is None:
        return
    for axis, wanted in enumerate((query[0], heads, query[1], key[1])):
        fits = tvm_api.equal(bias[axis], wanted)
        if not prover.equal(bias[axis], wanted) and axis < 3:
            fits = tirx.any(fits, tvm_api.equal(bias[axis], 1))
        # Bias is (batch, heads, queries, keys).
        name = f"{_AXES[(0, 2, 1, 1)[axis]]} of {'keys' if axis == 3 else 'queries'}"
        why = f"axis {axis} of bias is not the {name}, {tvm_api.show(wanted)}"
        yield Requirement(fits, why, {"bias": tvm_api.show(bias)})


def var_len_requirements(
    operator: str,
    query: Sequence[PrimExpr],
    key: Sequence[PrimExpr],
    value: Sequence[PrimExpr],
    query_starts: Sequence[PrimExpr],
    key_starts: Sequence[PrimExpr],
) -> Iterator[Requirement]:
    """Requirements on the shapes of query, key, value and both offset vectors.

    Raises:
        ValueError: a tensor does not have rank 4, or an offset vector rank 1.
    """
    yield from requirements(operator, query, key, value)
    why = f"the batch size is {tvm_api.show(query[0])}, not 1"
    yield Requirement(tvm_api.equal(query[0], 1), why, {"query": tvm_api.show(query)})
    starts = {"seqstart_q": query_starts, "seqstart_k": key_starts}
    for name, shape in starts.items():
        if len(shape) != 1:
            raise invalid(operator, "its rank is not 1", **{name: tvm_api.show(shape)})
    shown = {name: tvm_api.show(shape) for name, shape in starts.items()}
    why = "the offsets of queries and of keys are of different numbers of sequences"
    yield Requirement(tvm_api.equal(query_starts[0], key_starts[0]), why, shown)


_Required = Callable[..., Iterator[Requirement]]


def _check(
    operator: str, arguments: Mapping[str, Any], tensors: Sequence[Expr], required: _Required
) -> None:
    read_mask(operator, arguments["causal_mask"], arguments["window_size"])
    if not all(map(tvm_api.is_tensor, tensors)):
        return
    offsets = tensors[3:] if required is var_len_requirements else ()
    check_dtypes(operator, *tensors[:3], *offsets)
    for tensor in tensors:
        if not tvm_api.has_shape(tensor):
            raise refuse(operator, tensor=tvm_api.show_type(tvm_api.type_of(tensor)), shape=None)
    undecided(operator, required(operator, *map(tvm_api.shape_of, tensors)))
    key = tvm_api.shape_of(tensors[1])
    if tvm_api.as_int(key[2]) == 0:
        # Type inference divides by it.
        raise refuse(operator, key=tvm_api.show(key), heads=0)


def _check_attention(arguments: Mapping[str, Any]) -> None:
    operands = [arguments[name] for name in (*_TENSORS, "bias")]
    tensors = [tensor for tensor in operands if tensor is not None]
    operator = "relax.nn.attention_bias" if len(tensors) == 4 else "relax.nn.attention"
    _check(operator, arguments, tensors, requirements)


def _check_var_len(arguments: Mapping[str, Any]) -> None:
    starts = arguments["seqstart_q"]
    key_starts = arguments["seqstart_k"]
    tensors = [arguments[name] for name in ("queries", "keys", "values")]
    tensors += [starts, starts if key_starts is None else key_starts]
    _check("relax.nn.attention_var_len", arguments, tensors, var_len_requirements)


_CONSTRUCTORS: tuple[tuple[Any, Callable[[Mapping[str, Any]], None]], ...] = (
    (relax.op.nn.attention, _check_attention),
    (relax.op.nn.attention_bias, _check_attention),
    (relax.op.nn.attention_var_len, _check_var_len),
)

_SHAPE = (2, 3, 2, 4)


def refuses_shapes() -> bool:
    """True if shapes that do not go together are refused by the operator's name."""
    return all(
        _refused(*shapes, terms=(term,))
        for term, *shapes in (
            ("batch", _SHAPE, (3, 3, 2, 4), _SHAPE),
            ("batch", _SHAPE, _SHAPE, (3, 3, 2, 4)),
            ("sequence", _SHAPE, _SHAPE, (2, 5, 2, 4)),
            ("heads", _SHAPE, (2, 3, 3, 4), (2, 3, 3, 4)),
            ("dimension", _SHAPE, (2, 3, 2, 5), _SHAPE),
            ("rank", (2, 3, 4), _SHAPE, _SHAPE),
        )
    )


def refuses_biases() -> bool:
    """True if a bias that does not fit is refused by the operator's name."""
    return all(
        _refused(_SHAPE, _SHAPE, _SHAPE, bias, terms=("bias",), operator="attention_bias")
        for bias in ((2, 1, 3, 4), (2, 1, 3, 1), (3, 1, 3, 3), (3, 3))
    )


def refuses_dtypes() -> bool:
    """True if differing dtypes, and integers, are refused by the operator's name."""
    return all(
        _refused(_SHAPE, _SHAPE, _SHAPE, dtypes=dtypes, terms=("dtype",))
        for dtypes in (("float32", "float16", "float16"), ("int32", "int32", "int32"))
    )


def refuses_masks() -> bool:
    """True if an unknown mask and an empty window are refused by the operator's name."""
    shapes = (_SHAPE, _SHAPE, _SHAPE)
    return _refused(*shapes, terms=("causal_mask",), causal_mask="Middle") and _refused(
        *shapes, terms=("window",), window_size=0
    )


def refuses_offsets() -> bool:
    """True if offsets of floats, of differing lengths, or of a batch are refused."""

    def refused(shape: probes.Shape, ends: probes.Shape, dtype: str, *terms: str) -> bool:
        def make(query: Expr, starts: Expr, longest: Expr, others: Expr) -> Expr:
            attention = relax.op.nn.attention_var_len
            return attention(query, query, query, starts, longest, others, longest)

        dtypes = ("float32", dtype, "int32", dtype)
        return probes.is_refused(
            lambda: probes.one_call(make, shape, (3,), (), ends, dtypes=dtypes), "attention", *terms
        )

    return (
        refused((1, 3, 2, 4), (3,), "float32", "dtype")
        and refused((1, 3, 2, 4), (4,), "int32", "seqstart", "offsets")
        and refused(_SHAPE, (3,), "int32", "batch")
    )


def refuses_no_heads() -> bool:
    """True if a key without heads is refused by the operator's name; may kill TVM."""
    none = (2, 3, 0, 4)
    return _refused(_SHAPE, none, none, terms=("heads",))


def refuses_unknown_shapes() -> bool:
    """True if a key of unknown shape is refused by the operator's name; may kill TVM."""

    def make() -> Call:
        query, value = probes.inputs((_SHAPE, _SHAPE))
        key = relax.Var("key", tvm_api.unshaped_type(4, "float32"))
        return relax.BlockBuilder().normalize(relax.op.nn.attention(query, key, value))

    return probes.is_refused(make, "attention", "shape")


def _refused(
    *shapes: probes.Shape,
    terms: tuple[str, ...],
    operator: str = "attention",
    dtypes: tuple[str, ...] = (),
    **attributes: object,
) -> bool:
    """True if the call is refused by the operator's name and one of ``terms``."""

    def make(*tensors: Expr) -> Expr:
        return getattr(relax.op.nn, operator)(*tensors, **attributes)

    return probes.is_refused(
        lambda: probes.one_call(make, *shapes, dtypes=dtypes), operator, *terms
    )


FIX = Fix(
    name="attention_arguments",
    operators=("relax.nn.attention", "relax.nn.attention_bias", "relax.nn.attention_var_len"),
    fault=(
        "invalid shapes are refused without the operator's name, invalid dtypes and masks"
        " accepted; tensors without heads divide by zero, and one of unknown shape crashes the"
        " process"
    ),
    issue=None,
    parts=(
        FaultPart("shapes", lambda: not refuses_shapes()),
        FaultPart("biases", lambda: not refuses_biases()),
        FaultPart("dtypes", lambda: not refuses_dtypes()),
        FaultPart("masks and windows", lambda: not refuses_masks()),
        FaultPart("offsets", lambda: not refuses_offsets()),
        FaultPart("no heads", lambda: not refuses_no_heads(), deadly=True),
        FaultPart("unknown shapes", lambda: not refuses_unknown_shapes(), deadly=True),
    ),
    rebindings=lambda: tuple(checked(original, check) for original, check in _CONSTRUCTORS),
    after="conv3d_transpose",
    patch=(
        Checking("attention", _check_attention),
        Checking("attention_bias", _check_attention),
        Checking("attention_var_len", _check_var_len),
    ),
)
