from pathlib import Path

import msgspec
from rich.console import Console

from generators.program import Case, Input, Node, Program, ShapeValue, read
from harness.finding import Finding
from harness.outcome import Outcome, Verdict
from reports.page import program_text, write_page
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


COUNTS = ({Verdict.WRONG_VALUE: 7}, {Verdict.PASS: 3})


def test_failures_come_first_then_the_frequent_ones() -> None:
    assert [one.fingerprint[0] for one in ranked(FINDINGS)] == ["c", "b", "a"]


def test_the_page_has_every_finding_and_a_case_that_can_be_read_again(tmp_path: Path) -> None:
    description = {"apache-tvm": "0.27", "fixes": "off", "seed": "1", "families": "toy"}
    page = write_page(tmp_path, description, FINDINGS, *COUNTS, {"stale gap x": 2})
    text = page.read_text()
    assert text.startswith("# relaxcheck: 3 findings\n")
    for said in ("| `wrong-value` | 7 |  |", "| `pass` | 0 | 3 |", "| gap | 2 | | stale gap x |"):
        assert said in text
    for said in ("bindings B=1; B=3", "it | broke"):
        assert said in text
    for one in FINDINGS:
        assert f"relaxcheck replay {one.case.identifier}" in text
        assert read(tmp_path / "findings" / f"{one.case.identifier}.json") == one.case


def test_the_summary_shows_verdict_blame_count_and_command() -> None:
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    console.print(campaign_summary(FINDINGS, *COUNTS, {"gap": 2}, {2: 6, 1: 1}))
    text = console.export_text()
    assert "Judged 6 by two oracles, 1 by one; 0 by none (never a pass)." in text
    assert f"relaxcheck replay {FINDINGS[2].case.identifier[:8]}" in text
    assert "out_dtype=float32" in text
    assert "any values" in text
