"""Trials that take long: one at a time, so that the other workers go on drawing.

A trial that hangs takes a worker until its deadline. Two investigations of such failures take two:
a corrupted heap may hang, whatever the verdict of the failure that is under investigation.
"""

from collections import deque
from collections.abc import Callable

from relaxcheck.harness.outcomes.differential import by_release
from relaxcheck.harness.outcomes.outcome import Outcome
from relaxcheck.harness.triage.finding import CUT_SHORT
from relaxcheck.harness.triage.fingerprint import Signature
from relaxcheck.harness.workers.jobs import Job


class LongTrials:
    """Passes trials to ``run``, at once, or one at a time if their investigation takes long.

    An investigation takes long if its failure ended at a limit, or its last trial did: one whose
    trials are short again must not wait for each of them. The trial that has waited longest is
    next.
    """

    def __init__(self, run: Callable[[Job], None]):
        self._run = run
        self._long: set[Signature] = set()
        self._waiting: deque[tuple[Signature, Job]] = deque()
        self._running: Signature | None = None

    def submit(self, signature: Signature, job: Job) -> None:
        """Run ``job`` of the investigation of ``signature`` as soon as it may."""
        if signature.verdict in CUT_SHORT or signature in self._long:
            self._waiting.append((signature, job))
            self.next()
        else:
            self._run(job)

    def end(self, signature: Signature, outcome: Outcome) -> None:
        """Note the ``outcome`` of the trial of ``signature`` that ran; call ``next`` in the end."""
        if any(each.verdict in CUT_SHORT for each in by_release(outcome).values()):
            self._long.add(signature)
        else:
            self._long.discard(signature)
        if self._running == signature:
            self._running = None

    def next(self) -> None:
        """Run the trial that has waited longest, if no other that takes long is running."""
        if self._waiting and self._running is None:
            self._running, job = self._waiting.popleft()
            self._run(job)
