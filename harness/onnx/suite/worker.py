"""Runs a share of the tests in a process of a release's environment.

``python -m relaxcheck.harness.onnx.suite.worker JOB`` is that process; JOB is a ``Job`` in JSON. It
writes each result as a line of JSON when it is there.
"""

import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase

import msgspec

from relaxcheck.harness.onnx.suite.tests import KINDS, SuiteTest, suite, with_initializers
from relaxcheck.harness.releases.surveying import result_stream

LOT = 16
"""The number of successive tests that one process takes. Neighbours cost alike."""


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tests to run: of ``kinds``, with names like one of ``patterns``; all, if there are none.

    ``initializers``: integer inputs behind the first become initializers. The process takes the
    share ``share`` of ``shares``, counted from 0.
    """

    fixes: bool
    kinds: tuple[str, ...] = KINDS
    patterns: tuple[str, ...] = ()
    initializers: bool = False
    share: int = 0
    shares: int = 1


def selected(job: Job) -> Sequence[SuiteTest]:
    """The tests of ``job``, of all its shares."""
    tests = [
        test
        for kind in job.kinds
        for test in suite(kind)
        if not job.patterns or any(fnmatchcase(test.name, pattern) for pattern in job.patterns)
    ]
    return [with_initializers(test) for test in tests] if job.initializers else tests


def main() -> None:
    """Run the tests of the job that the argument states."""
    from relaxcheck.harness.onnx.suite.running import results

    job = msgspec.json.decode(sys.argv[1], type=Job)
    share = [test for at, test in enumerate(selected(job)) if at // LOT % job.shares == job.share]
    with result_stream() as out:
        for result in results(share, fixes=job.fixes):
            out.write(msgspec.json.encode(result) + b"\n")
            out.flush()


if __name__ == "__main__":
    main()
