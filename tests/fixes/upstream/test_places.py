"""Steps of recipes say what they replace."""

import json
import subprocess
import sys

from relaxcheck import fixes
from relaxcheck.fixes.framework.patch import Override

_ASK = """
import json, sys
import tvm
from tvm import relax
from tvm.ir import Op
print(json.dumps([Op.get(operator).has_attr(key) for operator, key in json.loads(sys.argv[1])]))
"""
"""Where a fix was on before, TVM keeps an attribute without a value: ask a fresh process."""


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
