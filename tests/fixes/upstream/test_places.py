"""Steps of recipes say what they replace."""

import json
import subprocess
import sys

from relaxcheck import fixes
from relaxcheck.fixes import upstream
from relaxcheck.fixes.framework.patch import Override

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
