"""The cure of an exported failure: the patch of its fixes for TVM, and a test."""

import re
from pathlib import Path

from msgspec.structs import replace

from relaxcheck.cli.actions.exporting.folder import script_of
from relaxcheck.cli.actions.exporting.workers import Workers
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.kinds import operators
from relaxcheck.harness.known.corpus import PATCH, TEST, Record
from relaxcheck.harness.triage.curing import Cure
from relaxcheck.reports.issue.finding_folder import test_for_tvm


def patch_of(
    cure: Cure, case: AnyCase, record: Record, name: str, workers: Workers
) -> dict[str, str]:
    """The texts of a patch for TVM and of a test, by file name.

    There are none unless the script exits with 0 on a copy of the release ``name`` with the patch.
    Fixes that are passes have no patch. The patch has the parts of the fixes for the operators of
    ``case``, or all of the fixes if these parts are no cure.

    Raises:
        CaseError: there is no room for a copy of TVM.
        ReleaseError: the process that writes the patch does not start.
    """
    own = tuple(sorted(f"relax.{operator}" for operator in operators(case)))
    for wanted in (own, ()):
        try:
            copy, folder = workers.copy(name, cure.fixes, wanted)
        except OSError as error:
            raise CaseError(f"cannot copy TVM to apply a patch: {error.strerror}") from error
        if copy.text and _passes(case, record, name, folder):
            test = test_for_tvm(case, replace(record, cure=cure), _function(case))
            return {PATCH: copy.text, TEST: f"{copy.licence}\n{test}"}
        if not copy.reduced:
            break
    return {}


def _passes(case: AnyCase, record: Record, name: str, folder: Path) -> bool:
    try:
        return script_of(case, record, name, folder).code == 0
    except CaseError:
        # It did not end in time: the patch is no cure that can be shown.
        return False


def _function(case: AnyCase) -> str:
    """The name of the test of ``case``."""
    words = re.sub(r"\W+", "_", "_".join(operators(case))).strip("_").lower()
    return f"test_{words}"
