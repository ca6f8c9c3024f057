"""KV caches as text, titles and scripts; a script runs and says that the cache is right."""

import subprocess
import sys
from pathlib import Path

import pytest

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.operations import Add, Commit, Fork, Forward, Pop, Slide
from relaxcheck.generators.kvcache.settings import NORMAL, Limits, Model
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.reports.kvcache.rendering import RENDERING
from relaxcheck.reports.kvcache.script import script_text

CASE = KvCase(
    operations=(Add(0), Forward((0,), (3,)), Fork(0, 1, 2), Forward((0, 1), (1, 2))),
    limits=Limits(rope=NORMAL),
)
WRONG = Outcome(Verdict.WRONG_VALUE, "compare attention", "forward", "off")


def test_text_has_a_line_for_each_operation() -> None:
    lines = RENDERING.text(CASE).splitlines()
    assert lines[0] == "0: add(sequence=0)"
    assert lines[3] == "3: forward(sequences=[0, 1], lengths=[1, 2])"
    assert "RoPE normal" in lines[4]
    assert RENDERING.extent(CASE) == "4 operations, 6 tokens"


def test_titles_name_the_operation_and_those_before_it() -> None:
    title = RENDERING.title(CASE, WRONG, None, {"operations": "add, forward, fork, forward"})
    assert title == (
        "KV cache: forward gives wrong attention after add, forward, fork with rope=normal"
    )


def test_no_script_of_a_case_with_fixes() -> None:
    with pytest.raises(CaseError):
        script_text(KvCase(operations=(Add(0),), fixes=True), WRONG, "title", {})


@pytest.mark.tvm
@pytest.mark.slow
def test_a_script_runs_and_ends_well_where_nothing_is_wrong(tmp_path: Path) -> None:
    script = tmp_path / "repro.py"
    script.write_text(script_text(CASE, WRONG, "a title", {}))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "right" in done.stdout


@pytest.mark.parametrize(
    "operations",
    [
        (Add(0), Pop(0, 1)),
        (Add(0), Slide(0, 4, 1), Forward((0,), (6,))),
        (Add(0), Forward((0,), (3,), ((-1, 0, 0),)), Commit((0,), (2,))),
    ],
    ids=["refused", "window", "tree"],
)
def test_scripts_are_python(operations: tuple[object, ...]) -> None:
    windows = any(isinstance(each, Slide) for each in operations)
    for interface in ("kernels", "class"):
        case = KvCase(
            operations=operations,  # type: ignore[arg-type]
            model=Model(interface=interface),
            limits=Limits(windows=windows),
        )
        compile(script_text(case, WRONG, "a title", {}), "repro.py", "exec")
