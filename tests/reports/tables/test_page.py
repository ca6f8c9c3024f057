from dataclasses import replace
from io import StringIO
from pathlib import Path

import msgspec
from rich.console import Console

from relaxcheck.generators.core.case import Invalid, Valid
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue, read
from relaxcheck.harness.campaign.state import Side
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.reports.programs.rendering import program_text
from relaxcheck.reports.tables.markdown import page_text, summary_text, write_page
from relaxcheck.reports.tables.results import Results
from relaxcheck.reports.tables.summary import MOST_ROWS, campaign_summary

PROGRAM = Program(
    (Input("x", ("B", 4), "float16"), Input("w", (4, 2), "float16", constant=True)),
    (
        Node("y", "matmul", ("x", "w"), {"out_dtype": "float32"}),
        Node("z", "reshape", ("y",), {"shape": ShapeValue(("2*B",))}),
    ),
    ("z",),
)
CASE = Case("toy", PROGRAM, ({"B": 1}, {"B": 3}), pipeline="build", seed=4)


def finding(
    verdict: Verdict, count: int, confirmed: bool | None, number: str, *, invalid: bool = False
) -> Finding:
    expect = Invalid("matmul", ("out_dtype",)) if invalid else Valid()
    return Finding(
        fingerprint=number * 12,
        verdict=verdict,
        stage="LegalizeOps",
        operator="matmul",
        message="",
        blame={"out_dtype": "float32"} if count > 1 else {},
        case=msgspec.structs.replace(CASE, seed=count, expect=expect),
        outcome=Outcome(verdict, "LegalizeOps", "matmul", "ValueError: it | broke"),
        count=count,
        confirmed=confirmed,
    )


FINDINGS = (
    finding(Verdict.ORACLE_SPLIT, 9, True, "a"),
    finding(Verdict.WRONG_VALUE, 1, None, "b"),
    finding(Verdict.OPAQUE_CRASH, 3, False, "c"),
)

TITLES = (
    "matmul: an oracle is outside the reference's bound: no verdict on TVM (out_dtype=float32)",
    'matmul gives wrong values (out_dtype="float32")',
    'matmul raises "it | broke" in LegalizeOps (out_dtype="float32")',
)
"""Of each of them."""


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


MESSAGE = msgspec.structs.replace(
    finding(Verdict.OPAQUE_CRASH, 20, True, "e", invalid=True),
    message="InternalError: Check failed: i < n",
)


def headings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("## ")]


def test_the_worst_come_first(tmp_path: Path) -> None:
    results = replace(RESULTS, findings=(MESSAGE, *FINDINGS))
    assert headings(write_page(tmp_path, results).read_text()) == [
        f"## wrong result: {TITLES[1]}",
        f"## crash: {TITLES[2]}",
        f"## no verdict on TVM: {TITLES[0]}",
        "## Error messages",
        "## Versions",
    ]


def test_of_one_severity_regressions_come_first(tmp_path: Path) -> None:
    passes = Outcome(Verdict.PASS, release="0.25")
    rare = finding(Verdict.OPAQUE_CRASH, 1, True, "d")
    broke = msgspec.structs.replace(rare.outcome, release="0.26", elsewhere={"0.25": passes})
    rare = msgspec.structs.replace(rare, outcome=broke)
    results = replace(RESULTS, findings=(*FINDINGS, rare))
    text = write_page(tmp_path, results).read_text()
    assert headings(text)[:2] == [
        f"## wrong result: {TITLES[1]}",
        f"## crash: regression 0.25 → 0.26, {TITLES[2]}",
    ]
    # Two findings with one title are told apart by a trait.
    assert headings(text)[2].startswith(f"## crash: {TITLES[2]}, ")
    assert "- by release: 0.25 `pass`, 0.26 `opaque-crash`\n" in text
    # Those that ran on one release say nothing of others.
    assert text.count("by release") == 1


def test_the_page_has_every_finding_and_a_case_that_can_be_read_again(tmp_path: Path) -> None:
    page = write_page(tmp_path, RESULTS)
    text = page.read_text()
    assert text.startswith("# relaxcheck: 3 findings\n")
    for words in (
        "| `wrong-value` | 7 |  |",
        "| `pass` |  | 3 |",
        "|\n| declared | 2 | | stale gap x |",
    ):
        assert words in text
    for words in ("bindings B=1; B=3", "it | broke"):
        assert words in text
    for finding in FINDINGS:
        assert f"relaxcheck replay {finding.case.identifier}" in text
        assert read(tmp_path / "findings" / f"{finding.case.identifier}.json") == finding.case


def test_the_summary_shows_severity_count_id_and_title_in_one_line_a_cause() -> None:
    text = shown(RESULTS, width=2 * WIDTH)
    assert "Judged 6 by two oracles, 1 by one; 0 by none (never a pass)." in text
    lines = text.partition("Findings")[2].splitlines()
    rows = {
        finding.case.identifier: [line for line in lines if finding.case.identifier[:8] in line]
        for finding in FINDINGS
    }
    assert all(len(each) == 1 for each in rows.values())
    for finding in FINDINGS:
        (line,) = rows[finding.case.identifier]
        assert f"{finding.count} " in line
    assert f" {TITLES[1]}: ValueError: it | broke" in rows[FINDINGS[1].case.identifier][0]
    assert f" {TITLES[2]} " in rows[FINDINGS[2].case.identifier][0]
    assert "To run a finding again: relaxcheck replay ID" in text


def test_a_line_is_cut_at_the_edge_and_the_table_after_a_screen() -> None:
    many = tuple(
        msgspec.structs.replace(
            finding(Verdict.OPAQUE_CRASH, 1, True, f"{number:08x}"),
            message=str(number),
            outcome=Outcome(Verdict.OPAQUE_CRASH, "run", message="x" * 200),
            case=msgspec.structs.replace(CASE, seed=number),
        )
        for number in range(MOST_ROWS + 2)
    )
    lines = shown(replace(RESULTS, findings=many)).splitlines()
    rows = [line for line in lines if "matmul" in line]
    assert len(rows) == MOST_ROWS
    assert all(len(line) <= WIDTH and line.rstrip().endswith("…") for line in rows)
    assert any("… and 2 more causes, in findings.md" in line for line in lines)


WIDTH = 140


def shown(results: Results, *, all_messages: bool = False, width: int = WIDTH) -> str:
    console = Console(width=width, record=True, file=StringIO())
    console.print(campaign_summary(results, all_messages=all_messages))
    return console.export_text()


def test_error_messages_are_counted_in_one_line_and_listed_on_demand() -> None:
    results = replace(RESULTS, findings=(MESSAGE, *FINDINGS))
    text = " ".join(shown(results).split())
    counted = "1 error-message finding in 20 cases: an invalid or ill-formed program is refused"
    assert counted in text
    assert "(--all-messages lists them)" in text
    assert MESSAGE.case.identifier[:8] not in text
    text = shown(results, all_messages=True)
    assert MESSAGE.case.identifier[:8] in text.partition("Error messages")[2]
    assert counted not in text
    assert counted in summary_text(results)
    assert MESSAGE.case.identifier not in summary_text(results)
    alone = replace(RESULTS, findings=(MESSAGE,))
    assert "No findings." in shown(alone)
    assert page_text(alone).startswith("# relaxcheck: 0 findings\n")


def test_one_cause_of_sibling_operators_is_one_row_that_names_them() -> None:
    siblings = [
        msgspec.structs.replace(
            finding(Verdict.SILENT_BAIL, count, True, str(count)),
            operator=f"nn.conv{count}d_transpose",
            message="TOPI conv#d_transpose does not support it",
            case=msgspec.structs.replace(CASE, seed=count),
            outcome=Outcome(Verdict.SILENT_BAIL, "LegalizeOps", f"nn.conv{count}d_transpose"),
        )
        for count in (1, 2, 3)
    ]
    results = replace(RESULTS, findings=tuple(siblings))
    (cause,) = results.causes
    assert (cause.count, cause.lead) == (6, siblings[2])
    names = ["nn.conv3d_transpose", "nn.conv2d_transpose", "nn.conv1d_transpose"]
    assert list(cause.operators) == names
    lines = shown(results, width=2 * WIDTH).splitlines()
    (row,) = (line for line in lines if "conv3d_transpose" in line)
    assert row.split()[:2] == ["crash", "6"]
    assert siblings[2].case.identifier[:8] in row
    title = f'{names[0]} is left behind by LegalizeOps without an error (out_dtype="float32")'
    assert f"{title}; also {names[1]}, {names[2]}" in row
    assert headings(page_text(results))[0] == f"## crash: {title}"
    for sibling in siblings:
        assert f"replay {sibling.case.identifier}`" in page_text(results)
        assert f"replay {sibling.case.identifier}`" in summary_text(results)


def test_known_findings_are_shown_apart(tmp_path: Path) -> None:
    gone, still, new = FINDINGS
    statuses = {gone.fingerprint: FindingStatus.GONE, still.fingerprint: FindingStatus.STILL}
    results = replace(RESULTS, findings=(still, new), known=statuses, earlier=(gone, still))
    assert results.new == (new,)
    console = Console(width=120, record=True, file=StringIO())
    console.print(campaign_summary(results))
    text = console.export_text()
    before, _, after = text.partition("Known findings")[2].partition("New findings")
    for finding, status in ((gone, "does not fail any more"), (still, "still fails")):
        [line] = [line for line in before.splitlines() if finding.verdict in line]
        assert status in line
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
