"""Errors that reject an invalid program or a wrong call; some are raised by TVM itself."""

import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid, Mismatch
from relaxcheck.generators.core.faults import Breakable, broken
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.programs.invalid.rejection import is_rejection, subject_of

FAMILIES: dict[str, Breakable] = {
    name.removeprefix("nn."): OperatorFamily(OPERATORS[name], ("build",))
    for name in ("nn.attention", "nn.conv1d_transpose")
}

CASE = Case(
    "toy",
    Program(
        (Input("data", (2, "n", 7), "float32"), Input("weight", (5,), "float32")),
        (
            Node("first", "nn.x", ("data", "weight"), {"groups": 3, "strides": (4, 6)}),
            Node("last", "nn.y", ("first",), {"axis": 9}),
        ),
        ("last",),
    ),
    bindings=({"n": 1},),
)


def test_an_error_may_speak_of_operands_attributes_and_sizes() -> None:
    subject = subject_of(CASE, Invalid("nn.x", ("groups",)))
    assert subject.fault == ("groups",)
    assert subject.parts == ("data", "weight", "groups", "strides")
    assert subject.sizes == {2, 7, 5, 3, 4, 6}


@pytest.mark.parametrize(
    ("message", "rejects"),
    [
        ("ValueError: w: dimension 1 is 3, not 2", True),
        ("ValueError: dimension 1 is 3, not 2", False),
        ("ValueError: w: dimension 1 is not 2", False),
    ],
)
def test_a_wrong_call_is_refused_by_parameter_dimension_and_sizes(
    message: str, rejects: bool
) -> None:
    expected = Mismatch("w", ("dimension 1",), (2, 3))
    assert is_rejection(CASE, expected, "run", message) is rejects


@pytest.mark.parametrize(
    ("family", "kind", "rejects"),
    [
        ("attention", "head-dims-differ", True),
        ("attention", "query-rank", True),
        ("attention", "causal-mask-unknown", False),
        ("attention", "integer-dtype", False),
        ("conv1d_transpose", "strides-length", True),
        ("conv1d_transpose", "groups-zero", True),
        ("conv1d_transpose", "dilation-zero", False),
    ],
)
def test_tvm_refuses_some_faults_on_purpose(family: str, kind: str, rejects: bool) -> None:
    broken_family = FAMILIES[family]
    fault = next(each for each in broken_family.faults if each.kind == kind)
    point = complete(broken_family.axes, fault.pinned)
    outcome = execute(broken(broken_family, fault, point, 0))
    assert (outcome.verdict is Verdict.REJECTED) is rejects, outcome.message
