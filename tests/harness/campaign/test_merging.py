"""Merging: whatever the journals are, in whatever order, and whatever was merged before."""

import sqlite3
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.cli.actions.campaign import exit_code
from relaxcheck.cli.reporters import not_investigated
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.families import family
from relaxcheck.harness.campaign.merging import Row, joined_findings, joined_row, merge, recount
from relaxcheck.harness.campaign.options import MERGED, OPTIONS, resumed
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, TRIAL, Journal, Mode
from relaxcheck.harness.journal.packing import unpack
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of

VERSIONS = {"apache-tvm": "0.27", "python": "3.11"}
OUTCOMES = (
    None,
    Outcome(Verdict.PASS, seconds={"tvm": 0.1}),
    Outcome(Verdict.PASS, seconds={"tvm": 0.2}),
    Outcome(Verdict.ORACLE_SPLIT, "compare", None, "wide"),
    Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "toy", "left"),
    Outcome(Verdict.OPAQUE_CRASH, "run", "toy", "broke"),
)
BAILED, CRASHED = OUTCOMES[-2:]


@cache
def case(seed: int, size: int = 1) -> Case:
    nodes = (Node("y", "toy", ("x",), {"size": size}),)
    return Case("toy", Program((Input("x", (1,), "float32"),), nodes, ("y",)), seed=seed)


def finding(of: Case, outcome: Outcome, confirmed: bool | None = None) -> Finding:
    made = finding_of(Reduced(of, outcome, {}))
    return msgspec.structs.replace(made, count=1, confirmed=confirmed)


Drawn = tuple[int, str, Outcome | None, str | None]
Content = tuple[str, tuple[Drawn, ...], tuple[Finding, ...]]

CASES = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.sampled_from((DRAWN, TRIAL)),
        st.sampled_from(OUTCOMES),
        st.sampled_from((None, "gap")),
    ),
    max_size=6,
    unique_by=lambda drawn: drawn[0],
).map(tuple)
FINDINGS = st.lists(
    st.builds(
        finding,
        st.builds(case, st.integers(0, 3), st.sampled_from((1, 10, 100))),
        st.sampled_from((BAILED, CRASHED)),
        st.sampled_from((None, False, True)),
    ),
    max_size=3,
    unique_by=lambda finding: finding.fingerprint,
).map(tuple)
CONTENTS = st.tuples(st.sampled_from(("1/3", "2/3", "3/3")), CASES, FINDINGS)


def journal_of(content: Content, folder: Path) -> Path:
    """A campaign that met ``content``; what failed is counted to the finding of its kind."""
    shard, drawn, findings = content
    options = dict(
        zip(OPTIONS, ("toy", "build", "5", "off", "steered", shard, "0.27"), strict=True)
    )
    kinds = {finding.verdict: finding for finding in findings}
    with Journal(folder) as journal:
        journal.describe({**VERSIONS, "platform": f"machine {shard[0]}", **options})
        journal.note(Event(EventType.RESUMED, f"as shard {shard}"))
        counts = dict.fromkeys((finding.fingerprint for finding in findings), 0)
        for seed, purpose, outcome, gap in drawn:
            journal.start(case(seed), purpose)
            if outcome is None:
                continue
            failed = outcome.verdict.is_failure
            journal.end(case(seed), outcome, gap if failed else None)
            if failed and outcome.verdict in kinds:
                fingerprint = kinds[outcome.verdict].fingerprint
                counts[fingerprint] += journal.count_to(case(seed), fingerprint)
        for finding in findings:
            record = msgspec.structs.replace(finding, count=counts[finding.fingerprint])
            journal.write_finding(finding.fingerprint, msgspec.json.encode(record))
    return folder


def held(folder: Path) -> dict[str, object]:
    """Everything that the journal in ``folder`` holds."""
    with Journal(folder, Mode.READ) as journal:
        return {
            "cases": list(journal.stored("cases")),
            "events": list(journal.stored("events")),
            "findings": sorted(journal.findings()),
            "description": journal.description,
        }


class Bench:
    """A folder to merge in."""

    def __init__(self, root: Path, contents: Sequence[Content]):
        self._root = root
        self._made = 0
        self.parts = [journal_of(content, self._next()) for content in contents]

    def _next(self) -> Path:
        self._made += 1
        return self._root / str(self._made)

    def merged(self, *parts: Path) -> Path:
        out = self._next()
        merge(parts, out)
        return out


def stamped(folder: Path, seconds: int) -> None:
    """Set when the cases in ``folder`` started: a clock would be a source of chance."""
    with sqlite3.connect(folder / FILE_NAME) as database:
        database.execute("UPDATE cases SET started = ?", (seconds,))
    database.close()


THREE = st.tuples(CONTENTS, CONTENTS, CONTENTS)

ENDED = st.builds(
    lambda outcome, gap: (
        (None, None, None)
        if outcome is None
        else (str(outcome.verdict), msgspec.json.encode(outcome), gap)
    ),
    st.sampled_from(OUTCOMES),
    st.sampled_from((None, "a", "b")),
)
ROWS = st.builds(
    lambda started, purpose, ended, counted_to: Row(
        "id", b"case", started, purpose, *ended, counted_to
    ),
    st.sampled_from((1.0, 2.0, 3.0)),
    st.sampled_from((DRAWN, TRIAL)),
    ENDED,
    st.sampled_from((None, "f1", "f2")),
)


@given(ROWS, ROWS, ROWS)
def test_rows_are_joined_in_any_order_and_any_number_of_times(a: Row, b: Row, c: Row) -> None:
    assert joined_row(a, b) == joined_row(b, a)
    assert joined_row(joined_row(a, b), c) == joined_row(a, joined_row(b, c))
    assert joined_row(a, a) == a
    assert joined_row(joined_row(a, b), b) == joined_row(a, b)


@given(st.lists(FINDINGS, min_size=3, max_size=3), st.randoms(use_true_random=False))
def test_findings_are_joined_in_any_order_and_any_number_of_times(
    shards: list[tuple[Finding, ...]], chance: Random
) -> None:
    a, b, c = shards
    joined = joined_findings([*a, *b, *c])
    assert joined_findings([*joined_findings([*a, *b]), *c, *joined, *a]) == joined
    mixed = [*a, *b, *c]
    chance.shuffle(mixed)
    assert joined_findings(mixed) == joined


@settings(max_examples=6, deadline=None)
@given(THREE)
def test_the_order_of_merging_makes_no_difference(contents: tuple[Content, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), contents)
        for number, part in enumerate(bench.parts):
            stamped(part, number)
        a, b, c = bench.parts
        whole = bench.merged(a, b, c)
        for other in (
            bench.merged(c, a, b),
            bench.merged(bench.merged(a, b), c),
            bench.merged(a, bench.merged(c, b)),
            # Merging cases that it has, or itself, changes nothing.
            bench.merged(whole, b),
            bench.merged(whole, whole, bench.merged(a)),
        ):
            assert held(other) == held(whole)


@settings(max_examples=15, deadline=None)
@given(THREE)
def test_nothing_is_lost_and_nothing_counted_twice(contents: tuple[Content, ...]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), contents)
        with Journal(bench.merged(*bench.parts), Mode.READ) as journal:
            rows = {row[0]: Row(*row) for row in journal.stored("cases")}
            findings = [decode_record(finding, Finding) for finding in journal.findings()]
        drawn = [case for _, cases, _ in contents for case in cases]
        assert set(rows) == {case(seed).identifier for seed, *_ in drawn}
        for seed in {seed for seed, *_ in drawn}:
            same = [recorded for recorded in drawn if recorded[0] == seed]
            row = rows[case(seed).identifier]
            assert unpack(row.case) == encode(case(seed))
            assert (row.purpose == DRAWN) is any(purpose == DRAWN for _, purpose, *_ in same)
            verdicts = {outcome.verdict for *_, outcome, _ in same if outcome is not None}
            assert (row.verdict is None) is (not verdicts)
            failures = {verdict for verdict in verdicts if verdict.is_failure}
            assert not failures or row.verdict in failures
            assert row.verdict is None or row.verdict in verdicts
        kept = {finding.fingerprint: finding for finding in findings}
        assert set(kept) == {
            recorded.fingerprint for _, _, result in contents for recorded in result
        }
        for fingerprint, recorded in kept.items():
            counted = [r for r in rows.values() if (r.finding, r.purpose) == (fingerprint, DRAWN)]
            assert recorded.count == len(counted)
            same = [other for _, _, result in contents for other in result
                    if other.fingerprint == fingerprint]  # fmt: skip
            assert recorded.confirmed is max(
                (each.confirmed for each in same), key=(None, False, True).index
            )
            best = [each for each in same if each.confirmed is recorded.confirmed]
            assert len(encode(recorded.case)) == min(len(encode(each.case)) for each in best)


def test_a_merge_of_shards_counts_as_the_campaigns_did(tmp_path: Path) -> None:
    failed = finding(case(1), BAILED, True)
    content: Content = ("1/3", ((1, DRAWN, BAILED, None), (2, DRAWN, BAILED, None)), (failed,))
    two: Content = ("2/3", ((2, DRAWN, BAILED, None), (3, DRAWN, BAILED, None)), (failed,))
    bench = Bench(tmp_path, (content, two))
    merged = bench.merged(bench.merged(*bench.parts), bench.parts[0])
    with Journal(merged, Mode.READ) as journal:
        assert [event.text for event in journal.events()] == ["as shard 1/3", "as shard 2/3"]
    [record] = held(merged)["findings"]  # type: ignore[misc]
    assert decode_record(record, Finding).count == 3


@pytest.mark.parametrize(
    ("outcome", "waiting", "unexplained", "code"),
    [
        # Like the known finding, and so no news; unlike any; no failure of TVM; none at all.
        (BAILED, 1, 0, 0),
        (CRASHED, 1, 1, 1),
        (OUTCOMES[3], 1, 0, 0),
        (OUTCOMES[1], 0, 0, 0),
    ],
)
def test_failures_that_nobody_looked_into_are_news_unless_they_are_like_what_is_known(
    tmp_path: Path, outcome: Outcome, waiting: int, unexplained: int, code: int
) -> None:
    member = family("conv1d_transpose", tuple(PIPELINES))
    counted, other = (member.build(complete(member.axes, {}), seed) for seed in (1, 2))
    known = finding(counted, BAILED, confirmed=True)
    with Journal(tmp_path) as journal:
        for case, came in ((counted, BAILED), (other, outcome)):
            journal.start(case, DRAWN)
            journal.end(case, came)
        journal.count_to(counted, known.fingerprint)
        journal.write_finding(known.fingerprint, msgspec.json.encode(known))
        state = recount(journal, {member.name: member}, ())
    state.known = {known.fingerprint: FindingStatus.STILL}
    assert (state.investigating, state.unexplained) == (waiting, unexplained)
    assert exit_code(state) == code
    assert ("not investigated" in not_investigated(state)) is bool(waiting)


def test_a_description_names_every_part_and_machine(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [(shard, (), ()) for shard in ("2/3", "1/3")])
    description = held(bench.merged(*bench.parts))["description"]
    assert description["shard"] == "1/3 2/3"  # type: ignore[index]
    assert description["platform"] == "machine 1; machine 2"  # type: ignore[index]
    assert description["apache-tvm"] == "0.27"  # type: ignore[index]
    assert len(msgspec.json.decode(description[MERGED])) == 2  # type: ignore[index]


def test_other_versions_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [("1/3", (), ()), ("2/3", (), ())])
    a, b = bench.parts
    with Journal(b, Mode.RESUME) as journal:
        journal.describe({"apache-tvm": "0.26"})
    text = f"cannot merge {a} and {b}: apache-tvm is 0.27 in the one and 0.26 in the other"
    with pytest.raises(CaseError, match=text):
        merge([a, b], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_releases_are_refused(tmp_path: Path) -> None:
    a, b = Bench(tmp_path, [("1/3", (), ()), ("2/3", (), ())]).parts
    with Journal(a, Mode.RESUME) as journal:
        journal.describe({"release": "0.26 0.27", "apache-tvm on 0.26": "0.26.0"})
    text = f"merge {a} and {b}: apache-tvm on 0.26 is 0.26.0 in the one and not there in the other"
    with pytest.raises(CaseError, match=text):
        merge([a, b], tmp_path / "out")


def test_a_campaign_of_another_version_is_marked(tmp_path: Path) -> None:
    [part] = Bench(tmp_path, [("1/3", (), ())]).parts
    with Journal(part, Mode.READ) as journal:
        described = {name: journal.description[name] for name in OPTIONS if name != "release"}
    with Journal(tmp_path / "old") as journal:
        journal.describe({**described, **VERSIONS})
    text = "was written by another version of relaxcheck, which did not record its release; "
    with pytest.raises(CaseError, match=text + "leave it out"):
        merge([part, tmp_path / "old"], tmp_path / "out")
    with pytest.raises(CaseError, match=text + "start a new one"):
        resumed(tmp_path / "old", [])
    with Journal(tmp_path / "empty"):
        pass
    with pytest.raises(CaseError, match="ended before it began; start a new one"):
        resumed(tmp_path / "empty", [])


def test_a_campaign_whose_workers_never_came_up_adds_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [("1/3", ((1, DRAWN, BAILED, None),), ())])
    [part] = bench.parts
    with Journal(part, Mode.READ) as journal:
        options = {name: journal.description[name] for name in OPTIONS}
    with Journal(tmp_path / "stillborn") as journal:
        journal.describe({**options, "shard": "2/3"})
    for order in ([part, tmp_path / "stillborn"], [tmp_path / "stillborn", part]):
        merged = held(bench.merged(*order))
        assert merged["cases"] == held(part)["cases"]
        assert merged["description"]["apache-tvm"] == "0.27"  # type: ignore[index]
        assert merged["description"]["platform"] == "machine 1"  # type: ignore[index]
    with pytest.raises(CaseError, match="none of the campaigns began to run anything"):
        merge([tmp_path / "stillborn"], tmp_path / "out")
    with Journal(tmp_path / "empty"):
        pass
    with pytest.raises(CaseError, match="ended before it began; leave it out"):
        merge([part, tmp_path / "empty"], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_merge_draws_nothing_itself(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [("1/3", (), ())])
    with pytest.raises(CaseError, match="is a merge of campaigns"):
        resumed(bench.merged(*bench.parts), [])


def test_a_regression_outranks_a_failure_of_the_same_cause() -> None:
    on = msgspec.structs.replace(BAILED, release="0.27", elsewhere={"0.26": Outcome(Verdict.PASS)})
    regressed = finding(case(1, 100), on)
    plain = finding(case(1), BAILED, confirmed=True)
    assert regressed.fingerprint == plain.fingerprint
    assert joined_findings([plain, regressed]) == joined_findings([regressed, plain]) == [regressed]
