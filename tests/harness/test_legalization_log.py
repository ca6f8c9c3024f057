"""What TVM's legalizations log is collected, and nothing else is."""

import logging
from pathlib import Path

import pytest

from harness.corpus import entries
from harness.legalization_log import LOGGED, collected, reason_in, with_reason
from harness.outcome import Verdict


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
    assert texts == ["no chunks", "nor that"]
    assert (root.level, list(root.handlers)) == before
    logged(tmp_path / "legalize_ops" / "nn.py", "logging.info('too late')")
    assert texts == ["no chunks", "nor that"]


def test_the_level_is_put_back_after_an_exception() -> None:
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    with pytest.raises(ValueError, match="x"), collected():
        raise ValueError("x")
    assert (root.level, list(root.handlers)) == before


def test_what_cannot_be_formatted_is_told_as_logging_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Those of pytest raise.
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    with collected() as texts:
        logged(tmp_path / "legalize_ops" / "nn.py", "logging.info('%s and %s', 1)")
    assert texts == []
    assert "Logging error" in capsys.readouterr().err


def test_the_reason_is_what_names_the_operator() -> None:
    texts = ("conv1d does not", "TOPI conv1d_transpose does not", "dilation")
    said = with_reason("left: R.x", "relax.nn.conv1d_transpose", texts)
    assert said == f"left: R.x\n{LOGGED}TOPI conv1d_transpose does not"
    assert reason_in(said) == f"{LOGGED}TOPI conv1d_transpose does not"
    assert reason_in(with_reason("left: R.x", "relax.nn.relu", texts[1:])) == (
        f"{LOGGED}TOPI conv1d_transpose does not"
    )
    assert reason_in(with_reason("left: R.x", "relax.nn.relu", ())) == ""


WITHOUT_A_WORD = (
    "broadcast-symbols",
    "shape-of-broadcast",
    "slice-of-values-unlowered",
    "slice-to-far-end",
)
"""Calls whose results have no known shape: TVM passes over them and logs nothing."""


def test_every_silent_bail_of_the_corpus_has_its_reason() -> None:
    bails = [
        one
        for one in entries()
        if one.expected.outcome is not None
        and one.expected.outcome.verdict is Verdict.SILENT_BAIL
        and one.name not in WITHOUT_A_WORD
    ]
    assert len(bails) >= 10
    for one in bails:
        assert one.expected.outcome is not None
        assert reason_in(one.expected.outcome.message), one.name
