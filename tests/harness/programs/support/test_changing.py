"""Programs are drawn for a pass until it has changed enough of them, and a run goes on."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relaxcheck.generators.passes import PASSES
from relaxcheck.harness.campaign.drawing import keep_hypothesis_in
from relaxcheck.harness.compiling.passes.details import CHANGED, RAN, UNCOMPILED
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.support.changing import Row, Wanted, changing
from relaxcheck.harness.programs.support.passes import tallies
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.protocol import Ask

ALONE = "FuseOps"
IDLE = next(name for name, record in PASSES.items() if record.idle)


class Standing:
    """Stands in the place of a pool: FuseOps changes every second program, others none."""

    running = 0
    appetite = 8

    def __init__(self, most: int | None = None) -> None:
        self.jobs: list[Job] = []
        self.asked: list[Job] = []
        self._most = most

    @property
    def waiting(self) -> int:
        return len(self.jobs)

    def submit(self, job: Job) -> None:
        self.jobs.append(job)
        self.asked.append(job)

    def wait(self, timeout: float) -> Iterator[tuple[Job, Outcome]]:
        if self._most is not None and len(self.asked) > self._most:
            raise KeyboardInterrupt
        job = self.jobs.pop(0)
        number = len(self.asked) - len(self.jobs)
        details: dict[str, Any] = {RAN: [ALONE], UNCOMPILED: True}
        if job.ask is Ask.RUN:
            yield job, Outcome(Verdict.PASS, details={RAN: [ALONE]})
            return
        changed = job.case.family == f"pass-{ALONE}" and number % 2
        details[CHANGED] = [ALONE] if changed else []
        yield job, Outcome(Verdict.NO_ORACLE, details=details)


def _run(folder: Path, wanted: Wanted, pool: Standing, mode: Mode = Mode.NEW) -> tuple[Row, ...]:
    keep_hypothesis_in(folder / "hypothesis")
    with Journal(folder, mode) as journal:
        journal.describe({"release": "0.27"})
        return changing(wanted, pool, journal, lambda rows: None)  # type: ignore[arg-type]


def test_programs_are_drawn_until_enough_are_changed(tmp_path: Path) -> None:
    pool = Standing()
    (row,) = _run(tmp_path, Wanted((ALONE,), changed=10, every=5), pool)
    assert row.ended
    assert 10 <= row.tally.changed <= 10 + pool.appetite
    compiled = [job for job in pool.asked if job.ask is Ask.RUN]
    assert row.tally.judged == len(compiled) == row.drawn // 5
    assert all(job.alone for job in pool.asked if job.ask is Ask.APPLY)
    counted = tallies([tmp_path])["0.27"][ALONE]
    assert (counted.programs, counted.changed) == (row.tally.programs, row.tally.changed)
    assert counted.aside == 0


def test_a_pass_that_changes_nothing_has_its_most_programs(tmp_path: Path) -> None:
    rows = _run(tmp_path, Wanted(("Normalize", IDLE), changed=4), Standing())
    assert [row.drawn for row in rows] == [1 if PASSES[row.tally.name].idle else 24 for row in rows]


def test_a_run_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    wanted = Wanted((ALONE,), changed=10)
    with pytest.raises(KeyboardInterrupt):
        _run(tmp_path, wanted, Standing(most=9))
    pool = Standing()
    (row,) = _run(tmp_path, wanted, pool, Mode.RESUME)
    assert row.ended
    assert row.tally.programs == len({job.case.identifier for job in pool.asked}) + 2
    with Journal(tmp_path, Mode.READ) as journal:
        assert not list(journal.unended(DRAWN))
        assert sum(journal.counts(DRAWN).values()) == row.tally.programs
