"""Attention over sequences of different lengths, concatenated: axes, cases, points.

Operands are (1, total length, heads, head dim). ``seqstart_q`` and ``seqstart_k`` (int32, n + 1
offsets) bound the n sequences; each attends only within itself, masked as ``generators.attention``
says with the lengths of that sequence. Arguments: query, key, value, seqstart_q, max_seqlen_q,
seqstart_k, max_seqlen_k, the order of ``relax.op.nn.attention_var_len``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from generators import faults
from generators.attention import (
    attributes,
    head_axes,
    mask_axes,
    query_heads,
    read_attributes,
    run_values,
)
from generators.attention_invalid import var_len_faults
from generators.axes import Axis, Point, Value, run_axes
from generators.cases import AnyCase
from generators.dims import Dim
from generators.points import Given, bindings, integer, point_of, text, toggle
from generators.program import Case, Input, LongestSegment, Node, Offsets, Program

SEQUENCES = (1, 2, 3, 4)
TOTALS = (1, 2, 3, 4, 5, 7, 8, 11)


@dataclass(frozen=True, slots=True)
class AttentionVarLen:
    """The family of ``nn.attention_var_len``."""

    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``attention_var_len``."""
        return "attention_var_len"

    @property
    def operator(self) -> str:
        """The Relax operator."""
        return "nn.attention_var_len"

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point``; its first binding gives every symbol the point's own size."""
        dtype = text(point, "dtype")
        bounds, queries, keys = _dims(point)
        heads, kv_heads = query_heads(point), integer(point, "kv_heads")
        dim, v_dim = integer(point, "head_dim"), integer(point, "v_head_dim")
        constant = point["operands"] == "constant_key_value"
        inputs = [
            Input("query", (1, queries, heads, dim), dtype),
            Input("key", (1, keys, kv_heads, dim), dtype, constant=constant),
            Input("value", (1, keys, kv_heads, v_dim), dtype, constant=constant),
            *_offsets("q", bounds, queries),
        ]
        if not point["shared_sequences"]:
            inputs += _offsets("k", bounds, keys)
        of_keys = "q" if point["shared_sequences"] else "k"
        arguments = (
            *("query", "key", "value", "seqstart_q", "max_seqlen_q"),
            *(f"seqstart_{of_keys}", f"max_seqlen_{of_keys}"),
        )
        nodes = [Node("attended", self.operator, arguments, attributes(point))]
        if point["result"] == "add":
            inputs.append(Input("residual", (1, queries, heads, v_dim), dtype))
            nodes.append(Node("added", "add", ("attended", "residual")))
        return Case(
            family=self.name,
            program=Program(tuple(inputs), tuple(nodes), (nodes[-1].name,)),
            bindings=_bindings(point),
            seed=seed,
            **{axis.name: point[axis.name] for axis in run_axes(("",))},  # type: ignore[arg-type]
        )

    def point(self, case: AnyCase) -> Point:
        """The point of ``case``.

        Raises:
            ValueError: no point of this family builds ``case``.
        """
        return point_of(self, _read, case)

    @property
    def faults(self) -> tuple[faults.Fault, ...]:
        """The ways to break a valid case (see ``generators.attention_invalid``)."""
        return var_len_faults()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """For each fault, valid cases with it put in."""
        return faults.strategies(self)


def family(pipelines: Sequence[str]) -> AttentionVarLen:
    """The family, compiled by ``pipelines``."""
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
    return AttentionVarLen(
        (
            Axis("dtype", ("float32", "float16", "float64", "bfloat16"), "float32"),
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
            *run_axes(pipelines),
        )
    )


def _dims(point: Point) -> tuple[Dim, Dim, Dim]:
    """The dimensions of the offsets (one more than sequences) and of the two total lengths."""
    bounds: Dim = "N" if point["symbolic.sequences"] else integer(point, "sequences") + 1
    queries: Dim = "Q" if point["symbolic.q_total"] else integer(point, "q_total")
    keys: Dim = "K" if point["symbolic.kv_total"] else integer(point, "kv_total")
    return bounds, queries, queries if point["shared_sequences"] else keys


def _offsets(side: str, bounds: Dim, total: Dim) -> list[Input]:
    start, longest = f"seqstart_{side}", f"max_seqlen_{side}"
    return [
        Input(start, (bounds,), "int32", fill=Offsets(total)),
        Input(longest, (), "int32", fill=LongestSegment(start)),
    ]


def _bindings(point: Point) -> tuple[dict[str, int], ...]:
    columns: dict[str, Sequence[int]] = {}
    bounds, queries, keys = _dims(point)
    # Totals only grow and sequences only get fewer: none is ever empty.
    if bounds == "N":
        size = integer(point, "sequences") + 1
        columns["N"] = (size, 2, size, 2)
    if queries == "Q":
        size = integer(point, "q_total")
        columns["Q"] = (size, size + 1, size + 3, size + 2)
    if keys == "K":
        size = integer(point, "kv_total")
        columns["K"] = (size, size + 2, size + 1, size + 4)
    return bindings(columns)


def _read(case: Case) -> dict[str, Value]:
    """The only point that can build ``case``; whether it does is for the caller to see."""
    program = case.program
    binding = case.bindings[0]
    _, q_total, heads, dim = case.shape("query", binding)
    _, kv_total, kv_heads, v_dim = case.shape("value", binding)
    node = program.nodes[0]
    return {
        "dtype": program.input("query").dtype,
        "sequences": case.shape("seqstart_q", binding)[0] - 1,
        "q_total": q_total,
        "kv_total": kv_total,
        "kv_heads": kv_heads,
        "group": heads // kv_heads,
        "head_dim": dim,
        "v_head_dim": v_dim,
        "symbolic.sequences": "N" in program.symbols,
        "symbolic.q_total": isinstance(program.input("query").shape[1], str),
        "symbolic.kv_total": isinstance(program.input("value").shape[1], str),
        "shared_sequences": "seqstart_k" not in node.arguments,
        "operands": "constant_key_value" if program.input("key").constant else "variable",
        "result": "bare" if len(program.nodes) == 1 else "add",
        **read_attributes(node.attributes),
        **run_values(case),
    }
