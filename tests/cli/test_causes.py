"""Names of findings on the command line."""

import pytest

from relaxcheck.cli import causes


def test_an_entry_that_cannot_be_read_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "corpus/toy/broken/case.json: malformed [case] " + "x" * 200
    monkeypatch.setattr(causes, "bundled_causes", lambda findings, versions: ({}, (line,)))
    assert causes.known_causes([], ()) == {}
    captured = capsys.readouterr()
    assert captured.out == ""
    want = f"relaxcheck: {line}; no finding has a name from there\n"
    assert captured.err == want
