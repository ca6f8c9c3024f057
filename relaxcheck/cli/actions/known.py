"""``relaxcheck known``: lists, adds and removes expected failures."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from rich import box
from rich.table import Table
from rich.text import Text

from relaxcheck.cli.lookup import RecordedCase, is_called, look_up
from relaxcheck.cli.terminal import console
from relaxcheck.generators.core.axes import Family, point_of
from relaxcheck.generators.core.case import AnyCase, CaseError, Valid
from relaxcheck.harness import kinds
from relaxcheck.harness.known.expected_failures import (
    FILE,
    ExpectedFailure,
    Known,
    KnownFinding,
    bundled,
    declared,
    write_declared,
)
from relaxcheck.harness.known.known import Expectations
from relaxcheck.harness.known.links import check_link
from relaxcheck.harness.known.tally import ExpectationTally, utc_today
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.releases.releases import own, release
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import fingerprint
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool


def show() -> None:
    """Print the expected failures. Raises ``CaseError`` where their file is malformed."""
    out = console()
    entries = declared()
    if not entries:
        out.print("No failure is expected.")
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "severity", "verdict", "operator", "when", "on", "expires"):
        table.add_column(column, overflow="fold")
    for entry in entries:
        late = entry.expired(utc_today())
        expires = Text(f"{entry.expires}: expired" if late else entry.expires)
        expires.stylize("bold red" if late else "")
        table.add_row(
            *(
                Text(entry.name),
                Text(entry.severity or ""),
                Text(entry.verdict),
                Text(entry.operator),
            ),
            *(_when(entry), _on(entry), expires),
        )
    out.print(table)
    for entry in entries:
        notes = [text for text in (entry.reason, entry.issue) if text]
        if isinstance(entry, KnownFinding):
            notes.append(f"fingerprint {entry.finding.fingerprint}")
        about = "; ".join(notes)
        out.print(f"{entry.title}: {about}", markup=False, highlight=False, soft_wrap=True)


def add(
    case: str,
    directory: Path | None,
    *,
    expires: str,
    issue: str | None,
    reason: str,
    name: str | None,
    case_seconds: float,
) -> None:
    """Expect the failure of ``case``, and print how it is called.

    Raises:
        CaseError: it does not fail, is expected already, or the date or name cannot be used.
        PoolError: the workers cannot start.
    """
    expires = _day(expires)
    try:
        check_link(issue)
    except ValueError as error:
        raise CaseError(f"--issue: {error}") from error
    there = declared()
    recorded = look_up(case, directory)
    finding, version = _finding(case, recorded, Limits(seconds=case_seconds))
    called = name or _name(finding, [each.name for each in there])
    if called in [each.name for each in there]:
        raise CaseError(f"--name {called} is taken; to free it: relaxcheck known remove {called}")
    entry = KnownFinding(
        name=called,
        operator=finding.operator,
        when={axis: (value,) for axis, value in finding.blame.items()},
        releases=(".".join(version.split(".")[:2]),),
        verdict=finding.verdict,
        issue=issue,
        expires=expires,
        reason=reason,
        message=headline(finding.outcome.message),
        cause=finding.outcome.cause,
        fixes=finding.case.fixes,
        stage=finding.stage,
        case=finding.case,
    )
    # One cause may be there twice only for different releases or messages.
    for other in there:
        if (
            isinstance(other, KnownFinding)
            and other.finding.fingerprint == entry.finding.fingerprint
            and other.concerns(version, fixes=finding.case.fixes)
        ):
            raise CaseError(f"{case} is expected already, as {other.name}")
    _write([*there, entry])
    console().print(
        f"{entry.title} is expected until {expires}: {finding.verdict}, {finding.operator}, "
        f"{finding.blamed}\nWritten to {FILE}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )


def remove(names: list[str]) -> None:
    """Remove the expected failures ``names``. Raises ``CaseError`` where there is none such."""
    there = declared()
    names = [_named(name, there) for name in names]
    for name in {entry.name for entry in bundled()}.intersection(names):
        raise CaseError(f"{name} comes with relaxcheck and cannot be removed")
    _write([entry for entry in there if entry.name not in names])
    console().print(f"Removed from {FILE}: {', '.join(names)}", highlight=False, soft_wrap=True)


def _named(wanted: str, there: Sequence[Known]) -> str:
    """The name of the expected failure that ``wanted`` names, or begins an identifier of."""
    names = [entry.name for entry in there]
    if wanted in names:
        return wanted
    alike = [
        entry.name
        for entry in there
        if isinstance(entry, KnownFinding) and is_called(entry, wanted)
    ]
    if len(alike) != 1:
        known = ", ".join(alike or names) or "none"
        raise CaseError(f"no expected failure {wanted}; there are {known}")
    return alike[0]


def _day(text: str) -> str:
    try:
        day = date.fromisoformat(text)
    except ValueError as error:
        raise CaseError(f"--expires {text}: {error}") from error
    if day.isoformat() < utc_today():
        raise CaseError(f"--expires {text} is in the past")
    return day.isoformat()


def _finding(called: str, recorded: RecordedCase, limits: Limits) -> tuple[Finding, str]:
    """The finding behind ``recorded``, and the version of TVM that it was found with."""
    if recorded.finding is not None and "apache-tvm" in recorded.environment:
        finding, version = recorded.finding, recorded.environment["apache-tvm"]
    else:
        name = recorded.environment.get("release", own().name)
        by_name = {family.name: family for family in kinds.families()}
        _check_place(called, recorded.case, by_name)
        with Pool(1, limits, release=release(name, alone=True)) as pool:
            version = pool.environment["apache-tvm"]
            pool.submit(Job(recorded.case, fresh=True))
            ((_, outcome),) = pool.drain()
            if outcome.verdict is Verdict.HARNESS_ERROR:
                raise CaseError(f"{called}: {outcome.message}")
            if not outcome.verdict.is_failure:
                raise CaseError(f"{called} does not fail: {outcome.verdict}")
            console().print(f"{outcome.verdict}; looking for the cause …")
            finding = Expectations(pool, by_name, (), ExpectationTally()).cause(
                recorded.case, outcome
            )
    if not finding.verdict.is_failure:
        raise CaseError(f"{called} is not a failure of TVM: {finding.verdict}")
    return finding, version


def _check_place(called: str, case: AnyCase, by_name: Mapping[str, Family]) -> None:
    """Check that a cause can be found: else every similar failure would be expected."""
    if case.family not in by_name or not isinstance(case.expect, Valid):
        return
    if kinds.of(case).by_structure(case):
        # Its core tells the cause.
        return
    try:
        point_of(by_name[case.family], case)
    except ValueError as error:
        raise CaseError(
            f"{called} cannot be an expected failure: its cause cannot be found, because {error}"
        ) from error


def _name(finding: Finding, taken: list[str]) -> str:
    operator = finding.operator.rpartition(".")[2]
    axes = dict.fromkeys(axis.split(".")[0] for axis in finding.blame)
    fixes = ("with-fixes",) if finding.case.fixes else ()
    words = "-".join((operator, finding.verdict, *axes, *fixes))
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")
    return f"{name}-{fingerprint(finding.signature, finding.blame)[:6]}" if name in taken else name


def _when(entry: Known) -> Text:
    named = {
        **entry.when,
        **(
            {k: (v,) for k, v in entry.example.items()}
            if isinstance(entry, ExpectedFailure)
            else {}
        ),
    }
    lines = (f"{axis}={'|'.join(values)}" for axis, values in named.items())
    return Text(",\n".join(lines) or "any values")


def _on(entry: Known) -> Text:
    side = "" if entry.fixes is None else f"\nfixes {'on' if entry.fixes else 'off'}"
    return Text(", ".join(entry.releases) + side)


def _write(wanted: list[Known]) -> None:
    try:
        write_declared(wanted)
    except OSError as error:
        raise CaseError(f"cannot write {FILE}: {error.strerror}") from error
