"""Linked native code gives what the just-in-time compiler's gives."""

from typing import Any

import msgspec
import numpy as np
import pytest
import tvm
from hypothesis import given, settings
from hypothesis import strategies as st
from tvm import relax

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.core.values import Array
from relaxcheck.generators.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.native import link
from relaxcheck.harness.native.target import target
from relaxcheck.harness.outcomes.outcome import Check, Verdict
from relaxcheck.harness.programs.execute import execute


def both(case: Case) -> list[tuple[Verdict, str | None, str, tuple[Check, ...]]]:
    """The outcomes of ``case`` by the cheap way and by the plain one."""
    results = [execute(case, plain=plain) for plain in (False, True)]
    return [
        (outcome.verdict, outcome.stage, outcome.message, outcome.checks) for outcome in results
    ]


ANY = st.one_of(cases(family) for family in families(tuple(PIPELINES)))


@pytest.mark.parametrize("fixes_on", [True, False])
@settings(max_examples=20, deadline=None, derandomize=True)
@given(case=ANY)
def test_linked_outcomes_are_those_of_the_plain_way(fixes_on: bool, case: Case) -> None:
    cheap, plain = both(msgspec.structs.replace(case, fixes=fixes_on, opt_level=0))
    assert cheap == plain


def test_errors_of_the_linker_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
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


def constant(values: Array) -> Any:
    """An executable without native code that returns ``values``."""
    builder = relax.BlockBuilder()
    with builder.function("main", []):
        builder.emit_func_output(relax.const(values))
    return relax.build(builder.get(), target(0))


def test_an_executable_without_code_is_saved_and_loaded_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tvm.support.cc, "create_shared", lambda *_, **__: pytest.fail("a compiler"))
    values = np.arange(6, dtype="float32").reshape(2, 3)
    machine = relax.VirtualMachine(link.linked(constant(values)), tvm.cpu())
    assert (machine["main"]().numpy() == values).all()


def test_a_constant_without_elements_fails_to_load_as_it_does_for_users() -> None:
    executable = constant(np.zeros((2, 0), "float32"))
    with pytest.raises(Exception, match="Check failed") as ours:
        link.linked(executable)
    with pytest.raises(Exception, match="Check failed") as theirs:
        executable.jit()
    assert type(ours.value) is type(theirs.value)
