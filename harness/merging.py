"""Merging campaigns: the journals of shards, machines or nights as one.

Two records of one thing are joined by taking the larger in some total order, each field by itself;
so the order of merging and merging something again change nothing.
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

from generators.axes import Family
from generators.program import CaseError, encode
from harness.company import Company
from harness.drawing import Shard
from harness.finding import Finding
from harness.fingerprint import kind_of
from harness.gaps import Gap
from harness.journal import DRAWN, TRIAL, Journal, Mode
from harness.known import findings_in
from harness.options import MERGED, OPTIONS, Fixes, not_begun, shard
from harness.outcome import Verdict
from harness.state import State, tally

Description = Mapping[str, str]

_PLATFORM = "platform"
"""The one thing about the environment that campaigns to be merged need not share."""

_CONFIRMED = {None: 0, False: 1, True: 2}
_HARMLESS = frozenset({Verdict.PASS, Verdict.REJECTED})


class Row(NamedTuple):
    """A case as a journal stores it; what is not there yet is None."""

    identifier: str
    case: bytes
    started: float
    purpose: str
    verdict: str | None
    outcome: bytes | None
    gap: str | None
    finding: str | None


def merge(directories: Sequence[Path], out: Path) -> None:
    """Write a journal into ``out`` that holds all that is in those of ``directories``.

    Each case is there once, and counted once. A failure outranks a pass, a smaller case of a
    finding a larger one, what was confirmed what was not.

    Raises:
        CaseError: the campaigns ran with different versions or releases, or none ran anything.
        JournalError: one is missing or cannot be read, or ``out`` holds a campaign.
    """
    with ExitStack() as opened:
        parts = [opened.enter_context(Journal(one, Mode.READ)) for one in directories]
        description = joined_descriptions(
            [(str(path), one.description) for path, one in zip(directories, parts, strict=True)]
        )
        with Journal(out) as merged:
            counts: Counter[str | None] = Counter()
            merged.store("cases", _joined([part.stored("cases") for part in parts], counts))
            merged.store("events", sorted({row for part in parts for row in part.stored("events")}))
            for finding in joined_findings(one for part in parts for one in findings_in(part)):
                counted = msgspec.structs.replace(finding, count=counts[finding.fingerprint])
                merged.write_finding(finding.fingerprint, msgspec.json.encode(counted))
            # Last: what has none of it is no whole merge.
            merged.describe(description)


def recount(journal: Journal, families: Mapping[str, Family], gaps: Sequence[Gap]) -> State:
    """The state of a campaign that ended as ``journal`` holds it. ``families`` are by name.

    What fails and is counted to no finding was not looked into.
    """
    state = State(phase="ended", trials=sum(journal.counts(TRIAL).values()))
    environment = journal.description
    for finding in findings_in(journal):
        state.findings[finding.fingerprint] = finding
    unexplained = set()
    company = Company()
    told = {one.kind for one in state.findings.values()}
    for one in journal.cases(DRAWN):
        if one.outcome is None:
            continue
        company.add(one.case, one.outcome)
        _, failure = tally(state, families, gaps, environment, one.case, one.outcome)
        if failure is not None and one.finding not in state.findings:
            state.investigating += 1
            kind = kind_of(one.case, failure.outcome)
            if kind.verdict.is_failure and kind not in told:
                unexplained.add(kind)
    state.unexplained = len(unexplained)
    company.look_up(journal.ended)
    state.waiting, state.unrepeated = company.waiting, len(company.unrepeated)
    return state


def joined_row(one: Row, other: Row) -> Row:
    """What is known of a case from two journals."""
    verdict, outcome, gap = max(
        (one.verdict, one.outcome, one.gap),
        (other.verdict, other.outcome, other.gap),
        key=_weight,
    )
    return Row(
        one.identifier,
        one.case,
        min(one.started, other.started),
        DRAWN if DRAWN in (one.purpose, other.purpose) else TRIAL,
        verdict,
        outcome,
        gap,
        min((each for each in (one.finding, other.finding) if each), default=None),
    )


def joined_findings(findings: Iterable[Finding]) -> list[Finding]:
    """One finding for each fingerprint, by fingerprint; their counts are left to the caller."""
    best: dict[str, Finding] = {}
    for finding in findings:
        rival = best.get(finding.fingerprint, finding)
        best[finding.fingerprint] = max(finding, rival, key=_worth)
    return [best[fingerprint] for fingerprint in sorted(best)]


def joined_descriptions(described: Sequence[tuple[str, Description]]) -> dict[str, str]:
    """The description of the merge of the campaigns ``described``, each with what to call it.

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
        # One that ended before its workers were up has run nothing, with no version.
        if not own:
            continue
        if not versions:
            first, versions = name, own
        for key in sorted({*versions, *own}):
            if versions.get(key) != own.get(key):
                one, other = (each.get(key, "not there") for each in (versions, own))
                raise CaseError(
                    f"cannot merge {first} and {name}: {key} is {one} in the one "
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
    """The cases of all ``journals``, each in order of identifiers; ``counts`` those of findings."""
    rows = (Row(*row) for row in heapq.merge(*journals, key=_identifier))
    for _, same in groupby(rows, key=_identifier):
        row = reduce(joined_row, same)
        counts[row.finding] += 1
        yield row


def _identifier(row: tuple[Any, ...]) -> str:
    identifier: str = row[0]
    return identifier


def _weight(ended: tuple[str | None, bytes | None, str | None]) -> tuple[object, ...]:
    verdict, outcome, gap = ended
    if verdict is None:
        return (False,)
    known = Verdict(verdict)
    return (True, known.is_failure, known not in _HARMLESS, verdict, outcome, gap or "")


def _worth(finding: Finding) -> tuple[object, ...]:
    case = encode(finding.case)
    same = msgspec.json.encode(msgspec.structs.replace(finding, count=0))
    # As within a campaign: that it passed on an earlier release says more.
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
    """What several campaigns were given for ``option``, as one campaign's description says it."""
    if option == "fixes":
        return values.pop() if len(values) == 1 else Fixes.BOTH.value
    words = {word for value in values for word in value.split()}
    if option == "seed":
        return " ".join(sorted(words, key=int))
    if option == "shard":
        return " ".join(sorted(words, key=_place))
    return " ".join(sorted(words))


def _place(text: str) -> tuple[int, int]:
    one: Shard = shard(text)
    return one.of, one.number
