"""The page of a model: verdicts, the piece in its graph, and the words."""

import pytest
from msgspec.structs import replace

from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.pieces.calls import TorchInput, TorchPiece
from relaxcheck.harness.models.report import Cure, Near, Piece, Report, Trap, Verdict
from relaxcheck.harness.outcomes.outcome import Verdict as Outcome
from relaxcheck.reports.models.files import ISSUE, SCRIPT, files
from relaxcheck.reports.models.page import page, picture
from relaxcheck.reports.models.text import lines

NEAR = (
    Near("embedding", "aten.embedding.default", ("weight", "ids"), "(2, 6, 8) float32"),
    Near("select", "aten.select.int", ("embedding",), "(2, 8) float32", inside=True),
    Near("addmm", "aten.addmm.default", ("bias", "select", "kernel"), "(2, 3) float32"),
)
CALLS = TorchPiece(
    (TorchInput("embedding", "float32", (2, 6, 8), ("s0", 6, 8)),),
    ("select = torch.ops.aten.select.int(embedding, 1, -1)",),
    ("select",),
    ("select",),
    ("aten.select.int",),
)
FAULT = Fault(Outcome.WRONG_VALUE, "run", "select: [1, <2>] for [3, 4]", "value")
REPORT = Report(
    "package:make",
    "PyTorch",
    Verdict.WRONG,
    release="0.27",
    versions={"apache-tvm": "0.27.0"},
    traps=(Trap("negative-take", "select", "aten.select.int", "index -1 is read out of bounds"),),
    piece=Piece(("select",), ("aten.select.int",), FAULT, "", 1, calls=CALLS),
    near=NEAR,
    cure=Cure(("torch_indices",), ("negative indices read out of bounds",), (), True),
)


def test_the_piece_stands_out_in_the_graph_around_it() -> None:
    drawn = picture(NEAR)
    kinds = {box.lines[0]: box.kind for box in drawn.boxes}
    assert kinds == {
        **dict.fromkeys(("weight", "ids", "bias", "kernel"), "input"),
        **dict.fromkeys(("embedding", "addmm"), "operator"),
        "select": "fault",
    }
    assert len(drawn.edges) == 6
    assert drawn.description.endswith("at fault: select")


def test_the_page_has_the_verdict_the_graph_and_the_script_and_loads_nothing() -> None:
    right = Report("package:make", "PyTorch", Verdict.RIGHT, release="0.27", fixes=True)
    text = page((REPORT, right))
    assert text.count("<svg") == 1
    assert 'class="fault"' in text
    assert "torch.ops.aten.select.int(embedding, 1, -1)" in text
    assert "[1, &lt;2&gt;]" in text
    assert "src=" not in text
    assert text.count("<section") == 2


def test_the_text_says_what_to_do() -> None:
    text = "\n".join(lines(REPORT, "found"))
    assert "Cured by the fix torch_indices." in text
    assert "with torch_indices alone the whole model is right" in text
    assert f"python found/{SCRIPT} shows it, and found/{ISSUE} is the issue to paste" in text


def test_the_issue_is_in_tvm_s_template() -> None:
    issue = files(REPORT)[ISSUE].decode()
    assert issue.startswith("[Bug][Relax] aten.select.int gives wrong values\n")
    for heading in ("Expected behavior", "Actual behavior", "Environment", "Steps to reproduce"):
        assert f"### {heading}" in issue
    assert "s0 = torch.export.Dim(" in issue


def test_a_script_of_a_fault_with_the_fixes_has_them_and_no_issue() -> None:
    report = replace(REPORT, fixes=True)
    made = files(report)
    assert set(made) == {SCRIPT}
    assert b"fixes.install()" in made[SCRIPT]
    assert b"passes = fixes.pipeline(target)" in made[SCRIPT]
    assert b"fixes" not in files(REPORT)[SCRIPT]
    assert "issue" not in "\n".join(lines(report, "found"))


@pytest.mark.parametrize("near", [(), NEAR[:1]])
def test_a_graph_may_have_no_piece(near: tuple[Near, ...]) -> None:
    assert bool(picture(near).boxes) is bool(near)


def test_the_page_names_the_files_that_were_written() -> None:
    assert "give --out DIR" in page([REPORT])
    written = page([REPORT], ["checked"])
    assert f"python checked/{SCRIPT} shows it" in written
    assert "give --out DIR" not in written
