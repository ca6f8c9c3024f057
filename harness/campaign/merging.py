"""Merging campaigns: the journals of shards, machines or nights as one.

Two records of one case or finding are joined field by field, by the larger in a total order. So
neither the order of merging nor merging a campaign twice changes the result.
"""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import reduce
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.harness.campaign.drawing import Shard
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.campaign.options import MERGED, OPTIONS, not_begun, shard
from relaxcheck.harness.campaign.state import State, tally
from relaxcheck.harness.journal.journal import DRAWN, TRIAL, Journal, Mode
from relaxcheck.harness.known.expected_failures import ExpectedFailure
from relaxcheck.harness.known.known import findings_in
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.severity import fails_run, severity_of
from relaxcheck.harness.triage.batches import BatchOnlyFailures
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import signature_of

Description = Mapping[str, str]

_PLATFORM = "platform"
"""The one part of the environment that campaigns to be merged need not share."""

_CONFIRMED = {None: 0, False: 1, True: 2}


class Row(NamedTuple):
    """A case as a journal stores it; None: not there yet."""

    identifier: str
    case: bytes
    started: float
    purpose: str
    verdict: str | None
    outcome: bytes | None
    expected_by: str | None
    finding: str | None


def merge(directories: Sequence[Path], out: Path) -> None:
    """Write a journal into ``out`` that holds all that is in those of ``directories``.

    Each case is there once, and counted once. A failure outranks a pass, a smaller case of a
    finding a larger one, a confirmed finding an unconfirmed one.

    Raises:
        CaseError: the campaigns ran with different versions or releases, or none ran anything.
        JournalError: one is missing or cannot be read, or ``out`` holds a campaign.
    """
    with ExitStack() as opened:
        parts = [opened.enter_context(Journal(directory, Mode.READ)) for directory in directories]
        description = joined_descriptions(
            [(str(path), part.description) for path, part in zip(directories, parts, strict=True)]
        )
        with Journal(out) as merged:
            counts: Counter[str | None] = Counter()
            merged.store("cases", _joined([part.stored("cases") for part in parts], counts))
            merged.store("events", sorted({row for part in parts for row in part.stored("events")}))
            for finding in joined_findings(own for part in parts for own in findings_in(part)):
                counted = msgspec.structs.replace(finding, count=counts[finding.fingerprint])
                merged.write_finding(finding.fingerprint, msgspec.json.encode(counted))
            # Last: without a description a merge is incomplete.
            merged.describe(description)


def recount(
    journal: Journal, families: Mapping[str, Family], expected: Sequence[ExpectedFailure]
) -> State:
    """The state of the ended campaign in ``journal``. ``families`` are by name.

    A failure that no finding counts was not investigated.
    """
    state = State(phase="ended", trials=sum(journal.counts(TRIAL).values()))
    environment = journal.description
    for finding in findings_in(journal):
        state.findings[finding.fingerprint] = finding
    unexplained = set()
    company = BatchOnlyFailures()
    signatures = {earlier.signature for earlier in state.findings.values()}
    for stored in journal.cases(DRAWN):
        if stored.outcome is None:
            continue
        company.add(stored.case, stored.outcome)
        _, failure = tally(state, families, expected, environment, stored.case, stored.outcome)
        if failure is not None and stored.finding not in state.findings:
            state.investigating += 1
            signature = signature_of(stored.case, failure.outcome)
            severity = severity_of(signature.verdict, stored.case.expect)
            if fails_run(severity) and signature not in signatures:
                unexplained.add(signature)
    state.unexplained = len(unexplained)
    company.look_up(journal.ended)
    state.waiting, state.unrepeated = company.waiting, len(company.unrepeated)
    return state


def joined_row(row: Row, other: Row) -> Row:
    """The record of a case from its records in two journals."""
    verdict, outcome, expected_by = max(
        (row.verdict, row.outcome, row.expected_by),
        (other.verdict, other.outcome, other.expected_by),
        key=_weight,
    )
    return Row(
        row.identifier,
        row.case,
        min(row.started, other.started),
        DRAWN if DRAWN in (row.purpose, other.purpose) else TRIAL,
        verdict,
        outcome,
        expected_by,
        min((each for each in (row.finding, other.finding) if each), default=None),
    )


def joined_findings(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each fingerprint, by fingerprint; their counts are left to the caller."""
    best: dict[str, Finding] = {}
    for finding in findings:
        rival = best.get(finding.fingerprint, finding)
        best[finding.fingerprint] = max(finding, rival, key=_worth)
    return [best[fingerprint] for fingerprint in sorted(best)]


def joined_descriptions(described: Sequence[tuple[str, Description]]) -> dict[str, str]:
    """The description of the merge of campaigns ``described``: pairs of a name and a description.

    Raises:
        CaseError: they ran with different versions, or none ran anything.
    """
    parts: set[tuple[str, ...]] = set()
    platforms: set[str] = set()
    first, versions = "", dict[str, str]()
    for name, description in described:
        if (why := not_begun(description)) is not None:
            raise CaseError(f"the campaign in {name} {why}; leave it out")
        parts |= set(_parts(description))
        own = _versions(description)
        # A campaign that ended before its workers were up has no versions, and no cases.
        if not own:
            continue
        if not versions:
            first, versions = name, own
        for key in sorted({*versions, *own}):
            if versions.get(key) != own.get(key):
                theirs, other = (each.get(key, "not there") for each in (versions, own))
                raise CaseError(
                    f"cannot merge {first} and {name}: {key} is {theirs} in the one "
                    f"and {other} in the other"
                )
        platforms |= set(description.get(_PLATFORM, "").split("; "))
    if not versions:
        raise CaseError("none of the campaigns began to run anything; there is nothing to merge")
    columns = {option: {part[at] for part in parts} for at, option in enumerate(OPTIONS)}
    return {
        **versions,
        _PLATFORM: "; ".join(sorted(platforms)),
        **{option: _union(option, values) for option, values in columns.items()},
        MERGED: msgspec.json.encode(sorted(parts)).decode(),
    }


def _joined(
    journals: Iterable[Iterator[tuple[Any, ...]]], counts: Counter[str | None]
) -> Iterator[tuple[Any, ...]]:
    """The cases of all ``journals``, sorted by identifier; counts them by finding in ``counts``."""
    rows = (Row(*row) for row in heapq.merge(*journals, key=_identifier))
    for _, same in groupby(rows, key=_identifier):
        row = reduce(joined_row, same)
        counts[row.finding] += 1
        yield row


def _identifier(row: tuple[Any, ...]) -> str:
    identifier: str = row[0]
    return identifier


def _weight(ended: tuple[str | None, bytes | None, str | None]) -> tuple[object, ...]:
    verdict, outcome, expected_by = ended
    if verdict is None:
        return (False,)
    known = Verdict(verdict)
    return (True, known.is_failure, not known.is_right, verdict, outcome, expected_by or "")


def _worth(finding: Finding) -> tuple[object, ...]:
    case = encode(finding.case)
    same = msgspec.json.encode(msgspec.structs.replace(finding, count=0))
    # As within a campaign, a regression outranks a failure on every release.
    regressed = finding.regression is not None
    return (regressed, _CONFIRMED[finding.confirmed], -len(case), case, same)


def _versions(description: Description) -> dict[str, str]:
    options = {*OPTIONS, MERGED, _PLATFORM}
    return {key: value for key, value in description.items() if key not in options}


def _parts(description: Description) -> list[tuple[str, ...]]:
    """The options of each campaign in a journal, in the order of ``OPTIONS``."""
    if MERGED in description:
        return msgspec.json.decode(description[MERGED], type=list[tuple[str, ...]])
    return [tuple(description[option] for option in OPTIONS)]


def _union(option: str, values: set[str]) -> str:
    """The ``values`` of ``option`` in several campaigns, in the form of one description."""
    if option == "fixes":
        return values.pop() if len(values) == 1 else Fixes.BOTH.value
    words = {word for value in values for word in value.split()}
    if option == "seed":
        return " ".join(sorted(words, key=int))
    if option == "shard":
        return " ".join(sorted(words, key=_place))
    return " ".join(sorted(words))


def _place(text: str) -> tuple[int, int]:
    parsed: Shard = shard(text)
    return parsed.of, parsed.number
