"""``relaxcheck onnx suite``: runs ONNX's own tests, prints what is wrong, writes the page."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import metadata

import msgspec

from relaxcheck.cli.actions.matrix import shown
from relaxcheck.cli.exit_codes import FAILED, FAULT
from relaxcheck.cli.options import ResultFormat, Switch
from relaxcheck.cli.terminal import console, error_console
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.onnx.suite.expectations import lowered, read, surprises, write
from relaxcheck.harness.onnx.suite.measuring import Measured, measured
from relaxcheck.harness.onnx.suite.proposing import drafts
from relaxcheck.harness.onnx.suite.support import Measurements, rows, unknown_to_onnx
from relaxcheck.harness.onnx.suite.verification import OFF, ON, broken, faults
from relaxcheck.harness.onnx.suite.worker import Job, selected
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.releases.releases import named, own, release
from relaxcheck.reports.onnx.suite import page, summary


def suite(
    patterns: tuple[str, ...],
    tvm: str | None,
    fixes: Switch | None,
    form: ResultFormat,
    *,
    initializers: bool,
    docs: bool,
    propose: bool,
    lower: bool,
    workers: int | None,
) -> int:
    """Run the tests; the exit code.

    Raises:
        CaseError: no test has such a name, or options contradict each other.
        ReleaseError: a release is not installed, or does not start.
    """
    chosen = bool(patterns or initializers)
    if docs and (chosen or fixes or CHECKOUT is None):
        raise CaseError("--docs is for a checkout, and for all tests with the fixes off and on")
    if lower and (chosen or fixes is Switch.OFF or CHECKOUT is None):
        raise CaseError("--lower is for a checkout, and for all tests with the fixes on")
    if propose and fixes is Switch.OFF:
        raise CaseError("--propose is for failures with the fixes on")
    job = Job(
        fixes=False,
        patterns=patterns,
        initializers=initializers,
        workers=workers or os.cpu_count() or 1,
    )
    if not selected(job):
        raise CaseError(f"no test of ONNX is named {' or '.join(patterns)}")
    expected = read()
    sides = [ON] if propose else [OFF, ON] if fixes is None else [fixes.value]
    found = _measured(job, named(tvm or own().name), sides)
    results = {
        name: {side: each.results for side, each in of_release.items()}
        for name, of_release in found.items()
    }
    with_fixes = {name: by_side[ON] for name, by_side in results.items() if ON in by_side}
    if lower:
        expected = lowered(expected, {name: each.values() for name, each in with_fixes.items()})
        write(expected)
    if propose:
        _print_json(list(drafts(with_fixes, expected)))
        return 0
    table = rows(found)
    faulty = [f"TVM {name}: {line}" for name, each in results.items() for line in faults(each)]
    lines = [f"TVM {name}: {line}" for name, each in results.items() for line in broken(each)]
    for name, each in () if initializers else with_fixes.items():
        unexpected = surprises(each.values(), expected, name, whole=not patterns)
        lines += [f"TVM {name}: {line}" for line in unexpected]
    if form is ResultFormat.JSON:
        _print_json({"rows": table, "results": results, "problems": [*faulty, *lines]})
    else:
        screen = console()
        screen.print(summary(results))
        for line in [*faulty, *lines]:
            screen.print(line, highlight=False, markup=False, soft_wrap=True)
    if docs and CHECKOUT is not None:
        unknown = unknown_to_onnx(each.claims for by in found.values() for each in by.values())
        path = CHECKOUT / "docs" / "onnx.md"
        path.write_text(page(table, results, expected, unknown, metadata.version("onnx")))
        error_console().print(f"Written to {path}", highlight=False, soft_wrap=True)
    return FAULT if faulty else FAILED if lines else 0


def _measured(job: Job, names: Sequence[str], sides: Sequence[str]) -> Measurements:
    found: dict[str, dict[str, Measured]] = {}
    with shown(error_console()) as show:
        for name in names:
            for side in sides:
                where = f"{name}, fixes {side}"
                found.setdefault(name, {})[side] = measured(
                    msgspec.structs.replace(job, fixes=side == ON),
                    release(name),
                    partial(show, where),
                )
    return found


def _print_json(value: object) -> None:
    text = msgspec.json.format(msgspec.json.encode(value), indent=1)
    sys.stdout.write(text.decode() + "\n")
