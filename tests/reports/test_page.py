from dataclasses import replace
from io import StringIO
from pathlib import Path

import msgspec
from rich.console import Console

from generators.program import Case, Input, Node, Program, ShapeValue, read
from harness.fates import Fate
from harness.finding import Finding
from harness.outcome import Outcome, Verdict
from harness.state import Side
from reports.case_text import program_text
from reports.page import write_page
from reports.results import Results
from reports.summary import campaign_summary, ranked

PROGRAM = Program(
    (Input("x", ("B", 4), "float16"), Input("w", (4, 2), "float16", constant=True)),
    (
        Node("y", "matmul", ("x", "w"), {"out_dtype": "float32"}),
        Node("z", "reshape", ("y",), {"shape": ShapeValue(("2*B",))}),
    ),
    ("z",),
)
CASE = Case("toy", PROGRAM, ({"B": 1}, {"B": 3}), pipeline="build", seed=4)


def finding(verdict: Verdict, count: int, confirmed: bool | None, number: str) -> Finding:
    return Finding(
        fingerprint=number * 12,
        verdict=verdict,
        stage="LegalizeOps",
        operator="matmul",
        message="",
        blame={"out_dtype": "float32"} if count > 1 else {},
        case=msgspec.structs.replace(CASE, seed=count),
        outcome=Outcome(verdict, "LegalizeOps", "matmul", "ValueError: it | broke"),
        count=count,
        confirmed=confirmed,
    )


FINDINGS = (
    finding(Verdict.ORACLE_SPLIT, 9, True, "a"),
    finding(Verdict.WRONG_VALUE, 1, None, "b"),
    finding(Verdict.OPAQUE_CRASH, 3, False, "c"),
)


def test_a_program_reads_like_one() -> None:
    assert program_text(PROGRAM).splitlines() == [
        "x: float16[B, 4]",
        "w: float16[4, 2] constant",
        "y = matmul(x, w, out_dtype='float32')",
        "z = reshape(y, shape=(2*B))",
        "return z",
    ]


COUNTS = {Side(False, False): {Verdict.WRONG_VALUE: 7}, Side(False, True): {Verdict.PASS: 3}}
DESCRIPTION = {
    "apache-tvm": "0.27",
    "fixes": "off",
    "seed": "1",
    "shard": "1/1",
    "families": "toy",
    "pipelines": "build",
    "drawn": "steered",
}
RESULTS = Results(DESCRIPTION, FINDINGS, COUNTS, {"stale gap x": 2}, {2: 6, 1: 1})


def test_failures_come_first_then_the_frequent_ones() -> None:
    assert [one.fingerprint[0] for one in ranked(FINDINGS)] == ["c", "b", "a"]


def test_regressions_come_before_everything_else(tmp_path: Path) -> None:
    passes = Outcome(Verdict.PASS, release="0.25")
    rare = finding(Verdict.WRONG_VALUE, 1, True, "d")
    broke = msgspec.structs.replace(rare.outcome, release="0.26", elsewhere={"0.25": passes})
    rare = msgspec.structs.replace(rare, outcome=broke)
    assert [one.fingerprint[0] for one in ranked((*FINDINGS, rare))] == ["d", "c", "b", "a"]
    results = replace(RESULTS, findings=(*FINDINGS, rare))
    text = write_page(tmp_path, results).read_text()
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings[0] == "## regression 0.25 → 0.26, wrong-value: matmul"
    assert "- by release: 0.25 `pass`, 0.26 `wrong-value`\n" in text
    # Those that ran on one release say nothing of others.
    assert text.count("by release") == 1


def test_the_page_has_every_finding_and_a_case_that_can_be_read_again(tmp_path: Path) -> None:
    page = write_page(tmp_path, RESULTS)
    text = page.read_text()
    assert text.startswith("# relaxcheck: 3 findings\n")
    for said in (
        "| `wrong-value` | 7 |  |",
        "| `pass` |  | 3 |",
        "|\n| declared | 2 | | stale gap x |",
    ):
        assert said in text
    for said in ("bindings B=1; B=3", "it | broke"):
        assert said in text
    for one in FINDINGS:
        assert f"relaxcheck replay {one.case.identifier}" in text
        assert read(tmp_path / "findings" / f"{one.case.identifier}.json") == one.case


def test_the_summary_shows_verdict_blame_count_and_command() -> None:
    console = Console(width=120, record=True, file=StringIO())
    console.print(campaign_summary(RESULTS))
    text = console.export_text()
    assert "Judged 6 by two oracles, 1 by one; 0 by none (never a pass)." in text
    assert f"relaxcheck replay {FINDINGS[2].case.identifier[:8]}" in text
    assert "out_dtype=float32" in text
    assert "any values" in text
    assert "Findings" in text


def test_known_findings_are_shown_apart(tmp_path: Path) -> None:
    gone, still, new = FINDINGS
    fates = {gone.fingerprint: Fate.GONE, still.fingerprint: Fate.STILL}
    results = replace(RESULTS, findings=(still, new), known=fates, earlier=(gone, still))
    assert results.new == (new,)
    console = Console(width=120, record=True, file=StringIO())
    console.print(campaign_summary(results))
    text = console.export_text()
    before, _, after = text.partition("Known findings")[2].partition("New findings")
    for one, fate in ((gone, "does not fail any more"), (still, "still fails")):
        [line] = [line for line in before.splitlines() if one.verdict in line]
        assert fate in line
    assert still.case.identifier[:8] not in after
    text = write_page(tmp_path, results).read_text()
    assert text.startswith("# relaxcheck: 1 new finding\n")
    page, _, known = text.partition("## Known before")
    assert (new.fingerprint in page, still.fingerprint in page) == (True, False)
    rows = [line for line in known.splitlines() if "fails" in line or "any more" in line]
    assert [row.count("|") for row in rows] == [9, 9]


def test_both_sides_of_the_fixes_are_counted_apart() -> None:
    counts = {Side(fixes, False): {Verdict.PASS: 5 + fixes} for fixes in (False, True)}
    results = replace(RESULTS, counts=counts)
    assert {title: dict(of) for title, of in results.columns.items() if of} == {
        "fixes off": {Verdict.PASS: 5},
        "fixes on": {Verdict.PASS: 6},
    }
