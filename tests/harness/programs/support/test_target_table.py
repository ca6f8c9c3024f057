"""The table operator × target: results that are kept, and those that run again."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaxcheck.harness.outcomes.keeping import Kept
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.support import targets
from relaxcheck.harness.programs.support.targets import Cell, Table, table
from relaxcheck.harness.workers.jobs import Job, Limits


class Workers:
    """Workers of a TVM of one version, whose every case ends as ``verdict``."""

    ran = 0
    verdict = Verdict.PASS
    ends_after = 100

    def __init__(self, *arguments: object, **options: object):
        self.environment = {"apache-tvm": "0.28.dev0"}
        self.jobs: list[Job] = []

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def submit(self, *jobs: Job) -> None:
        self.jobs += jobs

    def drain(self) -> Iterator[tuple[Job, Outcome]]:
        for job in self.jobs:
            if type(self).ran == self.ends_after:
                raise KeyboardInterrupt
            type(self).ran += 1
            yield job, Outcome(self.verdict)


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> type[Workers]:
    class Own(Workers):
        pass

    monkeypatch.setattr(targets, "Pool", Own)
    monkeypatch.setattr(targets, "release", lambda name: name)
    return Own


def made(path: Path, *releases: str) -> tuple[Table, Kept[Cell]]:
    kept = Kept(path, Cell)
    quiet: Any = lambda *words: None  # noqa: E731
    return table(["nn.relu", "add"], ["c"], releases, 1, Limits(), kept, quiet), kept


def test_what_ended_does_not_run_again(tmp_path: Path, workers: type[Workers]) -> None:
    path = tmp_path / "targets.jsonl"
    workers.ends_after = 1
    with pytest.raises(KeyboardInterrupt):
        made(path, "mine")
    workers.ends_after = 100
    # The line that was being written is cut.
    path.write_bytes(path.read_bytes() + b'{"release": "mi')
    first, kept = made(path, "mine")
    every = sum(len(forms) for row in first.rows for forms in row.cells["mine"].values())
    assert (workers.ran, kept.reused) == (every, 1)
    again, kept = made(path, "mine")
    assert (workers.ran, kept.reused) == (every, every)
    assert again == first


def test_a_build_has_not_the_results_of_another_of_its_version(
    tmp_path: Path, workers: type[Workers]
) -> None:
    made(tmp_path / "targets.jsonl", "mine")
    ran = workers.ran
    _, kept = made(tmp_path / "targets.jsonl", "mine", "theirs")
    assert (workers.ran, kept.reused) == (2 * ran, ran)


def test_a_fault_of_ours_is_no_result(tmp_path: Path, workers: type[Workers]) -> None:
    workers.verdict = Verdict.HARNESS_ERROR
    made(tmp_path / "targets.jsonl", "mine")
    workers.verdict = Verdict.PASS
    found, kept = made(tmp_path / "targets.jsonl", "mine")
    cells = [
        cell
        for row in found.rows
        for forms in row.cells["mine"].values()
        for cell in forms.values()
    ]
    assert kept.reused == 0
    assert {cell.verdict for cell in cells} == {Verdict.PASS}
