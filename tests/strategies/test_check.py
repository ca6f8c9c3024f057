"""Use a case as a user does: build its module, check it, print the script that reproduces it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings

from relaxcheck import strategies
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.core.sampling import draw
from relaxcheck.harness.compiling import building
from relaxcheck.strategies import cases, check, expressions, module, programs, script

ROOT = Path(__file__).resolve().parents[2]

RELU = Program((Input("x", ("m", 4), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))

# Refused by every release: 7 elements are no 2 times 4.
BROKEN = Program(
    (Input("x", (7,), "float32"),),
    (Node("y", "reshape", ("x",), {"shape": ShapeValue((2, 4))}),),
    ("y",),
)


def test_the_module_of_a_program_has_its_inputs_as_parameters() -> None:
    main = module(RELU)["main"]
    assert [str(parameter) for parameter in main.params] == ["x"]
    assert "R.nn.relu" in str(main)


def test_every_drawn_program_has_a_module() -> None:
    for program in draw(programs(max_nodes=4), 40, 8):
        wanted = [each.name for each in program.inputs if not each.constant]
        parameters = [str(parameter) for parameter in module(program)["main"].params]
        assert parameters == wanted


@settings(max_examples=15, deadline=None)
# No matmul: over a dimension of size 0 TVM returns what the memory held before.
@given(cases(["add", "nn.relu", "subtract"], max_nodes=3, dtypes=["float32"]))
def test_correct_programs_pass(case: Case) -> None:
    check(case)


def test_a_right_expression_passes() -> None:
    for case in draw(expressions(), 5, 3):
        check(case)


def test_the_error_of_a_failure_has_a_script_that_fails(tmp_path: Path) -> None:
    case = Case("dynamic", BROKEN)
    with pytest.raises(AssertionError) as raised:
        check(case)
    text = str(raised.value)
    assert "This script reproduces it:" in text
    path = tmp_path / "repro.py"
    path.write_text(text.partition("This script reproduces it:\n\n")[2], encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1, ended.stderr
    assert "relaxcheck" not in path.read_text(encoding="utf-8")


def test_a_wrong_result_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    run = building.run

    def off_by_one(*arguments: object) -> object:
        return tuple(each + 1 for each in run(*arguments))  # type: ignore[arg-type]

    monkeypatch.setattr(building, "run", off_by_one)
    with pytest.raises(AssertionError, match="wrong-value"):
        check(Case("dynamic", RELU, bindings=({"m": 3},)))


def test_the_script_of_a_case_that_passes_says_so(tmp_path: Path) -> None:
    path = tmp_path / "repro.py"
    path.write_text(script(Case("dynamic", RELU, bindings=({"m": 2},))), encoding="utf-8")
    ended = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def _noted_by_a_failing_test(case: str) -> str:
    """The output of Hypothesis for a test that notes the script of ``case`` and then fails."""
    code = f"""
from hypothesis import given, settings, strategies as st
from relaxcheck import Case, strategies
from tests.strategies.test_check import RELU


@settings(database=None, max_examples=5)
@given(st.integers(0, 9))
def run(number):
    strategies.note_script({case})
    assert number > 9


run()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 1
    return ended.stderr


@pytest.mark.parametrize("case", ["RELU", 'Case("dynamic", RELU, bindings=({"m": 3},))'])
def test_a_failing_test_prints_the_script_of_what_it_notes(case: str) -> None:
    output = _noted_by_a_failing_test(case)
    assert "This script builds and runs the program:" in output
    assert "bb.emit(relax.op.nn.relu(x" in output
    assert "AssertionError" in output


def test_the_script_of_a_noted_example_is_made_only_for_the_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []
    monkeypatch.setattr(strategies, "script", made.append)

    @settings(max_examples=5, database=None)
    @given(programs(["nn.relu"], max_nodes=1))
    def run(program: Program) -> None:
        strategies.note_script(program)

    run()
    assert made == []


def test_a_program_without_sizes_runs_at_sizes_that_suit_it() -> None:
    quarters = Program(
        (Input("x", ("m",), "float32"),),
        (Node("y", "reshape", ("x",), {"shape": ShapeValue((4, "m//4"))}),),
        ("y",),
    )
    assert "# m = 4\n" in script(quarters)
    check(RELU)
    with pytest.raises(AssertionError, match="This script reproduces it:"):
        check(BROKEN)


def test_the_docstring_shows_the_names_that_there_are() -> None:
    assert strategies.__doc__ is not None
    used = set(re.findall(r"strategies\.(\w+)", strategies.__doc__))
    assert used <= set(strategies.__all__)
