"""Scripts for the analyzer of TIRx alone: they need nothing else, and show what is wrong."""

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from relaxcheck.generators.expressions.cases import ANALYZED
from relaxcheck.generators.expressions.language import Variable
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import ALONE, environment, release, state
from relaxcheck.reports.expressions.issue import issue_text, script_text
from tests.reports.expressions.test_issue import member, wrong

(TIRX,) = ALONE
installed = pytest.mark.skipif(not state(TIRX).usable, reason=f"not installed: {TIRX}")
VERSIONS = {"apache-tvm": "tirx 0.1.0a4"}
EXPRESSION, OTHER = "x // 2 + y * 3", "x // 2 + y"
BEFORE = (Variable("x", "int64", 8, 9), Variable("y", "int64", -7, -6))

ZERO = 'lambda *_: ir.IntImm("int64", 0)'
WRONG: Mapping[str, str] = {
    "simplify": f"sym.Analyzer.simplify = {ZERO}",
    "rewrite_simplify": f"sym.Analyzer.rewrite_simplify = {ZERO}",
    "canonical_simplify-validity": f"sym.Analyzer.canonical_simplify = {ZERO}",
    "const_int_bound": "sym.Analyzer.const_int_bound = lambda *_: sym.ConstIntBound(0, 3)",
    "modular_set": "sym.Analyzer.modular_set = lambda *_: sym.ModularSet(5, 1)",
    "int_set": "sym.Analyzer.int_set = lambda *_: sym.IntervalSet(*[ir.IntImm('int64', 3)] * 2)",
    "can_prove": "sym.Analyzer.can_prove = lambda *_: True",
    "can_prove-strong": "sym.Analyzer.can_prove = lambda *_: True",
    "can_prove_equal": "sym.Analyzer.can_prove_equal = lambda *_: True",
    "simplify-after-range": f"sym.Analyzer.simplify = {ZERO}",
    "try_compare": "sym.Analyzer.try_compare = lambda *_: sym.CompareResult.INCONSISTENT",
    "detect_linear_equation": "tirx.analysis.detect_linear_equation = lambda value, names: "
    "[ir.IntImm('int64', 2)] * (len(names) + 1)",
    "deduce_bound": "sym.deduce_bound = lambda *_: sym.IntervalSet(*[ir.IntImm('int64', 2)] * 2)",
    "iter_map_simplify": f"sym.iter_map_simplify = lambda *_: [({ZERO})()]",
    "restored": "sym.Analyzer.simplify = lambda *_: next(ANSWERS)",
}


def script(check: str, means: str = "range") -> str:
    text = "x < 2" if check == "deduce_bound" else EXPRESSION
    more = {} if check == "deduce_bound" else {"other": OTHER, "constraints": ["y > x"]}
    first = BEFORE if "-after-" in check else ()
    case = member(ANALYZED, text, means=means, **more)
    return script_text(case, wrong(check, *first), "A title", VERSIONS)


@pytest.mark.parametrize("check", [*WRONG, "fold", "detect_iter_map"])
def test_a_script_has_no_name_of_tvm_with_relax(check: str) -> None:
    for means in ("range", "scope", "bound", "nothing"):
        text = script(check, means)
        compile(text, "repro.py", "exec")
        assert "This script needs tvm_tirx." in text
        assert "Seen with apache-tvm-tirx 0.1.0a4." in text
        assert not re.search(r"\btvm\b(?!_)", text.replace("apache-tvm-tirx", ""))
        assert not re.search(r"\.bind\(|\.update\(|constraint_scope", text)


def test_a_context_has_the_ranges_in_the_way_of_the_case() -> None:
    assert script("simplify", "range").count("sym.RangeConstraint(") == 2
    assert script("simplify", "bound").count("sym.RangeConstraint(") == 2
    assert script("simplify", "scope").count("context = within(context, tirx.") == 4
    assert "sym.RangeConstraint(" not in script("simplify", "nothing")
    after = script("simplify-after-range")
    assert after.index('ir.IntImm("int64", -7)') < after.index("sync_constraint_context(context)")
    assert after.count("sym.RangeConstraint(") == 4


def test_an_issue_names_its_package_and_no_oracle() -> None:
    versions = {**VERSIONS, "numpy": "2.4.6", "torch": "not installed"}
    case = member(ANALYZED, EXPRESSION)
    outcome = wrong("simplify", message="gives 0")
    text = issue_text(case, outcome, "A title", "", versions, {}, None)
    assert "* apache-tvm-tirx 0.1.0a4\n* numpy 2.4.6\n" in text
    assert "torch" not in text


def _ended(text: str, folder: Path, before: str = "") -> tuple[int, str]:
    """The exit code and output of the script ``text`` in the environment, after ``before``."""
    there = release(TIRX, alone=True)
    lead = "import itertools\nfrom tvm_tirx import ir, sym, tirx\n"
    answers = 'ANSWERS = (ir.IntImm("int64", k) for k in itertools.count())\n'
    path = folder / "repro.py"
    path.write_text(f"{lead}{answers}{before}\n{text}")
    ended = subprocess.run(
        [there.python, path], capture_output=True, text=True, env=environment(there), cwd=folder
    )
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.slow
@installed
@pytest.mark.parametrize("check", WRONG)
def test_a_script_shows_a_wrong_answer_and_nothing_else(check: str, tmp_path: Path) -> None:
    for means in ("range", "scope", "bound", "nothing"):
        assert _ended(script(check, means), tmp_path) == (0, "right\n")
    code, output = _ended(script(check), tmp_path, WRONG[check])
    assert (code, output.startswith("wrong: ")) == (1, True), output


@pytest.mark.slow
@installed
def test_a_script_of_an_exception_raises_it(tmp_path: Path) -> None:
    outcome = Outcome(Verdict.OPAQUE_CRASH, "analysis", ANALYZED, "RuntimeError: no, never")
    text = script_text(member(ANALYZED, EXPRESSION, other=OTHER), outcome, "A title", VERSIONS)
    assert _ended(text, tmp_path) == (0, "right\n")
    raising = "def no(*_):\n    raise ValueError('no')\nsym.Analyzer.int_set = no"
    code, output = _ended(text, tmp_path, raising)
    assert (code, output) == (1, "raises ValueError: no\n")
