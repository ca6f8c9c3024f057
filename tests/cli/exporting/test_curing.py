"""The patch of an exported failure: that of the parts for its operators, or of whole fixes."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from relaxcheck.cli.actions.exporting import curing
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.known.corpus import PATCH, TEST
from relaxcheck.harness.releases.patched_copy import PatchedCopy
from relaxcheck.harness.triage.curing import Cure

PART, WHOLE = PatchedCopy("part", "#", reduced=True), PatchedCopy("whole", "#")


class Copies:
    """Answers as ``Workers`` does, and lists the operators that it was asked for."""

    def __init__(self, part: PatchedCopy, whole: PatchedCopy):
        self.part, self.whole = part, whole
        self.asked: list[tuple[str, ...]] = []

    def copy(self, name: str, fixes: Any, operators: tuple[str, ...]) -> tuple[PatchedCopy, Path]:
        self.asked.append(operators)
        copy = self.part if operators else self.whole
        return copy, Path(copy.text)


@pytest.mark.parametrize(
    ("part", "codes", "patch", "tries"),
    [
        (PART, {"part": 0, "whole": 0}, "part", 1),
        (PART, {"part": 1, "whole": 0}, "whole", 2),
        (PART, {"part": None, "whole": 0}, "whole", 2),
        (PART, {"part": 1, "whole": 1}, None, 2),
        # The part is the whole: a second run would say the same.
        (WHOLE, {"whole": 1}, None, 1),
        (WHOLE, {"whole": 0}, "whole", 1),
        (PatchedCopy("", "#"), {}, None, 1),
    ],
)
def test_whole_fixes_where_their_parts_are_no_cure(
    monkeypatch: pytest.MonkeyPatch,
    part: PatchedCopy,
    codes: dict[str, int | None],
    patch: str | None,
    tries: int,
) -> None:
    def script_of(case: Any, record: Any, name: str, folder: Path) -> Any:
        code = codes[str(folder)]
        if code is None:
            raise CaseError("it did not end in time")
        return SimpleNamespace(code=code)

    monkeypatch.setattr(curing, "script_of", script_of)
    monkeypatch.setattr(curing, "operators", lambda case: ("nn.softmax", "argmin"))
    monkeypatch.setattr(curing, "replace", lambda record, cure: record)
    monkeypatch.setattr(curing, "test_for_tvm", lambda case, record, name: name)
    copies: Any = Copies(part, WHOLE)
    anything: Any = None
    texts = curing.patch_of(Cure(("fix",)), anything, anything, "0.27", copies)
    assert copies.asked == [("relax.argmin", "relax.nn.softmax"), ()][:tries]
    if patch is None:
        assert texts == {}
    else:
        assert texts == {PATCH: patch, TEST: "#\ntest_nn_softmax_argmin"}
