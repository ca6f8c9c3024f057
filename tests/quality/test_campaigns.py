"""What a measured campaign counts and writes, and which oracle splits are explained."""

from pathlib import Path

import numpy as np
import pytest

from generators.program import Case, Input
from generators.values import Array
from harness.cli import terminal
from harness.cli.lookup import look_up
from harness.journal import DRAWN, Journal, Mode
from harness.judge import expected, judge
from harness.options import Fixes, resumed
from harness.outcome import Outcome, Verdict
from oracles.independent import ORACLES
from tests.oracles import programs
from tests.quality import campaigns
from tests.quality.false_alarms import CONTROL
from tests.quality.splits import EXPLAINED_SPLITS, Explained, unexplained

ROOT = Path(__file__).resolve().parents[2]


def attention(dtype: str = "float32", **attributes: object) -> Case:
    shapes = {"q": (1, 1, 1, 1), "k": (1, 2, 1, 1), "v": (1, 2, 1, 1)}
    inputs = [Input(name, shape, dtype) for name, shape in shapes.items()]
    program = programs.one_node("nn.attention", inputs, scale=1.0, **attributes)
    return Case("attention", program, regime="special")


MASKED = Explained("onnxruntime", "nn.attention", "special", "float32", ("causal_mask",), "| row")


def test_a_split_is_explained_where_its_cause_is_and_nowhere_else() -> None:
    message = "onnxruntime: output y: 1 of 1 elements outside"
    masked = attention(causal_mask="TopLeft")

    def left(case: Case, said: str = message) -> list[str]:
        return unexplained(case, said, (MASKED,))

    assert left(masked) == []
    assert unexplained(masked, message) == ["onnxruntime"]
    assert left(attention()) == ["onnxruntime"]
    assert left(attention("float16", causal_mask="TopLeft")) == ["onnxruntime"]
    assert left(Case("attention", masked.program, regime="normal")) == ["onnxruntime"]
    assert left(masked, f"pytorch: output y: another value; {message}") == ["pytorch"]
    assert left(masked, "somebody differs") == ["no oracle named"]


def test_a_masked_key_counts_nothing_however_large_its_score_is() -> None:
    case = attention(causal_mask="TopLeft")
    values: dict[str, Array] = {
        "q": np.ones((1, 1, 1, 1), np.float32),
        "k": np.array([-2e38, 2e38], np.float32).reshape(1, 2, 1, 1),
        "v": np.array([1, 2], np.float32).reshape(1, 2, 1, 1),
    }
    wanted = expected(case.program, values, mixed_precision=False)
    assert wanted.agreeing == tuple(ORACLES)
    judged = judge(case.program, {}, (np.ones((1, 1, 1, 1), np.float32),), wanted)
    assert judged.verdict is Verdict.PASS


def test_an_explanation_is_a_row_of_the_meanings() -> None:
    _, _, splits = (ROOT / "oracles/MEANINGS.md").read_text().partition("## Oracle splits")
    rows = [line for line in splits.splitlines() if line.startswith("| ")]
    told = [one for one in EXPLAINED_SPLITS if any(row.startswith(one.row) for row in rows)]
    assert (len(rows), tuple(told)) == (len(EXPLAINED_SPLITS), EXPLAINED_SPLITS)


def test_room_is_counted_apart_from_what_no_oracle_could_run() -> None:
    tally = campaigns.Tally()
    tally.add(attention(), Outcome(Verdict.NO_ORACLE, message="every element has room: y"))
    tally.add(attention(), Outcome(Verdict.NO_ORACLE, message="no oracle ran: pytorch cannot"))
    assert tally.all_room == 1


def test_a_measured_campaign_can_be_replayed_and_taken_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(campaigns, "RUNS", tmp_path)
    monkeypatch.setattr(terminal, "RUNS", tmp_path)
    shown: list[float] = []
    figures = campaigns.measure(
        "control", 3, 1, lambda _, done: shown.append(done), seed=3, zygote=CONTROL
    )
    assert (figures["cases"], figures["wanted"], figures["unended"]) == (3, 3, 0)
    assert "3 of 3 cases" in campaigns.markdown(figures)
    directory = Path(figures["journal"])
    options = resumed(directory, [])
    assert (options.seed, options.fixes, options.uniform) == (3, Fixes.OFF, False)
    with Journal(directory, Mode.READ) as journal:
        drawn = [one.case for one in journal.cases(DRAWN)]
    assert look_up(drawn[0].identifier, None).case == drawn[0]
