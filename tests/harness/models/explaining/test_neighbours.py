"""The steps around a piece are those at most two away."""

from tvm import relax

from relaxcheck.harness.models.explaining.neighbours import around
from tests.harness.models.explaining.modules import chain


def test_steps_two_away_are_there_with_their_operands() -> None:
    model = chain(9, ("bad", relax.op.exp, ()))
    near = around(model, ["node_bad"])
    assert [each.node for each in near] == [
        *("node_v3", "node_v4", "node_v5", "node_bad", "node_cast", "node_total"),
    ]
    assert [each.node for each in near if each.inside] == ["node_bad"]
    (bad,) = (each for each in near if each.inside)
    assert bad.operands == ("node_v4",)
    assert bad.type == "float32 (2, 3)"
    assert near[0].operands == ("node_v2",)
