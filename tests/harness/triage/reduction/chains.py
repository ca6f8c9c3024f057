"""Programs of nodes in a row, to reduce."""

from relaxcheck.generators.core.program import (
    Case,
    Input,
    Node,
    Program,
)


def chain(length: int) -> Case:
    """``length`` nodes in a row, each with an attribute and an operand of its own."""
    inputs = [Input("x", ("m", 8), "float16")]
    nodes: list[Node] = []
    for at in range(length):
        inputs.append(Input(f"w{at}", (8, 8), "float16", constant=at % 2 == 0))
        before = nodes[-1].name if nodes else "x"
        nodes.append(Node(f"y{at}", f"toy.op{at}", (before, f"w{at}"), {"alpha": 3 + at}))
    outputs = (nodes[-1].name, nodes[0].name)
    return Case(
        "none",
        Program(tuple(inputs), tuple(nodes), outputs),
        bindings=({"m": 5}, {"m": 7}, {"m": 0}),
        pipeline="fold-constants",
        exec_mode="compiled",
        opt_level=3,
        regime="special",
        also=("exact",),
        seed=99,
    )
