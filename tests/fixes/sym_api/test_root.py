"""The package that is TVM in an environment."""

import subprocess
import sys
from collections.abc import Collection
from importlib import util
from typing import Any

import pytest

from relaxcheck.fixes.sym_api import root


@pytest.mark.parametrize(
    ("installed", "chosen", "name"),
    [
        (("tvm",), "", root.TVM),
        (("tvm_tirx",), "", root.TIRX),
        (("tvm", "tvm_tirx"), "", root.TVM),
        (("tvm", "tvm_tirx"), root.TIRX, root.TIRX),
        ((), "", root.TVM),
    ],
)
def test_tirx_is_the_root_where_it_is_alone_or_chosen(
    installed: Collection[str], chosen: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(package: str) -> Any:
        return package if package in installed else None

    monkeypatch.setattr(util, "find_spec", find)
    monkeypatch.setenv(root.VARIABLE, chosen)
    assert root.name() == name
    assert root.has_relax() is (name == root.TVM)


def test_the_fixes_are_loaded_by_their_first_use() -> None:
    script = """
import sys
from relaxcheck import fixes
from relaxcheck.fixes.sym_api import root
print("tvm" in sys.modules, "install" in dir(fixes))
try:
    fixes.no_such_name
except AttributeError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.stdout.splitlines() == [
        "False True",
        "module 'relaxcheck.fixes' has no attribute 'no_such_name'",
    ]
