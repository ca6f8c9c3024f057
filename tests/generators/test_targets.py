import msgspec
import pytest

from relaxcheck.generators.core.case import (
    CaseError,
    compiled_like,
    encode,
    target_of,
    with_fixes,
    with_target,
)
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.targets import LLVM, TARGETS
from relaxcheck.harness.kinds import decode

PROGRAM = Program((Input("x", (4,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
CASE = Case("exp", PROGRAM)


def test_the_target_of_a_case_round_trips_and_the_default_leaves_no_trace() -> None:
    assert target_of(CASE) == LLVM
    assert b'"target"' not in encode(CASE)
    for name in TARGETS:
        case = with_target(CASE, name)
        assert target_of(case) == name
        assert decode(encode(case)) == case
        assert (case.identifier == CASE.identifier) is (name == LLVM)
        assert with_target(case, LLVM) == CASE


@pytest.mark.parametrize(("name", "says"), [("llvm", "leave it out"), ("cobol", "unknown")])
def test_other_names_are_refused(name: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        msgspec.structs.replace(CASE, target=name)
    raw = msgspec.json.decode(encode(CASE)) | {"target": name}
    with pytest.raises(CaseError, match=says):
        decode(msgspec.json.encode(raw))


def test_a_case_of_a_point_is_compiled_as_another_is() -> None:
    other = with_target(with_fixes(CASE, True), "c")
    assert compiled_like(CASE, other) == other
