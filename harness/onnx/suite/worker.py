"""Runs tests in a process of a release's environment, and says what its importer claims.

``python -m relaxcheck.harness.onnx.suite.worker JOB`` is that process; JOB is a ``Job`` in JSON.
The first line of its output holds the ``Claims``. Each result is a further line.
"""

import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import chain

import msgspec

from relaxcheck.harness.onnx.suite.claiming import claims
from relaxcheck.harness.onnx.suite.tests import KINDS, SuiteTest, suite, with_initializers
from relaxcheck.harness.releases.surveying import end_later, result_stream


class Job(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tests to run: with names like one of ``patterns``, or all; the fixes on or off.

    ``initializers``: integer inputs behind the first become initializers. ``workers`` is the number
    of processes at a time.
    """

    fixes: bool
    patterns: tuple[str, ...] = ()
    initializers: bool = False
    workers: int = 1


def selected(job: Job) -> Sequence[SuiteTest]:
    """The tests of ``job``."""
    tests = [
        test
        for kind in KINDS
        for test in suite(kind)
        if not job.patterns or any(fnmatchcase(test.name, pattern) for pattern in job.patterns)
    ]
    return [with_initializers(test) for test in tests] if job.initializers else tests


def main() -> None:
    """Run the tests of the job that the argument states."""
    from relaxcheck.harness.onnx.suite.running import results

    job = msgspec.json.decode(sys.argv[1], type=Job)
    with result_stream() as out:
        running = results(selected(job), fixes=job.fixes, workers=job.workers)
        for record in chain((claims(),), running):
            out.write(msgspec.json.encode(record) + b"\n")
            out.flush()
            # It may take hours on a busy machine, as long as results come.
            end_later()


if __name__ == "__main__":
    main()
