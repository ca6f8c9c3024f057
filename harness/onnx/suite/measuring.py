"""Runs the tests on a release, in several processes of its environment."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.tests import SuiteTest
from relaxcheck.harness.onnx.suite.worker import Job, selected
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases.processes import end_all, running
from relaxcheck.harness.releases.releases import Release, ReleaseError, environment

WORKER = "relaxcheck.harness.onnx.suite.worker"

Progress = Callable[[int, int], None]
"""Called with the number of tests that have ended, and of all."""


def measured(job: Job, release: Release, workers: int, show: Progress) -> dict[str, Result]:
    """The results of the tests of ``job`` on ``release``, by name, in the order of the tests.

    Raises:
        ReleaseError: a process does not start, or ends early; or the release has another ``onnx``.
    """
    tests = selected(job)
    ended: dict[str, Result] = {}

    def take(share: int) -> None:
        part = msgspec.structs.replace(job, share=share, shares=workers)
        for result in _results(part, release):
            ended[result.name] = result
            show(len(ended), len(tests))

    with ThreadPoolExecutor(workers) as threads:
        shares = [threads.submit(take, share) for share in range(workers)]
        try:
            for share in shares:
                share.result()
        except BaseException:
            end_all()
            raise
    return _in_order(tests, ended, release)


def _in_order(
    tests: Sequence[SuiteTest], ended: dict[str, Result], release: Release
) -> dict[str, Result]:
    names = [test.name for test in tests]
    if set(names) != set(ended):
        odd = sorted(set(names) ^ set(ended))[0]
        raise ReleaseError(
            f"TVM {release.name}: its environment has other tests of ONNX, such as {odd}; "
            "install one version of onnx"
        )
    return {name: ended[name] for name in names}


def _results(job: Job, release: Release) -> Iterator[Result]:
    command = [str(release.python), "-m", WORKER, msgspec.json.encode(job).decode()]
    try:
        with (
            # Read beside the results: a full pipe would stop the process.
            ThreadPoolExecutor(1) as beside,
            running(command, environment(release), WORKING) as process,
        ):
            assert process.stdout is not None
            assert process.stderr is not None
            reading = beside.submit(process.stderr.read)
            for line in process.stdout:
                yield msgspec.json.decode(line, type=Result)
            errors = reading.result()
            process.wait()
    except OSError as error:
        raise ReleaseError(f"TVM {release.name}: {error}") from error
    if process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else f"ended with {process.returncode}"
        raise ReleaseError(f"TVM {release.name}: {last}")
