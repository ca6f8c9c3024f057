"""Runs the tests on a release, in processes of its environment."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from signal import Signals

import msgspec

from relaxcheck.harness.onnx.suite.claiming import Claims
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.worker import Job, selected
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases.processes import running
from relaxcheck.harness.releases.releases import Release, ReleaseError, environment

WORKER = "relaxcheck.harness.onnx.suite.worker"

Progress = Callable[[int, int], None]
"""Called with the number of tests that have ended, and of all."""


class Measured(msgspec.Struct, frozen=True):
    """The results on a release, by test in the order of the tests; the claims of its importer."""

    results: dict[str, Result]
    claims: Claims


def measured(job: Job, release: Release, show: Progress) -> Measured:
    """Run the tests of ``job`` on ``release``.

    Raises:
        ReleaseError: a process does not start, or ends early; or the release has another ``onnx``.
    """
    names = [test.name for test in selected(job)]
    lines = _lines(job, release)
    claims = msgspec.json.decode(next(lines, b"{}"), type=Claims)
    ended: dict[str, Result] = {}
    for line in lines:
        result = msgspec.json.decode(line, type=Result)
        ended[result.name] = result
        show(len(ended), len(names))
    if odd := sorted(set(names) ^ set(ended)):
        raise ReleaseError(
            f"TVM {release.name}: its environment has other tests of ONNX, such as {odd[0]}; "
            "install one version of onnx"
        )
    return Measured({name: ended[name] for name in names}, claims)


def _lines(job: Job, release: Release) -> Iterator[bytes]:
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
            yield from process.stdout
            errors = reading.result()
            process.wait()
    except OSError as error:
        raise ReleaseError(f"TVM {release.name}: {error}") from error
    if process.returncode < 0:
        raise ReleaseError(f"TVM {release.name}: ended by {Signals(-process.returncode).name}")
    if process.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        last = lines[-1] if lines else f"ended with {process.returncode}"
        raise ReleaseError(f"TVM {release.name}: {last}")
