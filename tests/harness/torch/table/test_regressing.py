"""Regressions of the fixes, from verdicts."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from relaxcheck.generators.torch.case import DYNAMO, FX
from relaxcheck.generators.torch.family import TorchFamily, families
from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import ReleaseError
from relaxcheck.harness.torch.table import regressing
from relaxcheck.harness.torch.table.regressing import Subject, compared, subjects
from relaxcheck.harness.workers.jobs import Limits

PASS, WRONG, UNSUPPORTED = Verdict.PASS, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED

Pair = tuple[Verdict, Verdict]


@pytest.fixture(scope="module")
def tanh() -> TorchFamily:
    return next(each for each in families(("build",)) if each.entry.name == "tanh")


def test_each_sample_is_imported_by_each_door(tanh: TorchFamily) -> None:
    made = list(subjects([tanh], 1))
    assert [each.form for each in made] == list(regressing.FORMS)
    assert {each.label for each in made} == {next(iter(tanh.samples))}
    assert [each.case.exporting.decomposed for each in made] == [True, False, True, True]
    assert [each.case.importing.door for each in made][2:] == [FX, DYNAMO]


def _running(
    monkeypatch: pytest.MonkeyPatch, times: list[list[Pair]], missing: str = ""
) -> list[tuple[int, int]]:
    """Answers of TVM, run by run; the number of cases of each, and how many go together."""
    asked: list[tuple[int, int]] = []
    answers: Iterator[list[Pair]] = iter(times)

    def run(
        wanted: Any, releases: Any, workers: int, limits: Limits, show: object, kept: object
    ) -> matrix.Matrix:
        asked.append((len(wanted), limits.together))
        rows = []
        for each, pair in zip(wanted, next(answers), strict=True):
            sides = {
                side: matrix.Cell(verdict, side)
                for side, verdict in zip(("off", "on"), pair, strict=True)
            }
            cells = dict.fromkeys(releases, sides)
            rows.append(msgspec.structs.replace(each.row, cells=cells))
        columns = tuple(
            matrix.Column(name, {"apache-tvm": f"{name}.0"}, missing) for name in releases
        )
        return matrix.Matrix(columns, tuple(rows))

    monkeypatch.setattr(matrix, "run", run)
    return asked


def _compared(made: list[Subject]) -> regressing.Comparison:
    return compared(made, ["0.27"], 1, Limits(), lambda *_: None)


def test_what_passes_without_the_fixes_alone_is_named(
    tanh: TorchFamily, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list(subjects([tanh], 1))
    first = [(PASS, WRONG), (PASS, UNSUPPORTED), (WRONG, WRONG), (UNSUPPORTED, PASS)]
    asked = _running(monkeypatch, [first, [(PASS, WRONG), (PASS, PASS)]])
    found = _compared(made)
    assert asked == [(4, Limits().together), (2, 1)]
    assert [(each.form, each.on, each.message_on) for each in found.regressions] == [
        ("decomposed", WRONG, "on")
    ]
    assert found.versions == {"0.27": "0.27.0"}
    assert found.totals()["0.27", "from_fx", "off"] == {"wrong": 1}
    assert not list(found.faults)


def test_nothing_runs_again_where_nothing_regresses(
    tanh: TorchFamily, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list(subjects([tanh], 1))[:1]
    asked = _running(monkeypatch, [[(Verdict.HARNESS_ERROR, PASS)]])
    found = _compared(made)
    assert len(asked) == 1
    assert not found.regressions
    assert [each.entry for each in found.faults] == ["tanh"]


def test_a_release_that_does_not_start_is_an_error(
    tanh: TorchFamily, monkeypatch: pytest.MonkeyPatch
) -> None:
    _running(monkeypatch, [[(PASS, PASS)]], missing="not installed")
    with pytest.raises(ReleaseError, match="not installed"):
        _compared(list(subjects([tanh], 1))[:1])
