"""The direction of imports, module by module; new modules are held to it without being listed."""

import ast
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from relaxcheck.generators.operators import OPERATORS

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("fixes", "generators", "oracles", "harness", "reports")
"""From the bottom up: a room imports rooms below it."""

FRONTS = ("cli", "pytest_plugin", "strategies", "__main__", "__init__")
"""Modules of the face, which stands on top of every room."""

IMPORTS_TVM = {
    "generators/emission/calls.py",
    "generators/emission/dims.py",
    "generators/emission/programs.py",
    "harness/expressions/kernels.py",
    "harness/compiling/building.py",
    "harness/compiling/kernels.py",
    "harness/compiling/watching.py",
    "harness/kvcache/kernels.py",
    "harness/kvcache/running.py",
    "harness/native/c_code.py",
    "harness/releases/doctor/looking.py",
    "harness/native/devices.py",
    "harness/native/checkers.py",
    "harness/native/opencl.py",
    "harness/compiling/direct.py",
    "harness/compiling/folded_code.py",
    "harness/compiling/holding.py",
    "harness/compiling/late_linking.py",
    "harness/compiling/extending/passes.py",
    "harness/compiling/passes/applying.py",
    "harness/compiling/passes/checks.py",
    "harness/compiling/passes/making.py",
    "harness/compiling/passes/stages.py",
    "harness/compiling/room.py",
    "harness/compiling/tracing.py",
    "harness/models/explaining/alone.py",
    "harness/models/compiling.py",
    "harness/models/forcing.py",
    "harness/models/frontends/onnx.py",
    "harness/models/frontends/recording.py",
    "harness/models/frontends/torch.py",
    "harness/models/meaning.py",
    "harness/models/explaining/traps.py",
    "harness/models/explaining/uses.py",
    "harness/onnx/importing.py",
    "harness/onnx/suite/claiming.py",
    "harness/onnx/suite/running.py",
    "harness/torch/dynamo.py",
    "harness/torch/importing.py",
    "harness/programs/compile.py",
    "harness/native/debug_info.py",
    "harness/native/link.py",
    "harness/native/target.py",
}
"""Outside fixes/, the only modules that import TVM."""


HOMONYMS = {
    # Storage is planned and freed by these, whatever the program computes.
    "harness/compiling/direct.py": {
        "builtin.alloc_tensor",
        "memory.alloc_storage",
        "memory.alloc_tensor",
        "memory.kill_storage",
        "memory.kill_tensor",
        "vm.alloc_storage",
        "vm.alloc_tensor",
        "vm.kill_object",
    },
    "harness/compiling/holding.py": {
        "builtin.alloc_tensor",
        "memory.alloc_storage",
        "memory.alloc_tensor",
    },
    # A kernel asks the virtual machine for its tensor, as compiled code does.
    "harness/expressions/kernels.py": {"builtin.alloc_tensor"},
    # Integer expressions have operators of their own.
    "reports/expressions/facts.py": {"equal"},
    "reports/expressions/source.py": {"max", "min"},
    # A script calls its module ``mod``, as TVM's own do; arrays have a ``size``.
    "reports/programs/repro.py": {"mod"},
    "reports/programs/python/names.py": {"mod", "size"},
    # An axis of drawn models has this name.
    "reports/imported.py": {"size"},
    "reports/onnx/titles.py": {"size"},
    # Functions of Python's module ``operator``.
    "reports/torch/calls.py": {"add", "mod"},
    # A function of Python's.
    "harness/onnx/unread/reads.py": {"print"},
}
"""Words of the engine and the reports that are names of operators too."""

MOST_FILES = 20
"""Modules that lie flat in one folder at most."""

MOST_LINES = 400
"""Lines of a module at most."""


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
    above = {*ROOMS[ROOMS.index(room) + 1 :], *FRONTS}
    offences = []
    for name in names:
        top, _, rest = name.partition(".")
        if top == "relaxcheck" and rest.partition(".")[0] in above:
            offences.append(f"{module} imports {name}, which is above it")
        if top in ROOMS:
            offences.append(f"{module} imports {name}, which is another project's")
        if top in ("tvm", "tvm_ffi", "tvm_tirx") and room != "fixes" and module not in IMPORTS_TVM:
            offences.append(f"{module} imports {name}")
    return offences


def test_modules_import_only_downwards() -> None:
    every = modules()
    assert {module.partition("/")[0] for module in every} == set(ROOMS)
    assert [line for module in every for line in violations(module, imported(module))] == []


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("oracles/reference/masks.py", "relaxcheck.harness.outcomes.outcome"),
        ("generators/core/layouts.py", "oracles"),
        ("fixes/framework/fix.py", "relaxcheck.generators.core.program"),
        ("harness/workers/pool.py", "relaxcheck.cli.terminal"),
        ("harness/workers/pool.py", "generators.core"),
        ("harness/workers/pool.py", "relaxcheck.reports.tables.summary"),
        ("generators/core/points.py", "tvm"),
        ("harness/known/gaps.py", "tvm.relax"),
        ("oracles/pytorch/evaluate.py", "tvm_ffi"),
    ],
)
def test_an_import_upwards_or_of_tvm_is_seen(module: str, name: str) -> None:
    assert violations(module, iter([name]))


def named(module: str, operators: Collection[str]) -> list[str]:
    """The operators that ``module`` names: as a text of its own, or by a dotted name anywhere."""
    text = (ROOT / module).read_text()
    texts = {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    return [name for name in operators if name in texts or ("." in name and name in text)]


def test_no_operator_is_named_in_the_engine_or_the_reports() -> None:
    rows = json.loads((ROOT / "reports/operators/operators.json").read_text())["rows"]
    registered = {row["operator"] for row in rows}
    assert registered >= {*OPERATORS, "builtin.alloc_tensor", "einsum"}
    mentions = {
        module: named(module, registered - HOMONYMS.get(module, set()))
        for module in modules()
        if module.startswith(("harness/", "reports/"))
    }
    assert {module: names for module, names in mentions.items() if names} == {}


def test_every_homonym_is_still_there() -> None:
    assert {module: set(named(module, words)) for module, words in HOMONYMS.items()} == HOMONYMS


def test_an_operator_that_is_named_is_seen() -> None:
    module = "generators/operators/joining.py"
    assert set(named(module, ("concat", "nn.relu"))) == {"concat"}


@pytest.mark.parametrize("module", ["relaxcheck.cli", "relaxcheck.reports.programs.repro"])
def test_commands_that_run_nothing_import_no_slow_library(module: str) -> None:
    slow = ("tvm", "torch", "onnxruntime")
    script = f"import sys, {module}; print([name for name in {slow} if name in sys.modules])"
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout.strip() == "[]"


def test_the_kinds_of_cases_import_no_tvm_before_one_is_prepared() -> None:
    script = """
import sys
import relaxcheck.harness.workers.zygote
from relaxcheck.harness import kinds
kinds.every()
print("tvm" in sys.modules)
"""
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ended.stdout.strip() == "False"


def test_no_folder_holds_more_modules_than_a_reader_takes_in() -> None:
    flat = Counter(
        path.parent
        for room in (*ROOMS, "relaxcheck", "tests")
        for path in (ROOT / room).rglob("*.py")
        if not path.parent.is_relative_to(ROOT / "tests" / "corpus")
    )
    crowded = {str(folder): count for folder, count in flat.items() if count > MOST_FILES}
    assert flat
    assert crowded == {}


def test_no_module_is_longer_than_a_reader_takes_in() -> None:
    paths = [
        path
        for room in (*ROOMS, "relaxcheck", "tests")
        for path in (ROOT / room).rglob("*.py")
        if not path.is_relative_to(ROOT / "tests" / "corpus")
    ]
    lines = {str(path.relative_to(ROOT)): path.read_text().count("\n") for path in paths}
    assert len(lines) > 500
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}
