"""``relaxcheck model``: the verdicts of whole runs, with the check in a process of its own."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import onnx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions import model as action
from relaxcheck.harness.models import running
from relaxcheck.harness.models.job import Known, Progress
from relaxcheck.harness.models.report import Report, Verdict
from relaxcheck.harness.models.sources import ModelError, source
from relaxcheck.harness.releases.releases import own
from tests.harness.models.small import making, perceptron, saved


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["model", *arguments])


def report(verdict: Verdict, *, fixes: bool = False) -> Report:
    return Report("model.onnx", "ONNX Runtime", verdict, fixes=fixes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, in which modules of the user lie."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_right_model_ends_with_0_and_says_so(folder: Path) -> None:
    ended = run(saved(perceptron(1), folder), "--dim", "n=3,5", "--out", "found")
    assert ended.exit_code == 0, ended.output
    first, second, *_ = ended.stdout.splitlines()
    assert first.endswith(f"TVM {own().name}, fixes off, default-pipeline: right")
    assert second == "TVM computes this model as ONNX Runtime does."
    assert "n = 5" in ended.stdout
    written = json.loads((folder / "found" / "report.json").read_text())
    assert written["reports"][0]["verdict"] == "right"
    assert (folder / "found" / "report.txt").read_text() in ended.stdout


def test_a_wrong_model_ends_with_1_and_names_node_and_stage_in_json(folder: Path) -> None:
    body = """class Last(nn.Module):
    def forward(self, x):
        return x.exp()[:, -1]
return Last(), (torch.ones(2, 3, 4),)"""
    ended = run(making(folder, body, "wrong_model"), "--format", "json")
    assert ended.exit_code == 1, ended.output
    (report,) = json.loads(ended.stdout)["reports"]
    assert report["verdict"] == "wrong"
    (node,) = report["wrong"]
    assert (node["operator"], node["blame"]) == ("aten.select.int", "importer")


@pytest.fixture
def usual_interruption() -> Iterator[None]:
    """Ctrl-C as Python has it: a job in the background of a shell ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_interruption")
@pytest.mark.parametrize(
    ("end", "seconds", "code", "words"),
    [
        ("os.kill(os.getpid(), 11)", 60, 1, "LegalizeOps: SIGSEGV ended the process"),
        ("time.sleep(600)", 2, 1, "LegalizeOps: no end after 2 s"),
        # Wait until the other process has read the lines: a Ctrl-C amid reading drops them.
        (
            "time.sleep(0.3); os.kill(os.getppid(), 2); time.sleep(600)",
            *(60, 130, "LegalizeOps: inter"),
        ),
        ("sys.exit('a bug of ours')", 60, 3, "a fault of relaxcheck: a bug of ours"),
    ],
)
def test_the_end_of_the_process_is_a_result(
    end: str, seconds: int, code: int, words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Known(report(Verdict.INTERRUPTED))
    messages = [msgspec.json.encode(each).decode() for each in (Progress("LegalizeOps"), known)]
    lines = ["import os, sys, time", *(f"print({each!r}, flush=True)" for each in messages), end]
    (folder / "ending.py").write_text("\n".join(lines))
    monkeypatch.setattr(running, "_MODULE", "ending")
    ended = run("model.onnx", "--seconds", str(seconds))
    assert ended.exit_code == code, ended.output
    assert words in ended.stdout + ended.stderr


def test_the_node_that_ends_the_process_is_looked_for(folder: Path) -> None:
    body = """import os, tvm
operator = tvm.ir.Op.get("relax.tanh")
operator.reset_attr("FLegalize")
operator.set_attr("FLegalize", lambda builder, call: os.kill(os.getpid(), 11), 11)
class Ends(nn.Module):
    def forward(self, x):
        return torch.exp(torch.tanh(torch.relu(x)))
return Ends(), (torch.ones(2, 3),)"""
    ended = run(making(folder, body, "ending_model"), "--format", "json")
    assert ended.exit_code == 1, ended.output
    (report,) = json.loads(ended.stdout)["reports"]
    assert (report["verdict"], report["message"]) == ("died", "SIGSEGV ended the process")
    assert [each["node"] for each in report["failing"]] == ["tanh"]
    assert report["piece"]["nodes"] == ["tanh"]
    assert report["piece"]["fault"]["signal"] == "SIGSEGV"


def test_a_verdict_that_is_known_outlives_the_search_for_the_place(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = msgspec.json.encode(Known(report(Verdict.WRONG))).decode()
    (folder / "ending.py").write_text(f"import os\nprint({known!r}, flush=True)\nos.abort()")
    monkeypatch.setattr(running, "_MODULE", "ending")
    ended = run("model.onnx")
    assert ended.exit_code == 1, ended.output
    assert "model.onnx" in ended.stdout.splitlines()[0]
    assert ended.stdout.splitlines()[0].endswith("wrong")
    assert "note: SIGABRT ended the process" in ended.stdout


def test_a_model_that_its_framework_cannot_run_is_bad_input(folder: Path) -> None:
    proto = perceptron(1)
    proto.graph.node[0].op_type = "Mend"
    proto.graph.node[0].domain = "mine"
    proto.opset_import.append(onnx.helper.make_opsetid("mine", 1))
    ended = run(saved(proto, folder))
    assert ended.exit_code == 2, ended.output
    assert "ONNX Runtime fails" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.onnx", "none.onnx: no such file"),
        ("notes.txt", "notes.txt: give a model.onnx, an exported.pt2, or package.module:make"),
        ("text.onnx", "text.onnx is no valid ONNX model"),
        ("text.pt2", "text.pt2 is no exported program"),
        ("nowhere_at_all:make", "cannot be imported: ModuleNotFoundError"),
    ],
)
def test_bad_input_is_one_line(name: str, words: str, folder: Path) -> None:
    for text in ("text.onnx", "text.pt2"):
        (folder / text).write_text("no model")
    with pytest.raises(ModelError, match=words) as raised:
        source(name)
    assert len(str(raised.value).splitlines()) == 1


@pytest.mark.parametrize("dim", ["batch", "batch=", "=3", "batch=a", "batch=1,,2"])
def test_sizes_are_numbers_by_name(dim: str, folder: Path) -> None:
    ended = run("model.onnx", "--dim", dim)
    assert ended.exit_code == 2
    assert f"--dim {dim}: give a name and sizes" in ended.stderr


@pytest.mark.parametrize(
    ("reports", "code"),
    [
        ([report(Verdict.RIGHT)], 0),
        ([report(Verdict.WRONG)], 1),
        ([report(Verdict.DIED)], 1),
        ([report(Verdict.WRONG), report(Verdict.RIGHT, fixes=True)], 0),
        ([report(Verdict.RIGHT), report(Verdict.WRONG, fixes=True)], 1),
        ([report(Verdict.EXPORTER)], 2),
        ([report(Verdict.RIGHT), report(Verdict.INTERRUPTED)], 130),
    ],
)
def test_the_exit_code_is_that_of_the_side_that_decides(reports: list[Report], code: int) -> None:
    assert action.exit_code(reports) == code


def answering(monkeypatch: pytest.MonkeyPatch, *answers: Report | running.CheckError) -> None:
    """Let checks end with ``answers``, one after the other."""
    left = list(answers)

    def checked(*_: object) -> Report:
        answer = left.pop(0)
        if isinstance(answer, Report):
            return answer
        raise answer

    monkeypatch.setattr(action, "checked", checked)


def test_a_folder_that_cannot_be_written_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "report.json").symlink_to("/dev/full")
    answering(monkeypatch, report(Verdict.RIGHT))
    ended = run("model.onnx", "--out", "out")
    assert ended.exit_code == 2
    assert "cannot write to" in ended.stderr
    assert "No space left" in ended.stderr
    assert "right" in ended.stdout


def test_a_refusal_on_a_later_side_keeps_the_report_before(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = msgspec.structs.replace(report(Verdict.BAD_INPUT), message="no such target")
    answering(monkeypatch, report(Verdict.WRONG), refused)
    ended = run("model.onnx", "--fixes", "both", "--format", "json", "--out", "out")
    assert ended.exit_code == 2
    assert [each["verdict"] for each in json.loads(ended.stdout)["reports"]] == ["wrong"]
    assert "no such target" in ended.stderr
    assert (folder / "out" / "report.json").exists()


def test_a_fault_of_ours_keeps_the_verdict_that_was_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, running.CheckError("a bug", report(Verdict.WRONG)))
    ended = run("model.onnx", "--format", "json")
    assert ended.exit_code == 3
    assert "a fault of relaxcheck: a bug" in ended.stderr
    assert [each["verdict"] for each in json.loads(ended.stdout)["reports"]] == ["wrong"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise SystemExit(5)", "raised SystemExit: 5"),
        (
            "class Pair(nn.Module):\n    def forward(self, x):\n        return x + 1, 5\n"
            "return Pair(), (torch.ones(2),)",
            "returns 5, which no input decides: return tensors alone",
        ),
    ],
)
def test_a_model_that_cannot_be_used_says_why(body: str, words: str, folder: Path) -> None:
    with pytest.raises(ModelError, match=words):
        source(making(folder, body, f"unusable_{len(body)}"))
