"""Attention: axes, cases, points.

Operands are (batch, length, heads, head dim). The score of query ``i`` and key ``j`` is their
product times ``scale`` (1 / sqrt(head dim) where absent) plus the bias; query head ``h`` reads
key/value head ``h // group``. With a causal mask key ``j`` is visible only if ``j <= i + offset``;
with a window ``w`` only if ``j > i + offset - w``. ``offset`` is 0, but ``abs(q_len - kv_len)`` for
"BottomRight" (TVM's docstring of ``relax.op.nn.attention``: ``np.tril(k=abs(seq_len -
seq_len_kv))``). A query that sees no key gives zeros (PyTorch's safe softmax, flash-attention).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from generators import faults
from generators.attention_invalid import attention_faults
from generators.axes import Axis, Point, Value, run_axes
from generators.cases import AnyCase
from generators.dims import Dim
from generators.points import Given, bindings, first_then, integer, point_of, text, toggle
from generators.program import Attribute, Case, Input, Node, Program

BATCHES = (1, 2, 3, 7, 0)
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 0)

BIASES = (None, "BHQK", "1HQK", "B1QK", "BH1K", "11QK", "1H1K", "B11K", "111K")
"""The bias's dimensions: (batch, heads, query length, key length), 1 where it is broadcast."""


def head_axes() -> tuple[Axis, ...]:
    """The axes of heads and head dims; the query has ``kv_heads * group`` heads."""
    return (
        Axis("kv_heads", (1, 2, 3, 4), 2, least=(1,)),
        Axis("group", (1, 2, 3, 4), 1, least=(1,)),
        Axis("head_dim", (1, 2, 3, 4, 8, 16), 8, least=(1,)),
        Axis("v_head_dim", (1, 2, 3, 4, 8, 16), 8, least=(1,)),
    )


def mask_axes() -> tuple[Axis, ...]:
    """The axes of the attributes."""
    return (
        Axis("scale", (None, "0.5", "0.125", "1.0"), None),
        Axis("causal_mask", (None, "TopLeft", "BottomRight"), None),
        Axis("window_size", (None, 1, 2, 3, 16), None),
    )


def attributes(point: Point) -> dict[str, Attribute]:
    """The operator's attributes at ``point``; one that is absent is left out."""
    found: dict[str, Attribute] = {}
    if point["scale"] is not None:
        found["scale"] = float(text(point, "scale"))
    return found | {
        name: point[name] for name in ("causal_mask", "window_size") if point[name] is not None
    }


def read_attributes(given: dict[str, Attribute]) -> dict[str, Value]:
    """The values of the mask axes that ``attributes`` makes ``given`` of."""
    values: dict[str, Any] = {name: given.get(name) for name in ("causal_mask", "window_size")}
    scale = given.get("scale")
    return values | {"scale": None if scale is None else str(scale)}


def query_heads(point: Point) -> int:
    """How many heads the query has."""
    return integer(point, "kv_heads") * integer(point, "group")


def run_values(case: Case) -> dict[str, Value]:
    """The values of the axes that every family shares, read from ``case``."""
    return {axis.name: getattr(case, axis.name) for axis in run_axes(("",))}


@dataclass(frozen=True, slots=True)
class Attention:
    """The family of ``nn.attention``, with and without bias."""

    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``attention``."""
        return "attention"

    @property
    def operator(self) -> str:
        """The Relax operator."""
        return "nn.attention"

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point``; its first binding gives every symbol the point's own size."""
        dtype = text(point, "dtype")
        batch, queries, keys = _lengths(point)
        heads, kv_heads = query_heads(point), integer(point, "kv_heads")
        dim, v_dim = integer(point, "head_dim"), integer(point, "v_head_dim")
        constant = point["operands"] == "constant_key_value"
        key = Input("key", (batch, keys, kv_heads, dim), dtype, constant)
        value = Input("value", (batch, keys, kv_heads, v_dim), dtype, constant)
        inputs, nodes = [Input("query", (batch, queries, heads, dim), dtype), key, value], []
        if point["operands"] == "matmul_query":
            inputs[:1] = [
                Input("x", (batch, queries, heads, dim), dtype),
                Input("projection", (dim, dim), dtype),
            ]
            nodes.append(Node("query", "matmul", ("x", "projection")))
        arguments: tuple[str, ...] = ("query", "key", "value")
        if point["bias"] is not None:
            full = {"B": batch, "H": heads, "Q": queries, "K": keys, "1": 1}
            shape = tuple(full[letter] for letter in text(point, "bias"))
            inputs.append(Input("bias", shape, dtype))
            arguments += ("bias",)
        nodes.append(Node("attended", self.operator, arguments, attributes(point)))
        if point["result"] == "add":
            inputs.append(Input("residual", (batch, queries, heads, v_dim), dtype))
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
        return attention_faults()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """For each fault, valid cases with it put in."""
        return faults.strategies(self)


def family(pipelines: Sequence[str]) -> Attention:
    """The family, compiled by ``pipelines``."""
    shared = Given(
        ("q_len", "kv_len", "symbolic.q_len", "symbolic.kv_len"),
        lambda q_len, kv_len, q_symbolic, kv_symbolic, _: (
            q_symbolic and kv_symbolic and q_len == kv_len
        ),
    )
    return Attention(
        (
            Axis("dtype", ("float32", "float16", "float64", "bfloat16"), "float32"),
            Axis("batch", BATCHES, 2, least=(1,)),
            Axis("q_len", LENGTHS, 4, least=(1,)),
            Axis("kv_len", LENGTHS, 4, least=(1,)),
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
                ("variables", "constant_key_value", "matmul_query"),
                "variables",
                Given(
                    ("symbolic.batch", "symbolic.kv_len"),
                    lambda batch, keys, value: value != "constant_key_value" or not (batch or keys),
                ),
            ),
            Axis("result", ("bare", "add"), "bare"),
            *run_axes(pipelines),
        )
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
    return not any(one and letter == "1" for one, letter in zip(ones, value, strict=False))


def _lengths(point: Point) -> tuple[Dim, Dim, Dim]:
    """The dimensions of batch, query length and key length."""
    batch: Dim = "B" if point["symbolic.batch"] else integer(point, "batch")
    queries: Dim = "Q" if point["symbolic.q_len"] else integer(point, "q_len")
    keys: Dim = "K" if point["symbolic.kv_len"] else integer(point, "kv_len")
    return batch, queries, queries if point["shared_length"] else keys


def _bindings(point: Point) -> tuple[dict[str, int], ...]:
    columns: dict[str, Sequence[int]] = {}
    batch, queries, keys = _lengths(point)
    if batch == "B":
        columns["B"] = first_then(integer(point, "batch"), BATCHES)
    # Together these are below, equal and above.
    if queries == "Q":
        size = integer(point, "q_len")
        columns["Q"] = (size, 1, size + 1, size + 3, 2)
    if keys == "K":
        size = integer(point, "kv_len")
        columns["K"] = (size, size + 2, 1, size + 1, 2)
    return bindings(columns)


def _read(case: Case) -> dict[str, Value]:
    """The only point that can build ``case``; whether it does is for the caller to see."""
    program = case.program
    nodes = {node.name: node for node in program.nodes}
    names = {given.name for given in program.inputs}
    query = "query" if "query" in names else "x"
    binding = case.bindings[0]
    batch, q_len, heads, dim = case.shape(query, binding)
    _, kv_len, kv_heads, v_dim = case.shape("value", binding)
    q_dim, kv_dim = program.input(query).shape[1], program.input("value").shape[1]
    constant = program.input("key").constant
    bias: str | None = None
    if "bias" in names:
        full = (program.input(query).shape[0], heads, q_dim)
        bias = "".join(
            letter if size == whole else "1"
            for letter, size, whole in zip("BHQ", program.input("bias").shape, full, strict=False)
        )
        bias += "K"
    return {
        "dtype": program.input(query).dtype,
        "batch": batch,
        "q_len": q_len,
        "kv_len": kv_len,
        "kv_heads": kv_heads,
        "group": heads // kv_heads,
        "head_dim": dim,
        "v_head_dim": v_dim,
        "symbolic.batch": "B" in program.symbols,
        "symbolic.q_len": q_dim == "Q",
        "symbolic.kv_len": isinstance(kv_dim, str),
        "shared_length": kv_dim == "Q",
        "bias": bias,
        "operands": "constant_key_value"
        if constant
        else ("matmul_query" if query == "x" else "variables"),
        "result": "add" if "added" in nodes else "bare",
        **read_attributes(nodes["attended"].attributes),
        **run_values(case),
    }
