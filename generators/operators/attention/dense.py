"""Attention: operands of shape (batch, length, heads, head dim)."""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.core.points import Given, bindings, first_then, integer, text, toggle
from relaxcheck.generators.operators.attention.axes import (
    ATTRIBUTES,
    DTYPES,
    VARIABLES,
    attributes,
    described,
    grouped,
    head_axes,
    mask_axes,
    query_heads,
)
from relaxcheck.generators.operators.attention.faults import attention_faults
from relaxcheck.generators.operators.record import Numerics, Operand, Operator, OwnOperand

NAME = "nn.attention"

BATCHES = (1, 2, 3, 7, 0)
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 0)

BIASES = (None, "BHQK", "1HQK", "B1QK", "BH1K", "11QK", "1H1K", "B11K", "111K")
"""The bias's dimensions: (batch, heads, query length, key length), 1 where it is broadcast."""

MEANING = """\
The score of query i and key j is their product times `scale` (1 / sqrt(head dim) where absent) plus
the bias; query head h reads key/value head h // group. With a causal mask key j is visible only if
j <= i + offset; with a window w only if j > i + offset - w. `offset` is 0, but abs(q_len - kv_len)
for "BottomRight". The result is the mean of the visible values, weighted by the softmax of their
scores; a query that sees no key gives zeros."""


def _start(draft: Draft, point: Point) -> Value:
    """The query: an input, or the product of one and a projection."""
    dtype, dim = text(point, "dtype"), integer(point, "head_dim")
    batch: Dim = "B" if point["symbolic.batch"] else integer(point, "batch")
    queries: Dim = "Q" if point["symbolic.q_len"] else integer(point, "q_len")
    shape = (batch, queries, query_heads(point), dim)
    if point["operands"] != "matmul_query":
        return draft.input(shape, dtype, name="query")
    both = [draft.input(shape, dtype, name="x"), draft.input((dim, dim), dtype, name="projection")]
    return draft.call("matmul", both, shape, dtype, "query")


def _apply(draft: Draft, query: Value, point: Point) -> None:
    batch, queries, heads, dim = query.shape
    kv_heads, v_dim = grouped(heads, point), integer(point, "v_head_dim")
    keys: Dim = "K" if point["symbolic.kv_len"] else integer(point, "kv_len")
    if point["shared_length"]:
        keys = queries
    constant = point["operands"] == "constant_key_value"

    def operand(name: str, *shape: Dim, constant: bool = False) -> Value:
        return draft.input(shape, query.dtype, constant=constant, name=name)

    arguments = [
        query,
        operand("key", batch, keys, kv_heads, dim, constant=constant),
        operand("value", batch, keys, kv_heads, v_dim, constant=constant),
    ]
    if point["bias"] is not None:
        full = {"B": batch, "H": heads, "Q": queries, "K": keys, "1": 1}
        arguments.append(operand("bias", *(full[letter] for letter in text(point, "bias"))))
    shape = (batch, queries, heads, v_dim)
    attended = draft.call(NAME, arguments, shape, query.dtype, "attended", **attributes(point))
    if point["result"] == "add":
        draft.call("add", [attended, operand("residual", *shape)], shape, query.dtype, "added")


def _axes() -> tuple[Axis, ...]:
    shared = Given(
        ("q_len", "kv_len", "symbolic.q_len", "symbolic.kv_len"),
        lambda q_len, kv_len, q_symbolic, kv_symbolic, _: (
            q_symbolic and kv_symbolic and q_len == kv_len
        ),
    )
    return (
        Axis("dtype", DTYPES, "float32"),
        Axis("batch", BATCHES, 2, least=(1,), words="batch size {}"),
        Axis("q_len", LENGTHS, 4, least=(1,), words="query length {}"),
        Axis("kv_len", LENGTHS, 4, least=(1,), words="key/value length {}"),
        *head_axes(),
        toggle("symbolic.batch"),
        toggle("symbolic.q_len"),
        toggle("symbolic.kv_len"),
        toggle("shared_length", shared),
        Axis(
            "bias",
            BIASES,
            None,
            Given(
                (
                    *("batch", "symbolic.batch", "kv_heads", "group"),
                    *("q_len", "symbolic.q_len"),
                ),
                _distinct_bias,
            ),
        ),
        *mask_axes(),
        Axis(
            "operands",
            (VARIABLES, "constant_key_value", "matmul_query"),
            VARIABLES,
            Given(
                ("symbolic.batch", "symbolic.kv_len"),
                lambda batch, keys, value: value != "constant_key_value" or not (batch or keys),
            ),
        ),
        Axis("result", ("bare", "add"), "bare"),
    )


def _distinct_bias(
    batch: int,
    symbolic_batch: bool,
    kv_heads: int,
    group: int,
    queries: int,
    symbolic_queries: bool,
    value: str | None,
) -> bool:
    """A dimension of 1 is not broadcast: the same program would lie at two points."""
    if value is None:
        return True
    ones = (
        batch == 1 and not symbolic_batch,
        kv_heads * group == 1,
        queries == 1 and not symbolic_queries,
    )
    return not any(
        size_one and letter == "1" for size_one, letter in zip(ones, value, strict=False)
    )


def _bindings(point: Point) -> tuple[dict[str, int], ...]:
    columns: dict[str, Sequence[int]] = {}
    if point["symbolic.batch"]:
        columns["B"] = first_then(integer(point, "batch"), BATCHES)
    # Together these are below, equal and above.
    if point["symbolic.q_len"]:
        size = integer(point, "q_len")
        columns["Q"] = (size, 1, size + 1, size + 3, 2)
    if point["symbolic.kv_len"] and not point["shared_length"]:
        size = integer(point, "kv_len")
        columns["K"] = (size, size + 2, 1, size + 1, 2)
    return bindings(columns)


OPERATORS = (
    Operator(
        NAME,
        meaning=MEANING,
        source="docstring of relax.op.nn.attention (np.tril(k=abs(seq_len - seq_len_kv))); "
        "torch scaled_dot_product_attention and its safe softmax; flash-attention",
        operands=(
            Operand("query", ranks=(4,), dtypes=DTYPES),
            Operand("key", ranks=(4,), dtypes=DTYPES),
            Operand("value", ranks=(4,), dtypes=DTYPES),
            Operand("bias", ranks=(4,), dtypes=DTYPES, optional=True),
        ),
        attributes=ATTRIBUTES,
        axes=_axes(),
        apply=_apply,
        numerics=Numerics.ACCUMULATES,
        requires="query heads that the key/value heads divide; a bias that broadcasts",
        faults=attention_faults(),
        narrowed=True,
        also=("nn.attention_bias",),
        own=OwnOperand(
            frozenset(
                (
                    *("dtype", "batch", "q_len", "kv_heads", "head_dim"),
                    *("symbolic.batch", "symbolic.q_len", "operands", "result"),
                )
            ),
            start=_start,
            bindings=_bindings,
            describe=described,
        ),
    ),
)
