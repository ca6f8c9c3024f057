"""A pipeline of a user's own compiles cases; what is wrong with it is said."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from relaxcheck.extensions.naming import ExtensionError
from relaxcheck.extensions.pipelines import allow
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.extending.preparing import prepare
from relaxcheck.harness.kinds import of
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from tests.extensions.packages import reachable

pytestmark = pytest.mark.tvm

MODULE = """
import tvm
from tvm import relax

calls = []

def default(target):
    calls.append(str(target.kind))
    return relax.get_default_pipeline(target)

def plain():
    return relax.get_pipeline("default")

def raising(target):
    raise ValueError("no passes today")

def nothing(target):
    return None

@tvm.transform.module_pass(opt_level=0, name="LoseRelu")
def lose(module, context):
    builder, parameters = relax.BlockBuilder(), list(module["main"].params)
    with builder.function("main", parameters):
        with builder.dataflow():
            output = builder.emit_output(parameters[0])
        builder.emit_func_output(output)
    return builder.finalize()

def wrong(target):
    return tvm.transform.Sequential([lose, relax.get_default_pipeline(target)])
"""


@pytest.fixture(autouse=True)
def named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_compiler.py").write_text(MODULE)
    with reachable(tmp_path, monkeypatch):
        names = ("default", "plain", "raising", "nothing", "wrong")
        allow(f"own_compiler:{name}" for name in names)
        yield


def case(function: str) -> Case:
    member = family("relu", ("build",))
    made = member.build(complete(member.axes, {}), 0)
    assert isinstance(made, Case)
    return msgspec.structs.replace(made, pipeline=f"own_compiler:{function}")


def run(function: str) -> Outcome:
    return of(case(function)).execute(case(function), lambda stage: None)


def test_its_function_gets_the_target_or_nothing() -> None:
    import own_compiler  # type: ignore[import-not-found]

    assert run("default").verdict is Verdict.PASS
    assert own_compiler.calls == ["llvm"]
    assert run("plain").verdict is Verdict.PASS


def test_what_it_makes_wrong_is_found() -> None:
    assert run("wrong").verdict is Verdict.WRONG_VALUE


def test_its_own_exception_is_its_stage() -> None:
    outcome = run("raising")
    assert (outcome.verdict, outcome.stage) == (Verdict.OPAQUE_CRASH, "own_compiler:raising")
    assert "no passes today" in outcome.message


def test_a_result_that_is_no_pass_is_bad_input() -> None:
    with pytest.raises(CaseError, match=r"own_compiler:nothing: it returned a NoneType; return a "):
        run("nothing")


def test_a_case_that_nobody_named_is_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CaseError, match="name it: --pipeline own_compiler:calls"):
        run("calls")


def test_several_cases_are_compiled_together() -> None:
    cases = [case("wrong"), case("default"), msgspec.structs.replace(case("default"), seed=1)]
    ended = of(cases[0]).execute_together(cases, lambda number, stage: None)
    assert [each.verdict for each in ended] == [Verdict.WRONG_VALUE, Verdict.PASS, Verdict.PASS]


def test_workers_start_only_if_all_can_be_imported() -> None:
    prepare()
    allow(["own_compiler:gone"])
    with pytest.raises(ExtensionError, match=r"own_compiler\.py defines no gone"):
        prepare()


@pytest.mark.parametrize("name", ["onnx-Relu", "torch-nn.functional.relu"])
def test_imported_programs_are_compiled_by_it(name: str) -> None:
    from relaxcheck.harness import kinds

    made = kinds.family(name, ("own_compiler:default",))
    drawn = made.build({axis.name: axis.default for axis in made.axes}, 0)
    assert drawn.pipeline == "own_compiler:default"  # type: ignore[attr-defined]
    import own_compiler

    assert of(drawn).execute(drawn, lambda stage: None).verdict is Verdict.PASS
    assert own_compiler.calls
