"""Who may import whom, module by module: new modules are held to it without being listed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("fixes", "generators", "oracles", "harness", "reports")
"""From the bottom up: a room imports rooms below it."""

FRONTS = ("harness/cli/", "harness/pytest_plugin.py")
"""The command line and the pytest plugin stand on top of everything."""

IMPORTS_TVM = {
    "generators/algebra_emission.py",
    "generators/emission.py",
    "harness/compile.py",
    "harness/kernels.py",
    "harness/bisection/direct.py",
    "harness/late_linking.py",
    "harness/link.py",
    "harness/bisection/tracing.py",
}
"""Outside fixes/, the only modules that import TVM."""


def modules() -> list[str]:
    paths = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return [path.relative_to(ROOT).as_posix() for path in paths]


def imported(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / module).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def violations(module: str, names: Iterator[str]) -> list[str]:
    room = module.partition("/")[0]
    above = set(ROOMS[ROOMS.index(room) + 1 :])
    found = []
    for name in names:
        top = name.partition(".")[0]
        if top in above and not (module.startswith(FRONTS) and top == "reports"):
            found.append(f"{module} imports {name}, which is above it")
        if top in ("tvm", "tvm_ffi") and room != "fixes" and module not in IMPORTS_TVM:
            found.append(f"{module} imports {name}")
    return found


@pytest.mark.parametrize("module", modules())
def test_a_module_imports_only_downwards(module: str) -> None:
    assert violations(module, imported(module)) == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("oracles/masks.py", "harness.outcome"),
        ("generators/layouts.py", "oracles"),
        ("fixes/fix.py", "generators.program"),
        ("harness/pool.py", "reports.summary"),
        ("generators/points.py", "tvm"),
        ("harness/gaps.py", "tvm.relax"),
        ("oracles/pytorch.py", "tvm_ffi"),
    ],
)
def test_an_import_upwards_or_of_tvm_is_seen(module: str, name: str) -> None:
    assert violations(module, iter([name]))


def test_no_operator_is_named_in_the_engine_or_the_reports() -> None:
    from generators.families import families

    operators = {
        word.rpartition(".")[2]
        for family in families(("build",))
        for word in (getattr(family, "operator", ""),)
    }
    assert operators >= {"attention", "conv2d_transpose"}
    for module in modules():
        if module.partition("/")[0] in ("harness", "reports"):
            text = (ROOT / module).read_text()
            assert not [name for name in operators if name in text], module


@pytest.mark.parametrize("module", ["harness.cli", "reports.repro"])
def test_what_runs_nothing_waits_for_no_library_that_takes_seconds(module: str) -> None:
    slow = ("tvm", "torch", "onnxruntime")
    script = f"import sys, {module}; print([name for name in {slow} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout.strip() == "[]"


def test_a_zygote_that_conducts_cases_in_its_own_way_imports_no_tvm() -> None:
    script = """
import sys, types
conduct = types.ModuleType("harness.conduct")
conduct.conduct = conduct.conduct_together = None
sys.modules["harness.conduct"] = conduct
import harness.zygote
print("tvm" in sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout.strip() == "False"
