"""The counts and page of a measured campaign, and the explained oracle splits."""

from pathlib import Path

import numpy as np
import pytest

from relaxcheck.cli import terminal
from relaxcheck.cli.lookup import look_up
from relaxcheck.generators.core.program import Case, Input
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.campaign.options import resumed
from relaxcheck.harness.compiling.judgement import judge
from relaxcheck.harness.journal.journal import DRAWN, Journal, Mode
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.programs.judge import expected
from relaxcheck.oracles.independent import ORACLES
from tests.measure.quality import campaigns
from tests.measure.quality.false_alarms import CONTROL
from tests.measure.quality.splits import EXPLAINED_SPLITS, Explained, unexplained
from tests.oracles import programs

ROOT = Path(__file__).resolve().parents[4]


def attention(dtype: str = "float32", **attributes: object) -> Case:
    shapes = {"q": (1, 1, 1, 1), "k": (1, 2, 1, 1), "v": (1, 2, 1, 1)}
    inputs = [Input(name, shape, dtype) for name, shape in shapes.items()]
    program = programs.one_node("nn.attention", inputs, scale=1.0, **attributes)
    return Case("attention", program, regime="special")


MASKED = Explained("onnxruntime", "nn.attention", "special", "float32", ("causal_mask",), "| row")


def test_a_split_is_explained_where_its_cause_is_and_nowhere_else() -> None:
    message = "onnxruntime: output y: 1 of 1 elements outside"
    masked = attention(causal_mask="TopLeft")

    def left(case: Case, text: str = message) -> list[str]:
        return unexplained(case, text, (MASKED,))

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
    judged = judge(case.program.outputs, {}, (np.ones((1, 1, 1, 1), np.float32),), wanted)
    assert judged.verdict is Verdict.PASS


def test_an_explanation_is_a_row_of_the_meanings() -> None:
    _, _, splits = (ROOT / "oracles/MEANINGS.md").read_text().partition("## Oracle splits")
    splits, _, _ = splits.partition("\n## ")
    rows = [line for line in splits.splitlines() if line.startswith("| ")]
    explained = [
        split for split in EXPLAINED_SPLITS if any(row.startswith(split.row) for row in rows)
    ]
    assert (len(rows), tuple(explained)) == (len(EXPLAINED_SPLITS), EXPLAINED_SPLITS)


def test_unconstrained_outputs_are_counted_apart_from_cases_without_an_oracle() -> None:
    tally = campaigns.Tally()
    ran = ("reference",)
    nothing = Outcome(
        Verdict.NO_ORACLE, checks=(Check({}, "y", 0.0, ran, 4, unconstrained=4),), oracles=ran
    )
    tally.add(attention(), nothing)
    tally.add(attention(), Outcome(Verdict.NO_ORACLE, message="no oracle ran: pytorch cannot"))
    assert tally.all_unconstrained == 1


@pytest.mark.slow
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
        drawn = [entry.case for entry in journal.cases(DRAWN)]
    assert look_up(drawn[0].identifier, None).case == drawn[0]
