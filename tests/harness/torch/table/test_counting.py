"""The figures of the support table, from verdicts."""

from collections.abc import Sequence
from typing import Any

import pytest

from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.program import Node, Program, Ref, Tensor
from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import ReleaseError
from relaxcheck.harness.torch.table import counting
from relaxcheck.harness.torch.table.selecting import (
    CORE,
    DECOMPOSED,
    DYNAMIC,
    FORMS,
    UNDECOMPOSED,
    Subject,
)
from relaxcheck.harness.workers.jobs import Limits


def _case(target: str, seed: int = 0) -> TorchCase:
    program = Program((Tensor("x", (2,)),), (Node(target, (Ref("x"),)),), ("y",))
    return TorchCase("torch-graph", program, seed=seed)


SUBJECT = Subject(
    CORE,
    "tanh.default",
    {
        DECOMPOSED: (_case("torch.tanh"), _case("torch.tanh", 1)),
        UNDECOMPOSED: (_case("torch.tanh", 2),),
        DYNAMIC: (),
    },
)


def _running(off: Sequence[Verdict], on: Sequence[Verdict], missing: str = "") -> Any:
    def run(wanted: Sequence[matrix.Subject], releases: Sequence[str], *_: object) -> matrix.Matrix:
        rows = []
        for number, each in enumerate(wanted):
            cells = {
                name: {"off": matrix.Cell(off[number], "why"), "on": matrix.Cell(on[number])}
                for name in releases
            }
            row = each.row
            rows.append(matrix.Row(row.name, row.title, None, row.case, cells=cells))
        columns = tuple(
            matrix.Column(name, {"apache-tvm": f"{name}.0"}, missing) for name in releases
        )
        return matrix.Matrix(columns, tuple(rows))

    return run


def _counted(monkeypatch: pytest.MonkeyPatch, run: Any) -> counting.Table:
    monkeypatch.setattr(counting.matrix, "run", run)
    return counting.counted([SUBJECT], ["0.27"], 1, Limits(), lambda *_: None)


def test_each_form_and_side_counts_its_own_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    off = [Verdict.PASS, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED]
    table = _counted(monkeypatch, _running(off, [Verdict.PASS] * 3))
    (row,) = table.rows
    assert row.cells[DECOMPOSED]["0.27"] == {"off": {"pass": 1, "wrong": 1}, "on": {"pass": 2}}
    assert row.cells[UNDECOMPOSED]["0.27"] == {"off": {"unsupported": 1}, "on": {"pass": 1}}
    assert row.cells[DYNAMIC]["0.27"] == {"off": {}, "on": {}}
    assert tuple(row.cells) == FORMS
    assert table.versions == {"0.27": "0.27.0"}
    assert "tanh.default" not in table.unsampled
    assert "add.Tensor" in table.unsampled
    assert not table.faults


def test_what_pytorch_does_not_export_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    none = [Verdict.NO_ORACLE] * 3
    table = _counted(monkeypatch, _running(none, none))
    assert table.rows[0].cells[DECOMPOSED]["0.27"] == {"off": {}, "on": {}}


def test_a_fault_of_the_harness_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    off = [Verdict.HARNESS_ERROR, Verdict.PASS, Verdict.PASS]
    table = _counted(monkeypatch, _running(off, [Verdict.PASS] * 3))
    assert [line.endswith("on 0.27, fixes off: why") for line in table.faults] == [True]


def test_a_release_that_does_not_run_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = [Verdict.PASS] * 3
    with pytest.raises(ReleaseError, match="not installed"):
        _counted(monkeypatch, _running(passes, passes, "not installed"))


@pytest.mark.parametrize("verdict", Verdict)
def test_every_failure_has_an_ending(verdict: Verdict) -> None:
    assert bool(counting.ending(verdict)) is (verdict.is_failure or verdict is Verdict.PASS)
