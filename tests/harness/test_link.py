"""Linked native code gives what the just-in-time compiler's gives."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from generators.axes import cases
from generators.families import families
from generators.program import Case
from harness import link
from harness.conduct import conduct
from harness.outcome import Check, Verdict
from harness.pipelines import PIPELINES


def both(case: Case) -> list[tuple[Verdict, str | None, str, tuple[Check, ...]]]:
    """What comes of ``case`` by the cheap way and by the plain one."""
    found = [conduct(case, plain=plain) for plain in (False, True)]
    return [(one.verdict, one.stage, one.message, one.checks) for one in found]


ANY = st.one_of(cases(one) for one in families(tuple(PIPELINES)))


@pytest.mark.parametrize("fixes_on", [True, False])
@settings(max_examples=20, deadline=None, derandomize=True)
@given(case=ANY)
def test_what_comes_of_a_case_is_what_comes_by_the_plain_way(fixes_on: bool, case: Case) -> None:
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
