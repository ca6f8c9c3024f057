"""A release runs tests in processes of its own, and says what its importer claims."""

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

from relaxcheck.harness.onnx.suite import measuring, running, worker
from relaxcheck.harness.onnx.suite.measuring import measured
from relaxcheck.harness.onnx.suite.results import Result, passed
from relaxcheck.harness.onnx.suite.tests import SuiteTest
from relaxcheck.harness.onnx.suite.worker import Job, selected
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import Release, ReleaseError, own


def test_tests_are_chosen_by_patterns() -> None:
    names = [test.name for test in selected(Job(fixes=False, patterns=("test_abs", "test_isinf*")))]
    assert names == ["test_abs", "test_isinf", "test_isinf_float16", *names[3:]]
    assert all(name.startswith("test_isinf") for name in names[1:])
    assert len(selected(Job(fixes=False))) > 2000


@pytest.mark.tvm
def test_results_come_in_the_order_of_the_tests_with_the_claims() -> None:
    shown: list[tuple[int, int]] = []
    job = Job(fixes=False, patterns=("test_add*", "test_adam"), workers=2)
    found = measured(job, own(), lambda done, total: shown.append((done, total)))
    names = [test.name for test in selected(job)]
    assert list(found.results) == names
    assert shown == [(at + 1, len(names)) for at in range(len(names))]
    assert found.results["test_add"].verdict is Verdict.PASS
    assert found.results["test_adam"].verdict is Verdict.UNSUPPORTED
    assert found.claims["Softmax"]
    assert "Adam" not in found.claims


@pytest.mark.slow
@pytest.mark.tvm
def test_initializers_are_constants_at_import() -> None:
    job = Job(fixes=False, patterns=("test_cumsum_1d",))
    moved = Job(fixes=False, patterns=("test_cumsum_1d",), initializers=True)
    (before,) = measured(job, own(), lambda done, total: None).results.values()
    (after,) = measured(moved, own(), lambda done, total: None).results.values()
    assert after.verdict is Verdict.PASS
    # Without them, it passes only where a fix makes it.
    assert before.verdict is Verdict.UNSUPPORTED


def test_a_process_that_fails_is_an_error_with_its_last_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "WORKER", "no_such_module")
    with pytest.raises(ReleaseError, match=r"TVM 0\.1: .*No module named no_such_module"):
        measured(Job(fixes=False), Release("0.1", Path(sys.executable)), lambda done, total: None)


def test_a_process_that_is_killed_is_an_error_that_names_the_signal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "killed.py").write_text(
        "import os, sys\n"
        "print('a warning', file=sys.stderr, flush=True)\n"
        "os.kill(os.getpid(), 14)\n"
    )
    monkeypatch.setattr(measuring, "WORKER", "killed")
    monkeypatch.setattr(measuring, "environment", lambda release: {"PYTHONPATH": str(tmp_path)})
    with pytest.raises(ReleaseError, match=r"^TVM 0\.1: ended by SIGALRM$"):
        measured(Job(fixes=False), Release("0.1", Path(sys.executable)), lambda done, total: None)


@pytest.mark.tvm
def test_each_result_is_written_before_the_next_test_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    written: list[int] = []

    def results(tests: Sequence[SuiteTest], **settings: Any) -> Iterator[Result]:
        for test in tests:
            written.append(len(out.getvalue().splitlines()))
            yield passed(test)

    job = msgspec.json.encode(Job(fixes=False, patterns=("test_isinf*",))).decode()
    monkeypatch.setattr(sys, "argv", ["worker", job])
    monkeypatch.setattr(running, "results", results)
    monkeypatch.setattr(worker, "result_stream", lambda: nullcontext(out))
    monkeypatch.setattr(worker, "end_later", lambda: None)
    worker.main()
    # The claims come first.
    assert written == list(range(1, len(written) + 1))
    assert len(written) > 2


def test_a_release_with_other_tests_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_lines", lambda job, release: iter([b"{}"]))
    job = Job(fixes=False, patterns=("test_abs",))
    with pytest.raises(ReleaseError, match="other tests of ONNX, such as test_abs"):
        measured(job, own(), lambda done, total: None)
