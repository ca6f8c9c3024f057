"""Messages that TVM's legalizations log are collected, and nothing else is."""

import logging
from pathlib import Path

import pytest

from relaxcheck.harness import kinds
from relaxcheck.harness.compiling.kind import CompiledKind
from relaxcheck.harness.compiling.legalization_log import (
    LOGGED,
    collected,
    listen,
    reason,
    reason_line,
)
from relaxcheck.harness.known.corpus import entries
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.outcomes.sources import SourceLine
from relaxcheck.harness.torch import exporting


def logged(path: Path, line: str) -> None:
    """Have a file at ``path`` log as TVM's do."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"import logging\n{line}\n")
    exec(compile(path.read_text(), str(path), "exec"), {})


def test_only_legalizations_are_listened_to(tmp_path: Path) -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    with collected() as texts:
        logged(tmp_path / "legalize_ops" / "nn.py", "logging.info('no\\n  %s', 'chunks')")
        logged(tmp_path / "legalize_ops" / "nn.py", "logging.info('no chunks')")
        logged(tmp_path / "legalize_ops" / "nn.py", "logging.warning('nor that')")
        logged(tmp_path / "elsewhere" / "nn.py", "logging.info('something else')")
    assert list(texts) == ["no chunks", "nor that"]
    assert (root.level, list(root.handlers)) == before
    logged(tmp_path / "legalize_ops" / "nn.py", "logging.info('too late')")
    assert list(texts) == ["no chunks", "nor that"]


def test_the_level_is_put_back_after_an_exception() -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    with pytest.raises(ValueError, match="x"), collected():
        raise ValueError("x")
    assert (root.level, list(root.handlers)) == before


def test_the_level_stays_where_a_worker_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "level", logging.WARNING)
    listen()
    assert root.level == logging.INFO
    monkeypatch.setattr(root, "setLevel", lambda level: pytest.fail("set again"))
    with collected():
        pass
    root.level = logging.DEBUG
    with collected():
        assert root.level == logging.DEBUG


def test_only_parents_of_workers_listen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of a user's that executes cases is prepared, too."""
    root = logging.getLogger()
    monkeypatch.setattr(exporting, "warm", lambda: None)
    compiled = [kind for kind in kinds.every() if isinstance(kind, CompiledKind)]
    assert len(compiled) > 2
    for kind in compiled:
        monkeypatch.setattr(root, "level", logging.WARNING)
        kind.prepare()
        assert root.level == logging.WARNING
        kind.warm()
        assert root.level == logging.INFO


def test_unformattable_records_are_reported_as_logging_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those of pytest raise.
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with collected() as texts:
        logged(tmp_path / "legalize_ops" / "nn.py", "logging.info('%s and %s', 1)")
    assert not texts
    assert "Logging error" in capsys.readouterr().err


def test_the_reason_is_what_names_the_operator() -> None:
    texts = ("conv1d does not", "TOPI conv1d_transpose does not", "dilation")
    naming = f"{LOGGED}TOPI conv1d_transpose does not"
    assert reason("relax.nn.conv1d_transpose", texts) == naming
    assert reason("relax.nn.relu", texts[1:]) == naming
    assert reason("relax.nn.relu", ()) == ""


def test_the_line_that_logs_the_reason_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "site-packages" / "tvm" / "relax" / "transform" / "legalize_ops" / "nn.py"
    with collected() as texts:
        logged(file, "logging.info('relu is one reason')")
        logged(file, "\n\ndef lower(): logging.info('softmax is another')\nlower()")
        logged(file, "\nlogging.info('relu is one reason')")
    path = "python/tvm/relax/transform/legalize_ops/nn.py"
    assert reason_line("relax.nn.softmax", texts) == SourceLine(path, 4, "lower")
    assert reason_line("relax.nn.relu", texts) == SourceLine(path, 2, "<module>")
    assert reason_line("relax.nn.relu", {}) is None
    with collected() as texts:
        logged(tmp_path / "legalize_ops" / "nn.py", "logging.info('none of its own')")
    assert texts == {"none of its own": None}


WITHOUT_A_WORD = (
    "broadcast-symbols",
    "broadcast-to-value",
    "onnx-concat-sizes-not-proved",
    "onnx-range-of-a-size",
    "reshape-to-sizes-in-a-tensor",
    "shape-of-broadcast",
    "slice-of-values-unlowered",
    "slice-to-far-end",
)
"""Calls whose results have no known shape: TVM passes over them and logs nothing."""


def test_every_silent_bail_of_the_corpus_has_its_reason() -> None:
    bails = [
        entry
        for entry in entries()
        if entry.expected.outcome is not None
        and entry.expected.outcome.verdict is Verdict.SILENT_BAIL
        and entry.name not in WITHOUT_A_WORD
    ]
    assert len(bails) >= 10
    for bail in bails:
        assert bail.expected.outcome is not None
        assert bail.expected.outcome.cause.startswith(LOGGED), bail.name
