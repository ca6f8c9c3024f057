"""Linked native code gives what the just-in-time compiler's gives."""

import msgspec
import pytest
from hypothesis import given, settings

from generators.axes import cases
from generators.families import family
from generators.program import Case
from harness import link
from harness.conduct import conduct
from harness.outcome import Verdict
from harness.pipelines import PIPELINES


def both(case: Case) -> list[tuple[Verdict, str | None, str]]:
    """What comes of ``case`` by the cheap way and by the plain one."""
    found = [conduct(case, plain=plain) for plain in (False, True)]
    return [(one.verdict, one.stage, one.message) for one in found]


@pytest.mark.parametrize("fixes_on", [True, False])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(case=cases(family("conv2d_transpose", tuple(PIPELINES))))
def test_verdicts_are_those_of_the_plain_way(fixes_on: bool, case: Case) -> None:
    cheap, plain = both(msgspec.structs.replace(case, fixes=fixes_on, opt_level=0))
    assert cheap == plain


def test_what_the_linker_refuses_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_LINKER", "false")
    executable = Compiled()
    with pytest.raises(link.LinkError, match="ld: "):
        link.linked(executable)


def test_without_a_linker_the_executable_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "_LINKER", None)
    executable = Compiled()
    assert link.linked(executable) is executable
    assert executable.mod.imports


class Compiled:
    """An executable with one native module, which writes an empty object file."""

    def __init__(self) -> None:
        self.mod = self
        self.kind = "llvm"
        self.imports = [self]

    def clear_imports(self) -> None:
        self.imports = []

    def write_to_file(self, path: str, kind: str) -> None:
        open(path, "w").close()
