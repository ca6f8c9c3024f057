"""The cure of an exported failure: the fixes, their patch for TVM, and a test."""

import re
import tempfile
from pathlib import Path

from msgspec.structs import replace

from relaxcheck.cli.actions.exporting.workers import Say, Workers
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.kinds import of, operators
from relaxcheck.harness.known.corpus import PATCH, SCRIPT, TEST, Record
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import release
from relaxcheck.harness.triage.curing import cured
from relaxcheck.harness.triage.scripts import run_script
from relaxcheck.reports.issue.finding_folder import rendered, test_for_tvm

_RIGHT = (Verdict.PASS, Verdict.REJECTED)


def with_cure(
    record: Record, case: AnyCase, name: str, workers: Workers, say: Say
) -> tuple[Record, dict[str, str]]:
    """``record`` with the fixes that cure ``case`` on the release ``name``; texts by file name.

    There are files, a patch and a test, if the script exits with 0 on a copy of that TVM with the
    patch. Fixes that are passes have none.

    Raises:
        CaseError: there is no room for a copy of TVM.
        PoolError: the workers cannot start.
        ReleaseError: the process that writes the patch does not start.
    """
    outcome = record.outcome
    assert outcome is not None
    right = record.verdict(name, fixes=True) in _RIGHT
    if not (right and outcome.verdict.is_failure and of(case).has_passes):
        return record, {}
    say("looking for the fixes that cure it")
    cure = cured(workers.of(name), case)
    if cure is None:
        return record, {}
    record = replace(record, cure=cure)
    say("running the script on a copy of TVM with their patch")
    try:
        copy, folder = workers.copy(name, cure.fixes)
        if not copy.text or not _ends_well(record, case, name, folder):
            return record, {}
    except OSError as error:
        raise CaseError(f"cannot copy TVM to apply a patch: {error.strerror}") from error
    test = test_for_tvm(case, record, _function(case))
    files = {PATCH: copy.text, TEST: f"{copy.licence}\n{test}"}
    return replace(record, cure=replace(cure, patched=True)), files


def _ends_well(record: Record, case: AnyCase, name: str, patched: Path) -> bool:
    """True if the script exits with 0 on the TVM in ``patched``."""
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
        script = Path(folder, SCRIPT)
        script.write_text(rendered(case, record)[SCRIPT])
        try:
            return run_script(script, release(name), record.seconds, patched).code == 0
        except CaseError:
            # It did not end in time: the patch is no cure that can be shown.
            return False


def _function(case: AnyCase) -> str:
    """The name of the test of ``case``."""
    words = re.sub(r"\W+", "_", "_".join(operators(case))).strip("_").lower()
    return f"test_{words}"
