"""Steps that do not compile by themselves are named, all of them, in one pass."""

from typing import Any

from tvm import relax

from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.explaining.alone import failing_alone
from relaxcheck.harness.outcomes.outcome import Verdict
from tests.harness.models.explaining.modules import chain, imported

PLAIN = Way("build", plain=True)


def ordered(value: Any) -> Any:
    truth = relax.op.less(value, value)
    return relax.op.less(truth, truth)


def test_all_steps_that_fail_are_named_with_their_errors() -> None:
    model = imported(
        {"x": ((2, 3), "float32")},
        ("a", relax.op.nn.relu, ("x",)),
        ("b", lambda value: relax.op.ewise_fma(value, value, value), ("a",)),
        ("c", relax.op.exp, ("b",)),
        ("d", lambda value: relax.op.less(value, value), ("c",)),
        ("e", lambda value: relax.op.less(value, value), ("d",)),
        ("f", lambda value: relax.op.astype(value, "float32"), ("e",)),
    )
    failing = failing_alone(model, PLAIN)
    assert [each.step.name for each in failing] == ["node_b", "node_e"]
    assert [each.fault.verdict for each in failing] == [Verdict.OPAQUE_CRASH] * 2
    assert "ewise_fma" in failing[0].fault.message
    assert "kDLFloat" in failing[1].fault.message


def test_a_good_model_has_none() -> None:
    asked = []
    model = chain(20, ("exp", relax.op.exp, ()))
    assert failing_alone(model, PLAIN, progress=lambda *each: asked.append(each)) == ()
    assert len(asked) == 2, "one pass of LegalizeOps, and one compilation"


def test_a_step_behind_a_lost_shape_is_a_victim() -> None:
    model = imported(
        {"x": ((2, 3), "float32"), "k": ((2,), "int64")},
        ("sizes", relax.op.tensor_to_shape, ("k",)),
        ("lost", relax.op.reshape, ("x", "sizes")),
        ("next", relax.op.exp, ("lost",)),
    )
    failing = failing_alone(model, PLAIN)
    assert [(each.step.name, each.behind) for each in failing] == [
        ("node_lost", ""),
        ("node_next", "node_lost"),
    ]
    assert {each.fault.verdict for each in failing} == {Verdict.SILENT_BAIL}
