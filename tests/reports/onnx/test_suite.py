"""The page and the summary of ONNX's own tests."""

from rich.console import Console

from relaxcheck.harness.onnx.suite.expectations import Expectation
from relaxcheck.harness.onnx.suite.measuring import Measured
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.support import rows
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.onnx.suite import page, summary


def measured(
    *verdicts: Verdict, claims: dict[str, tuple[int, ...]], unnamed: bool = False
) -> Measured:
    results = [
        Result(f"test_{at}", "Softmax", 13, verdict, "", "", "node", 13)
        for at, verdict in enumerate(verdicts)
    ]
    body = Result("test_body", "Softmax", 13, Verdict.PASS, "", "", "node", 13, True)
    loop = Result("test_loop", "Loop", 21, Verdict.UNSUPPORTED, "", "", "node", 21, unnamed=unnamed)
    return Measured({each.name: each for each in (*results, body, loop)}, claims)


CLAIMS = {"Softmax": (1, 13), "FastGelu": (1,)}
FOUND = {
    "0.27": {
        "off": measured(Verdict.PASS, Verdict.WRONG_VALUE, claims=CLAIMS, unnamed=True),
        "on": measured(Verdict.PASS, Verdict.PASS, claims=CLAIMS | {"Add": (1,)}),
    }
}
RESULTS = {
    name: {side: each.results for side, each in sides.items()} for name, sides in FOUND.items()
}
EXPECTED = Expectation(
    name="loops",
    why="There are no loops.",
    verdict=Verdict.UNSUPPORTED,
    message="not supported",
    releases={"0.27": 7},
)


def test_the_page_has_a_line_for_each_version() -> None:
    text = page(rows(FOUND), RESULTS, [EXPECTED], ["FastGelu"], "1.23")
    lines = text.splitlines()
    assert "Measured with onnx 1.23:" in lines
    assert "| 0.27 | off | 2 | 1 | 1 | 1 |" in lines
    assert "| 0.27 | on | 3 | 1 | 0 | 0 |" in lines
    assert "| `Softmax` | 13 | 2 | 1, 1 wrong → 2 |" in lines
    assert "| `Loop` | 21 | 1 | not mapped |" in lines
    assert "| `Softmax` | 13 | 1 | 1 |" in lines
    assert "| `Softmax` | 1, 11 | mapped |" in lines
    assert "| `Add` | 7, 13, 14 | mapped by a fix |" in lines
    assert "| `loops` | There are no loops. | unsupported | 7 |" in lines
    assert "`FastGelu`." in lines


def test_the_summary_counts_verdicts_by_side() -> None:
    console = Console(width=120, record=True, force_terminal=False)
    console.print(summary(RESULTS))
    text = console.export_text()
    assert "0.27, fixes off" in text
    (line,) = (line for line in text.splitlines() if "wrong-value" in line)
    assert line.split("│")[2].strip() == "1"
    assert line.split("│")[3].strip() == ""
    (line,) = (line for line in text.splitlines() if "no operator named" in line)
    assert [cell.strip() for cell in line.split("│")[2:4]] == ["1", ""]
