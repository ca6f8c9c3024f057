"""The tests that ``make test`` leaves to ``.ci/run`` and ``make test-all``.

Most take seconds, and hold what few changes touch: what a campaign makes of a broken disk, a
hostile worker or a killed engine, the instruments behind the published figures, and whole surveys
of TVM, PyTorch and ONNX, of which other tests try parts.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.thinning import at, by_file, thin

TESTS = Path(__file__).parent

ROOMS = (
    "cli/test_fuzz_releases.py",
    "extensions/test_example.py",
    "faults",
    "fixes/frontends/onnx/by_hand",
    "harness/campaign/test_expression_campaigns.py",
    "harness/matrix",
    "harness/models/test_checking.py",
    "harness/onnx/suite",
    "measure",
    "zoo",
)
"""Folders and files, with all their tests."""

THINNED: Mapping[str, int] = {
    "generators/core/test_faults.py": 2,
    "generators/emission": 2,
    "generators/graphs": 2,
    "generators/onnx": 3,
    "generators/operators": 3,
    "generators/test_families.py": 2,
    "generators/test_invalid_calls.py": 2,
    "generators/torch": 2,
    "harness/onnx/unread": 2,
    "oracles/onnx": 3,
    "oracles/pytorch": 2,
    "oracles/reference": 3,
    "oracles/reference/images/test_resizing.py": 4,
    "reports/programs/test_tvmscript.py": 4,
}
"""Places of tests of every operator, family or form: ``make test`` takes one in so many."""

SINGLE = frozenset(
    (
        "cli/exporting/test_exporting.py::test_a_finding_is_looked_into_and_its_script_run",
        "cli/importers/test_suite.py::test_drafts_of_rows_are_printed",
        "cli/importers/test_suite.py::test_json_has_the_table_the_results_and_the_problems",
        "cli/importers/test_suite.py::test_the_exit_code_says_if_something_is_wrong",
        "cli/test_fixes_command.py::test_the_documentation_has_the_table_of_this_release",
        "cli/test_fixes_command.py::test_this_release_is_surveyed",
        "cli/test_fuzz_options.py::test_both_sides_of_the_fixes_run_every_case_and_are_found_apart",
        "cli/test_nightly.py::test_only_a_failure_that_the_last_night_did_not_know_is_red",
        "cli/test_pytest_plugin.py::test_with_fixes_off_a_failure_ends_with_the_command_that_replays_it",
        "conformance/test_grids.py::test_cheap_rows_hold_the_same_pairs",
        "conformance/test_known.py::test_declared_failures_fail_as_declared_and_have_not_expired",
        "conformance/test_properties.py::test_invalid_programs_are_rejected",
        "conformance/test_properties.py::test_valid_programs_conform",
        "fixes/frontends/onnx/casting/test_casts.py::test_all_pairs_of_ordinary_data_types",
        "fixes/upstream/test_export.py::test_a_patch_goes_on_alone",
        "generators/onnx/test_reading.py::test_models_of_the_node_suite_compute_the_same",
        "generators/torch/test_samples.py::test_the_samples_of_this_pytorch_are_those_of_the_files",
        "harness/campaign/test_drawing.py::test_one_in_eight_is_invalid_in_each_family",
        "harness/campaign/test_drawing.py::test_the_cases_of_a_family_do_not_depend_on_the_others",
        "harness/campaign/test_drawing.py::test_the_seed_alone_decides_whatever_else_is_imported",
        "harness/campaign/test_drawing.py::test_the_seed_decides_the_cases",
        "harness/campaign/test_drawing.py::test_the_weights_of_the_axes_stay_roughly",
        "harness/expressions/test_algebra_facts.py::test_the_page_says_what_this_release_does",
        "harness/programs/invalid/test_objections.py::test_every_line_about_a_fault_is_an_error_of_the_package_itself",
        "harness/releases/test_installed_releases.py::test_an_entry_that_differs_is_bisected_as_declared",
        "harness/torch/test_grouping.py::test_programs_of_a_group_are_those_exported_alone",
        "harness/torch/test_keeping.py::test_two_processes_write_one_file",
        "harness/triage/bisection/test_bisecting.py::test_a_wrong_pass_is_found",
        "harness/triage/bisection/test_bisecting.py::test_passing_programs_have_no_culprit",
        "oracles/onnx/test_reference.py::test_the_node_suite_lies_within_the_bounds",
        "oracles/torch/test_faults.py::test_the_fault_is_still_there",
        "reports/issue/test_source_text.py::test_every_error_in_the_corpus_has_a_line_or_a_pass",
        "reports/models/test_files.py::test_the_script_compares_with_captured_values",
        "reports/torch/test_rendering.py::test_the_script_of_a_wrong_value_ends_with_1_and_with_the_fixes_with_0",
        "strategies/test_check.py::test_a_failing_test_prints_the_script_of_what_it_notes",
        "test_documents.py::test_the_examples_of_a_page_run_in_order",
    )
)
"""Single tests, with all their parameters."""


def mark(items: Sequence[pytest.Item]) -> None:
    """Mark those of ``items`` that are listed here, and some of each test in a place to thin."""
    files = by_file(items)
    for path, own in files.items():
        whole = is_in_a_room(path)
        place = path.relative_to(TESTS).as_posix() if path.is_relative_to(TESTS) else ""
        for item in own:
            if whole or f"{place}::{item.name.partition('[')[0]}" in SINGLE:
                item.add_marker(pytest.mark.thorough)
    for name, kept in THINNED.items():
        thin(at(TESTS / name, files), kept, pytest.mark.thorough)


def is_in_a_room(path: Path) -> bool:
    """True if all tests at or in ``path`` are listed."""
    return any(path.is_relative_to(TESTS / room) for room in ROOMS)
