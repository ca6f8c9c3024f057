"""Tests of trials that take long."""

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.fingerprint import Signature
from relaxcheck.harness.triage.long_trials import LongTrials
from relaxcheck.harness.workers.jobs import Job

LATE, QUICK = Outcome(Verdict.TIMEOUT, "run"), Outcome(Verdict.PASS)


def signature(verdict: Verdict, operator: str = "x") -> Signature:
    return Signature(verdict, "run", operator, "", fixes=False)


def job(name: str) -> Job:
    program = Program((Input("x", (2,), "float32"),), (Node("y", name, ("x",)),), ("y",))
    return Job(Case("toy", program))


SLOW, DIES = signature(Verdict.TIMEOUT), signature(Verdict.PROCESS_DEATH)
FIRST, SECOND, THIRD, FOURTH = map(job, ("abs", "exp", "sin", "cos"))


def test_an_investigation_whose_trial_hung_waits_for_one_that_takes_long() -> None:
    ran: list[Job] = []
    trials = LongTrials(ran.append)
    trials.submit(SLOW, FIRST)
    # It may run beside the other: nothing says yet that it takes long.
    trials.submit(DIES, SECOND)
    assert ran == [FIRST, SECOND]
    trials.end(DIES, LATE)
    trials.submit(DIES, THIRD)
    trials.next()
    assert ran == [FIRST, SECOND]
    # The one that has waited longest is next, and not the one that just ended.
    trials.end(SLOW, LATE)
    trials.submit(SLOW, FOURTH)
    trials.next()
    assert ran == [FIRST, SECOND, THIRD]
    trials.end(DIES, QUICK)
    trials.next()
    assert ran == [FIRST, SECOND, THIRD, FOURTH]


def test_an_investigation_of_short_trials_waits_for_none() -> None:
    ran: list[Job] = []
    trials = LongTrials(ran.append)
    trials.submit(SLOW, FIRST)
    trials.submit(DIES, SECOND)
    trials.end(DIES, LATE)
    trials.end(DIES, QUICK)
    trials.submit(DIES, THIRD)
    assert ran == [FIRST, SECOND, THIRD]


def test_a_trial_that_hangs_on_another_release_takes_long() -> None:
    ran: list[Job] = []
    trials = LongTrials(ran.append)
    trials.submit(SLOW, FIRST)
    trials.end(DIES, Outcome(Verdict.PASS, release="0.27", elsewhere={"0.25": LATE}))
    trials.submit(DIES, SECOND)
    assert ran == [FIRST]


def test_what_waits_runs_when_the_long_investigation_ends() -> None:
    ran: list[Job] = []
    trials = LongTrials(ran.append)
    trials.submit(SLOW, FIRST)
    trials.end(DIES, LATE)
    trials.submit(DIES, SECOND)
    trials.end(SLOW, QUICK)
    trials.next()
    assert ran == [FIRST, SECOND]
