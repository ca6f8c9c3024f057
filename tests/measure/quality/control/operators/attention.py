"""Attention, one query after the other: each looks only at the keys that it sees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from relaxcheck.generators.core.program import Attribute, Node
from tests.measure.quality.control.operator import FLOATS, Array, Refused, Type, operator
from tests.measure.quality.control.summation import Freedom, Term, summed


@dataclass(frozen=True, slots=True)
class Sight:
    """The mask of an attention: ``causal_mask`` and ``window_size`` as the operator has them."""

    causal_mask: str | None
    window_size: int | None

    def keys(self, query: int, queries: int, keys: int) -> list[int]:
        """The keys that ``query`` sees, among ``keys``, where there are ``queries``.

        A causal mask lets query i see keys up to i, and for ``BottomRight`` as many more as the
        lengths differ by (docstring of ``relax.op.nn.attention``: ``np.tril``). A window of w
        leaves the last w of the keys up to there.
        """
        last = query
        if self.causal_mask == "BottomRight":
            last += max(queries, keys) - min(queries, keys)
        first = 0 if self.window_size is None else last - self.window_size + 1
        stop = keys if self.causal_mask is None else last + 1
        return [key for key in range(keys) if first <= key < stop]


def sight(attributes: Mapping[str, Attribute]) -> Sight:
    """The visible keys that the attributes of a call, already checked, describe."""
    window = attributes.get("window_size")
    causal = attributes.get("causal_mask")
    return Sight(
        None if causal is None else str(causal), window if isinstance(window, int) else None
    )


def shape_of(
    operator: str,
    attributes: Mapping[str, Attribute],
    shapes: Sequence[Sequence[int]],
    dtypes: Sequence[str],
) -> tuple[int, ...]:
    """The shape of the result of an attention over query, key, value and, where given, bias.

    Raises:
        Refused: the definition does not allow it.
    """

    def refuse(why: str) -> Refused:
        return Refused(f"{operator}: {why}")

    for name, shape in zip(("query", "key", "value", "bias"), shapes, strict=False):
        if len(shape) != 4:
            raise refuse(f"the rank of the {name} is {len(shape)}, not 4")
    if len(set(dtypes)) != 1:
        raise refuse(f"the operands' dtypes differ: {', '.join(dtypes)}")
    if dtypes[0] not in FLOATS:
        raise refuse(f"the dtype {dtypes[0]} is no floating-point dtype")
    (batch, queries, heads, dim), (key_batch, keys, key_heads, key_dim), value = shapes[:3]
    if not batch == key_batch == value[0]:
        raise refuse(f"the batch sizes differ: {batch}, {key_batch}, {value[0]}")
    if keys != value[1]:
        raise refuse(f"key and value have sequence lengths {keys} and {value[1]}")
    if dim != key_dim:
        raise refuse(f"query and key have the head dims {dim} and {key_dim}")
    if any(few < 1 or heads % few for few in (key_heads, value[2])):
        raise refuse(f"{heads} query heads, but {key_heads} key and {value[2]} value heads")
    whole = (batch, heads, queries, keys)
    bias = shapes[3] if len(shapes) > 3 else whole
    names = ("batch size", "number of heads", "query length", "key length")
    for name, size, wanted in zip(names, bias, whole, strict=True):
        if size not in (1, wanted):
            raise refuse(f"the bias has the {name} {size}, not {wanted}")
    if attributes.get("causal_mask") not in (None, "TopLeft", "BottomRight"):
        raise refuse(f"causal_mask {attributes['causal_mask']!r} is unknown")
    return (batch, queries, heads, value[3])


def attend(
    attributes: Mapping[str, Attribute],
    query: Array,
    key: Array,
    value: Array,
    bias: Array | None,
    freedom: Freedom,
) -> Array:
    """The attention of BSNH operands of one dtype, every step in it; or all steps in a wider one.

    Drawn are the order of each sum, and where there is a choice: whether scores are scaled before
    or after they are summed, and whether the weights are divided by their sum before or after
    they multiply the values, or multiplied by its inverse; and whether keys that are not seen are
    left out or given a score of -infinity. Narrow dtypes scale afterwards.
    """
    dtype = query.dtype
    if dtype.name in ("float16", "bfloat16") and freedom.choice(("own", "wide")) == "wide":
        q, k, v = (each.astype(np.float32) for each in (query, key, value))
        b = None if bias is None else bias.astype(np.float32)
        return attend(attributes, q, k, v, b, freedom).astype(dtype)
    heads = query.shape[2]
    # Dimensions first: what is summed over leads.
    q = query.transpose(3, 0, 2, 1)
    k = _shared(key, heads).transpose(3, 0, 2, 1)
    v = _shared(value, heads).transpose(1, 0, 2, 3)
    scores = _scores(attributes, q, k, freedom)
    if bias is not None:
        scores = scores + bias
    batch, queries, keys = query.shape[0], query.shape[1], key.shape[1]
    result = np.zeros((batch, queries, heads, value.shape[3]), dtype)
    divide = freedom.choice(("weights", "result", "inverse"))
    seen_by = sight(attributes)
    masked = freedom.choice(("seen", "masked")) == "masked"
    for at in range(queries):
        seen = seen_by.keys(at, queries, keys)
        if masked and seen:
            shown = np.isin(np.arange(keys), seen)
            own = np.where(shown, scores[:, :, at], np.array(-np.inf, dtype))
            result[:, at] = _average(own, v, divide, freedom)
        elif seen:
            result[:, at] = _average(scores[:, :, at, seen], v[seen], divide, freedom)
    return result


def attend_each(
    attributes: Mapping[str, Attribute],
    query: Array,
    key: Array,
    value: Array,
    starts: tuple[Array, Array],
    freedom: Freedom,
) -> Array:
    """Attention of sequences that stand one behind the other, each for itself.

    ``starts`` are the offsets of queries and of keys. Queries of no sequence give zeros.
    """
    result = np.zeros((*query.shape[:3], value.shape[3]), query.dtype)
    for at in range(len(starts[0]) - 1):
        q, k = (slice(int(start[at]), int(start[at + 1])) for start in starts)
        result[:, q] = attend(attributes, query[:, q], key[:, k], value[:, k], None, freedom)
    return result


def _shared(operand: Array, heads: int) -> Array:
    """Each query head's own copy of the key or value head that it reads."""
    group = heads // operand.shape[2]
    return operand[:, :, [head // group for head in range(heads)]]


def _scores(attributes: Mapping[str, Attribute], q: Array, k: Array, freedom: Freedom) -> Array:
    """The scaled product of each query with each key, (batch, heads, queries, keys)."""
    dim, batch, heads, queries = q.shape
    dtype, stated = q.dtype, attributes.get("scale")
    scale = float(dim) ** -0.5 if stated is None else float(stated)  # type: ignore[arg-type]
    place = freedom.choice(("after", "divide", "query", "both"))
    # A scale that is no root of a length cannot be divided by; narrow dtypes scale sums only.
    if (place == "divide" and stated is not None) or dtype.name in ("float16", "bfloat16"):
        place = "divide" if stated is None and place == "divide" else "after"
    if place == "query":
        q = q * np.array(scale, dtype)
    elif place == "both" and scale > 0:
        q, k = (each * np.array(scale**0.5, dtype) for each in (q, k))
    terms = [Term(q[at][..., None], k[at][..., None, :]) for at in range(dim)]
    sums = summed(terms, (batch, heads, queries, k.shape[3]), dtype, freedom)
    if place == "divide":
        sums = sums / np.array(np.sqrt(float(dim)), dtype)
    elif place == "after":
        sums = sums * np.array(scale, dtype)
    return sums


def _average(scores: Array, values: Array, divide: str, freedom: Freedom) -> Array:
    """The average of ``values`` (keys, batch, heads, dim), weighted by the softmax of ``scores``.

    ``scores`` (batch, heads, keys), at least one of a visible key. The exponential is computed in
    float64 and rounded, so that it is right to half an ulp.
    """
    dtype = scores.dtype
    shifted = scores - np.maximum.reduce(scores, axis=-1, keepdims=True)
    weights = np.exp(shifted.astype(np.float64)).astype(dtype)
    unit = np.ones((), dtype)
    keys = range(weights.shape[-1])
    total = summed(
        [Term(weights[..., at], unit) for at in keys], weights.shape[:-1], dtype, freedom
    )
    if divide == "weights":
        weights = weights / total[..., None]
    result = summed(
        [Term(weights[..., at, None], values[at]) for at in keys],
        values.shape[1:],
        dtype,
        freedom,
    )
    if divide == "result":
        return result / total[..., None]
    return result * (unit / total)[..., None] if divide == "inverse" else result


def _infer_attention(node: Node, operands: Sequence[Type]) -> Type:
    shape = shape_of(
        node.operator,
        node.attributes,
        [each.shape for each in operands],
        [each.dtype for each in operands],
    )
    return Type(shape, operands[0].dtype)


@operator("nn.attention", _infer_attention, narrows=True)
def _attention(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    query, key, value, *bias = operands
    mask = bias[0] if bias else None
    return attend(node.attributes, query, key, value, mask, freedom)


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


@operator("nn.attention_var_len", _infer_var_len, narrows=True)
def _attention_var_len(node: Node, operands: Sequence[Array], freedom: Freedom) -> Array:
    query, key, value, starts_q, _, starts_k, _ = operands
    return attend_each(node.attributes, query, key, value, (starts_q, starts_k), freedom)
