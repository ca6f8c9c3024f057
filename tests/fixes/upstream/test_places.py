"""Steps of recipes say what they replace."""

import json
import subprocess
import sys

from relaxcheck import fixes
from relaxcheck.fixes import upstream
from relaxcheck.fixes.framework.patch import Override, Wrapping
from relaxcheck.harness.releases import patching

_ASK = """
import json, sys
import tvm
from tvm import relax
from tvm.ir import Op
pairs = json.loads(sys.argv[1])
print(json.dumps([Op.get(operator).get_attr(key) is not None for operator, key in pairs]))
"""
"""Asked of a fresh process, where no fix is on."""


def test_an_override_says_if_something_is_registered() -> None:
    overrides = {
        (operator, step.key): step.registered
        for fix in fixes.ALL
        for step in fix.patch
        if isinstance(step, Override)
        for operator in step.operators
    }
    command = [sys.executable, "-c", _ASK, json.dumps(list(overrides))]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(there) == list(overrides.values())
    assert not all(overrides.values())


def test_a_note_names_operators_where_only_some_are_over_cpp() -> None:
    (over,) = upstream.STEPS["convert_layout_packed"]
    mixed = [*upstream.STEPS["unlowered"], over]
    assert upstream.over_cpp([over])
    assert not upstream.over_cpp(mixed)
    assert not upstream.over_cpp([])
    assert upstream.note_on_cpp([over]).startswith("The fault is in C++. This changes no C++")
    assert upstream.note_on_cpp(mixed).startswith("The fault of relax.nn.conv1d, relax.nn.conv2d")
    assert upstream.note_on_cpp(upstream.STEPS["unlowered"]) == ""


def test_a_fix_of_several_faults_is_reduced_to_operators() -> None:
    (grid,) = upstream.steps_for("tables", ("relax.meshgrid", "relax.add"))
    assert isinstance(grid, Wrapping)
    assert grid.operator == "relax.meshgrid"
    assert upstream.note_on_cpp([grid]) == ""
    # None of its steps is for these.
    assert upstream.steps_for("tables", ("relax.add",)) == upstream.STEPS["tables"]
    # A check names a constructor; what it imports is for every operator.
    checked = upstream.steps_for("pixel_shuffle", ("relax.nn.pixel_shuffle",))
    assert checked == upstream.STEPS["pixel_shuffle"]


def test_a_fix_of_one_fault_stays_whole() -> None:
    name = "convert_layout_packed"
    assert upstream.steps_for(name, ("relax.nn.conv1d",)) == upstream.STEPS[name]
    (both,) = (fix for fix in fixes.ALL if fix.name == "softplus")
    assert both.mends_one_fault
    assert upstream.steps_for("softplus", both.operators[:1]) == both.patch


def test_a_reduced_patch_names_its_operators_and_has_no_test_of_others() -> None:
    diff = upstream.unified_diff(["tables"], {}, ("relax.meshgrid",))
    assert "tables.as_tuple" in diff
    assert "eye_like" not in "".join(line for line in diff.splitlines() if line.startswith("+"))
    whole, part = (
        patching.patched(["tables"], of).patches[0].text for of in ((), ("relax.median",))
    )
    assert "test_tables.py" in whole
    assert "this is the part" not in whole
    assert "test_tables.py" not in part
    assert "Of tables, this is the part for relax.median." in part
    assert part.count('-register_legalize("') + part.count("+@tables.") == 1
