"""Attention over sequences of different lengths, concatenated.

Operands are (1, total length, heads, head dim). ``seqstart_q`` and ``seqstart_k`` (int32, n + 1
offsets) bound the n sequences; each attends only within itself. Arguments: query, key, value,
seqstart_q, max_seqlen_q, seqstart_k, max_seqlen_k, the order of ``relax.op.nn.attention_var_len``.
"""

from collections.abc import Sequence

from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.dims import Dim
from relaxcheck.generators.core.draft import Draft, Unfit, Value
from relaxcheck.generators.core.fills.kinds import LongestSegment, Offsets
from relaxcheck.generators.core.points import Given, bindings, integer, text, toggle
from relaxcheck.generators.core.polynomials import minus, plus
from relaxcheck.generators.operators.attention.axes import (
    ATTRIBUTES,
    DTYPES,
    attributes,
    described,
    grouped,
    head_axes,
    mask_axes,
    query_heads,
)
from relaxcheck.generators.operators.attention.faults import var_len_faults
from relaxcheck.generators.operators.record import Numerics, Operand, Operator, OwnOperand

NAME = "nn.attention_var_len"

SEQUENCES = (1, 2, 3, 4)
TOTALS = (1, 2, 3, 4, 5, 7, 8, 11)

MEANING = """\
Sequence n holds queries seqstart_q[n] to seqstart_q[n + 1] and keys seqstart_k[n] to
seqstart_k[n + 1]. Each attends only within itself, as `nn.attention` does, masked by its own
lengths. max_seqlen_q and max_seqlen_k size a work space and do not change the result."""


def _start(draft: Draft, point: Point) -> Value:
    queries: Dim = "Q" if point["symbolic.q_total"] else integer(point, "q_total")
    shape = (1, queries, query_heads(point), integer(point, "head_dim"))
    return draft.input(shape, text(point, "dtype"), name="query")


def _described(query: Value) -> Point:
    if query.shape[:1] != (1,):
        raise Unfit("the sequences are concatenated: a batch of one")
    return described(query)


def _apply(draft: Draft, query: Value, point: Point) -> None:
    _, queries, heads, dim = query.shape
    kv_heads, v_dim = grouped(heads, point), integer(point, "v_head_dim")
    bounds: Dim = "N" if point["symbolic.sequences"] else integer(point, "sequences") + 1
    keys: Dim = "K" if point["symbolic.kv_total"] else integer(point, "kv_total")
    if point["shared_sequences"]:
        keys = queries
    constant = point["operands"] == "constant_key_value"

    def operand(name: str, *shape: Dim) -> Value:
        return draft.input(shape, query.dtype, constant=constant, name=name)

    key, value = operand("key", 1, keys, kv_heads, dim), operand("value", 1, keys, kv_heads, v_dim)
    of_queries = _offsets(draft, "q", bounds, queries)
    of_keys = of_queries if point["shared_sequences"] else _offsets(draft, "k", bounds, keys)
    shape = (1, queries, heads, v_dim)
    arguments = [query, key, value, *of_queries, *of_keys]
    attended = draft.call(NAME, arguments, shape, query.dtype, "attended", **attributes(point))
    if point["result"] == "add":
        residual = draft.input(shape, query.dtype, name="residual")
        draft.call("add", [attended, residual], shape, query.dtype, "added")


def _offsets(draft: Draft, side: str, bounds: Dim, total: Dim) -> list[Value]:
    draft.require(bounds, 2)
    # No sequence is empty.
    draft.require(minus(plus(total, 1), bounds))
    start = draft.input((bounds,), "int32", fill=Offsets(total), name=f"seqstart_{side}")
    longest = LongestSegment(start.name)
    return [start, draft.input((), "int32", fill=longest, name=f"max_seqlen_{side}")]


def _axes() -> tuple[Axis, ...]:
    enough = Given(("sequences",), lambda sequences, total: total >= sequences)
    shared = Given(
        ("q_total", "kv_total", "symbolic.q_total", "symbolic.kv_total"),
        lambda q_total, kv_total, q_symbolic, kv_symbolic, _: (
            q_total == kv_total and q_symbolic == kv_symbolic
        ),
    )
    static_keys = Given(
        ("symbolic.kv_total",), lambda symbolic, value: value == "variable" or not symbolic
    )
    return (
        Axis("dtype", DTYPES, "float32"),
        Axis("sequences", SEQUENCES, 2, least=(1,)),
        Axis("q_total", TOTALS, 7, enough, least=(1,)),
        Axis("kv_total", TOTALS, 7, enough, least=(1,)),
        *head_axes(),
        toggle("symbolic.sequences"),
        toggle("symbolic.q_total"),
        toggle("symbolic.kv_total"),
        toggle("shared_sequences", shared),
        Axis("operands", ("variable", "constant_key_value"), "variable", static_keys),
        Axis("result", ("bare", "add"), "bare"),
        *mask_axes(),
    )


def _bindings(point: Point) -> tuple[dict[str, int], ...]:
    columns: dict[str, Sequence[int]] = {}
    # Totals only grow and sequences only get fewer: none is ever empty.
    if point["symbolic.sequences"]:
        size = integer(point, "sequences") + 1
        columns["N"] = (size, 2, size, 2)
    if point["symbolic.q_total"]:
        size = integer(point, "q_total")
        columns["Q"] = (size, size + 1, size + 3, size + 2)
    if point["symbolic.kv_total"] and not point["shared_sequences"]:
        size = integer(point, "kv_total")
        columns["K"] = (size, size + 2, size + 1, size + 4)
    return bindings(columns)


OPERATORS = (
    Operator(
        NAME,
        meaning=MEANING,
        source="docstring of relax.op.nn.attention_var_len; flash_attn_varlen_func",
        operands=(
            *(Operand(name, ranks=(4,), dtypes=DTYPES) for name in ("queries", "keys", "values")),
            Operand("seqstart_q", ranks=(1,), dtypes=("int32",)),
            Operand("max_seqlen_q", ranks=(0,), dtypes=("int32",)),
            Operand("seqstart_k", ranks=(1,), dtypes=("int32",), optional=True),
            Operand("max_seqlen_k", ranks=(0,), dtypes=("int32",), optional=True),
        ),
        attributes=ATTRIBUTES,
        axes=_axes(),
        apply=_apply,
        numerics=Numerics.ACCUMULATES,
        requires="offsets that increase from 0 to the total length",
        faults=var_len_faults(),
        narrowed=True,
        own=OwnOperand(
            frozenset(
                (
                    *("dtype", "q_total", "kv_heads", "head_dim"),
                    *("symbolic.q_total", "operands", "result"),
                )
            ),
            start=_start,
            bindings=_bindings,
            describe=_described,
        ),
    ),
)
