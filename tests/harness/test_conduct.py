"""What TVM raised becomes the verdict that says so."""

import pytest

from generators.axes import complete
from generators.families import family
from harness import compile as compiling
from harness.compile import StageError
from harness.conduct import conduct
from harness.outcome import Verdict
from harness.pipelines import PIPELINES

MEMBER = family("attention", tuple(PIPELINES))
CASE = MEMBER.build(complete(MEMBER.axes, {}), 0)


@pytest.mark.parametrize(
    ("cause", "verdict"),
    [
        (MemoryError("no room"), Verdict.OUT_OF_MEMORY),
        (
            RuntimeError("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 8 TiB"),
            Verdict.OUT_OF_MEMORY,
        ),
        (RuntimeError("Check failed: false"), Verdict.OPAQUE_CRASH),
        (
            NotImplementedError("relax.nn.attention with scale=0.5 is not supported"),
            Verdict.UNSUPPORTED,
        ),
    ],
)
def test_what_was_raised_decides_the_verdict(
    cause: Exception, verdict: Verdict, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StageError("LegalizeOps", cause)

    monkeypatch.setattr(compiling, "build", fails)
    outcome = conduct(CASE)
    assert (outcome.verdict, outcome.stage) == (verdict, "LegalizeOps")
    assert str(cause) in outcome.message
