"""Scripts of exports: how they end, against the verdict that they show."""

from pathlib import Path

import pytest

from relaxcheck.cli.actions.exporting import folder as writing
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.known.corpus import Record
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import own
from relaxcheck.harness.triage import scripts
from tests.cli.exporting.test_exporting import LEFT, failing


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("print('all is well')", "exited with 0, not with 1: all is well"),
        ("raise SystemExit(1)", "exited with 1, not with 0"),
        ("import time; time.sleep(60)", "did not end in"),
        ("import no_such_module", "raised instead of showing silent-bail: ModuleNotFoundError"),
    ],
)
def test_a_script_that_does_not_exit_as_it_should(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    monkeypatch.setattr(scripts, "BESIDES", 3.0)
    monkeypatch.setattr(writing, "rendered", lambda *_: {"repro.py": script})
    outcome = Outcome(Verdict.PASS) if "raise" in script else LEFT
    record = Record("It breaks", None, {}, outcome=outcome, seconds=0)

    def ran() -> None:
        ended = writing.script_of(failing(), record, own().name)
        writing.check_script(tmp_path / "repro.py", record, ended)

    with pytest.raises(CaseError, match=message):
        ran()
