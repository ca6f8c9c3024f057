"""Expressions in the matrix: their folder in the corpus, and the column of TIRx alone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaxcheck.cli.actions import matrix as action
from relaxcheck.harness.matrix import matrix
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.paths import CORPUS
from relaxcheck.harness.releases.releases import Release, known
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.reports.page.releases import section
from relaxcheck.reports.tables import release_matrix
from tests.harness.matrix.test_matrix import FakePool


def test_tirx_alone_has_cells_of_expressions_and_no_fixes(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pool(FakePool):
        def __init__(self, size: int, limits: Limits, release: Release):
            super().__init__(size, limits, release)
            if not release.has_relax:
                self.environment["apache-tvm"] = "tirx 0.1"

        def drain(self) -> Iterator[tuple[Job, Outcome]]:
            for job in self.jobs:
                yield job, Outcome(Verdict.PASS if self.release.has_relax else Verdict.WRONG_VALUE)

    def release(name: str, *, alone: bool) -> Release:
        return Release(name, Path("python"), root="tvm_tirx" if name == "tirx" else "tvm")

    monkeypatch.setattr(matrix, "Pool", Pool)
    monkeypatch.setattr(matrix, "release", release)
    every = {subject.row.name: subject for subject in matrix.subjects([])}
    wanted = [every["bound-of-a-cast-to-unsigned"], every["argmin-of-infinity"]]
    shown: list[Any] = []
    result = matrix.run(wanted, ["0.27", "tirx"], 1, Limits(), lambda *each: shown.append(each))
    assert shown == [*(("0.27", done, 4) for done in (1, 2, 3, 4)), ("tirx", 1, 1)]
    expression, program = result.rows
    assert set(expression.cells["tirx"]) == {"off"}
    assert set(program.cells) == {"0.27"}
    head, _, first, second = [
        line for line in release_matrix.markdown(result).splitlines() if line.startswith("| ")
    ]
    assert head.endswith("| 0.27, fixes off | 0.27, fixes on | tirx, fixes off |")
    assert first.endswith("| **wrong-value** |")
    assert second.endswith("| pass ≠ wrong-value | pass |  |")
    assert "* tirx: apache-tvm-tirx 0.1, " in release_matrix.markdown(result)
    (regression,) = release_matrix.regressions(result)
    assert (regression.row.name, regression.bad) == (expression.name, "tirx")
    table = release_matrix.table(result)
    assert len(table.columns) == 4
    (line, other) = section(result).lines
    assert [cell.verdict for cell in other.cells] == [Verdict.PASS, Verdict.PASS, None]
    assert line.cells[-1].verdict is Verdict.WRONG_VALUE


def test_the_releases_of_a_matrix_are_those_that_can_run_it() -> None:
    every = {subject.row.name: subject for subject in matrix.subjects([])}
    expression, program = every["bound-of-a-cast-to-unsigned"], every["argmin-of-infinity"]
    assert action._releases(None, [program])[-1] == known()[-1]
    assert action._releases(None, [program, expression]) == (*known(), "tirx")
    assert action._releases(["tirx"], [program, expression]) == ["tirx"]


def test_the_folder_of_a_family_has_other_data_beside_its_entries() -> None:
    subjects = matrix.subjects([CORPUS / "algebra"])
    folders = {path.name for path in (CORPUS / "algebra").iterdir() if path.is_dir()}
    assert {subject.row.name for subject in subjects} == folders
    assert all(subject.declared for subject in subjects)
