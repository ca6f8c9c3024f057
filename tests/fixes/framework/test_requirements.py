"""A requirement that is proved when a call is lowered is not checked when it runs."""

from typing import Any

import pytest
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.requirements import Requirement, undecided
from tests.fixes import compiled


def test_requirements_are_proved_refuted_or_left() -> None:
    n = tvm_api.shape_var("n")
    proved = Requirement(tvm_api.equal(n + n, n * 2), "doubles", {"n": "n"})
    refuted = Requirement(tvm_api.equal(n, n + 1), "n differs from n + 1", {"n": "n", "m": 2})
    left = Requirement(tvm_api.equal(n, 3), "three", {})
    last = Requirement(tvm_api.equal(n, 4), "four", {})
    assert undecided("relax.it", [proved]) == []
    assert [requirement.why for requirement in undecided("relax.it", [left, proved, last])] == [
        "three",
        "four",
    ]
    text = "^relax.it is invalid with n='n', m=2: n differs from n . 1$"
    with pytest.raises(ValueError, match=text):
        undecided("relax.it", [left, refuted, last])


@pytest.mark.parametrize(
    ("make", "shapes", "asserted"),
    [
        (relax.op.nn.attention, [(2, 3, 4, 5)] * 3, 0),
        (relax.op.nn.attention, [("B", "S", 4, "D")] * 3, 0),
        (relax.op.nn.attention, [("B", 3, 2, 4), ("C", 3, 2, 4), ("C", 3, 2, 4)], 2),
        (relax.op.nn.conv1d_transpose, [("N", 2, 3), (2, 3, 2)], 0),
        (relax.op.nn.conv1d_transpose, [(1, "C", 3), ("A", 3, 2)], 1),
    ],
)
def test_only_what_is_not_proved_is_asserted(
    fixes_on: None, make: Any, shapes: Any, asserted: int
) -> None:
    lowered = relax.transform.LegalizeOps()(compiled.module(make, *shapes))
    assert str(lowered).count("assert ") == asserted
