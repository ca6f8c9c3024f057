"""The cure of an exported failure: the patch of its fixes for TVM, and a test."""

import re

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
    Fixes that are passes have no patch.

    Raises:
        CaseError: there is no room for a copy of TVM.
        ReleaseError: the process that writes the patch does not start.
    """
    try:
        copy, folder = workers.copy(name, cure.fixes)
        if not copy.text:
            return {}
    except OSError as error:
        raise CaseError(f"cannot copy TVM to apply a patch: {error.strerror}") from error
    try:
        if script_of(case, record, name, folder).code != 0:
            return {}
    except CaseError:
        # It did not end in time: the patch is no cure that can be shown.
        return {}
    test = test_for_tvm(case, replace(record, cure=cure), _function(case))
    return {PATCH: copy.text, TEST: f"{copy.licence}\n{test}"}


def _function(case: AnyCase) -> str:
    """The name of the test of ``case``."""
    words = re.sub(r"\W+", "_", "_".join(operators(case))).strip("_").lower()
    return f"test_{words}"
