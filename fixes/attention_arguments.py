"""The arguments of the three attention operators, and what makes them invalid.

TVM's inference of types refuses some of it with a message that does not name the operator, lets the
rest through, and crashes the process where a shape is not known. Here every call is checked when it
is made, and again when it is lowered.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax, tirx

from fixes import probes_of_attention as probes
from fixes import prover, tvm_api
from fixes.fix import Fix, Part, checked, invalid, refuse
from fixes.requirements import Requirement, undecided
from fixes.tvm_api import Expr, PrimExpr

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
"""Two tensors, and the axis along which they agree."""


@dataclass(frozen=True, slots=True)
class Mask:
    """The attributes that say what a query sees."""

    causal: str | None
    window: int | None

    def span(self, query: PrimExpr, queries: PrimExpr, keys: PrimExpr) -> tuple[PrimExpr, PrimExpr]:
        """The keys that number ``query`` of ``queries`` sees of ``keys``: [first, last + 1)."""
        first: PrimExpr = tvm_api.integer(0)
        end = keys
        reach = query + tirx.abs(queries - keys) if self.causal == "BottomRight" else query
        if self.causal is not None:
            end = tirx.min(end, reach + 1)
        if self.window is not None:
            first = tirx.max(first, reach + 1 - self.window)
        return first, end


def read_mask(operator: str, causal_mask: Any, window_size: Any) -> Mask:
    """The mask that these attributes say.

    Raises:
        ValueError: an unknown causal mask, or a window that holds no key.
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
    """Raise where the dtypes cannot go together.

    Raises:
        OpNotImplemented: query, key and value are not floating-point numbers.
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
    """What must hold of the shapes of query, key, value and bias.

    Raises:
        ValueError: a tensor's rank is not 4.
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
        # No division by zero: without key heads there must be no query heads.
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
    """What must hold of the shapes of query, key, value and of the two vectors of offsets.

    Raises:
        ValueError: a tensor's rank is not 4, or that of offsets not 1.
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
            raise refuse(operator, tensor=str(tvm_api.type_of(tensor)), shape=None)
    undecided(operator, required(operator, *map(tvm_api.shape_of, tensors)))
    key = tvm_api.shape_of(tensors[1])
    if tvm_api.as_int(key[2]) == 0:
        # The inference of types divides by it.
        raise refuse(operator, key=tvm_api.show(key), heads=0)


def _check_attention(arguments: Mapping[str, Any]) -> None:
    given = [arguments[name] for name in (*_TENSORS, "bias")]
    tensors = [tensor for tensor in given if tensor is not None]
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

FIX = Fix(
    name="attention_arguments",
    operators=("relax.nn.attention", "relax.nn.attention_bias", "relax.nn.attention_var_len"),
    fault=(
        "invalid shapes are refused without the operator's name, invalid dtypes and masks not at"
        " all; tensors without heads divide by zero, and one of unknown shape crashes the process"
    ),
    issue=None,
    parts=(
        Part("shapes", lambda: not probes.refuses_shapes()),
        Part("biases", lambda: not probes.refuses_biases()),
        Part("dtypes", lambda: not probes.refuses_dtypes()),
        Part("masks and windows", lambda: not probes.refuses_masks()),
        Part("offsets", lambda: not probes.refuses_offsets()),
        Part("no heads", lambda: not probes.refuses_no_heads(), deadly=True),
        Part("unknown shapes", lambda: not probes.refuses_unknown_shapes(), deadly=True),
    ),
    rebindings=lambda: tuple(checked(original, check) for original, check in _CONSTRUCTORS),
)
