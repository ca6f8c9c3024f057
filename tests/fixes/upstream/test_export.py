"""The patches apply to a copy of the installed TVM, which then works without the fixes."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from relaxcheck import fixes
from relaxcheck.fixes import upstream as patches
from relaxcheck.fixes.framework import installation
from relaxcheck.fixes.upstream.writing import INSTALLED, change, licence
from relaxcheck.generators.core.case import Mismatch
from relaxcheck.generators.core.program import Case
from relaxcheck.harness.known.corpus import entries
from relaxcheck.harness.paths import CHECKOUT, UPSTREAM_TESTS
from relaxcheck.harness.releases import patching
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool
from tests.fixes.truth import cures

_PASSES = {fix.name for fix in fixes.ALL if fix.passes}
_BY_PASSES = {name for name, parts in cures().items() if _PASSES & {fix for fix, _ in parts}}
# The patch lets FoldConstant pass; a shape that another call computes needs a pass as well.
_BY_PASSES.add("folded-shape-of-broadcast")
# A pass refuses these two, and names the symbol that nothing defines; TVM has no words for it.
_BY_PASSES |= {"derived-input-windows-alone", "derived-quotient"}
NAMES = [fix.name for fix in fixes.ALL if not fix.passes]


def copied(to: Path) -> Path:
    """A checkout of TVM at ``to``: the installed Python files, and links to all others."""
    for folder, _, files in os.walk(INSTALLED):
        there = to / "python" / "tvm" / Path(folder).relative_to(INSTALLED)
        there.mkdir(parents=True)
        for name in files:
            # With its time, so that its bytecode stays valid.
            copy = shutil.copy2 if name.endswith(".py") else os.symlink
            copy(Path(folder, name), there / name)
    return to


def upstream(names: Iterable[str]) -> dict[str, str]:
    return {f"tests/test_{name}.py": patching.test_file(name).read_text() for name in names}


def apply(patch: str, checkout: Path, *options: str) -> None:
    subprocess.run(
        ["git", "apply", *options, "-"], input=patch, text=True, check=True, cwd=checkout
    )


def ended(checkout: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run Python with ``command`` on the TVM of ``checkout``."""
    return subprocess.run(
        [sys.executable, *command],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout / "python")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def needed() -> list[str]:
    """The names of the fixes that this TVM needs and patches can make."""
    fixes.uninstall()
    names = {fix.name for fix in installation.needed_of(fixes.ALL)}
    return [name for name in NAMES if name in names]


@pytest.fixture(scope="module")
def patched(tmp_path_factory: pytest.TempPathFactory, needed: list[str]) -> Path:
    checkout = copied(tmp_path_factory.mktemp("patched"))
    apply(patches.unified_diff(needed, upstream(needed)), checkout)
    return checkout


def test_every_fix_has_a_recipe_and_a_test() -> None:
    names = {fix.name for fix in fixes.ALL if not fix.passes}
    assert {name for name, steps in patches.STEPS.items() if steps} == names
    assert {path.stem.removeprefix("test_") for path in UPSTREAM_TESTS.rglob("test_*.py")} == names


@pytest.mark.parametrize("name", NAMES)
def test_a_patch_goes_on_alone(plain: Path, needed: list[str], name: str) -> None:
    if name not in needed:
        pytest.skip("this TVM does not need it")
    patch = patches.unified_diff([name], upstream([name]))
    apply(patch, plain, "--check")
    added = [line[1:] for line in patch.splitlines() if re.match(r"\+(?!\+\+ )", line)]
    assert [line for line in added if len(line) > 100] == []
    assert [line for line in added if re.search(r"\bfixes\b|relaxcheck", line)] == []


@pytest.mark.slow
def test_new_files_have_the_licence_and_nothing_unused(needed: list[str]) -> None:
    result = change(tuple(needed))
    for file in set(result.files) - set(result.originals):
        text = result.files[file].text
        assert text.startswith(licence())
        tree = ast.parse(text)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        bound = {
            (alias.asname or alias.name).partition(".")[0]
            for node in ast.walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        assert bound <= used, file


@pytest.mark.slow
def test_the_corpus_passes_on_the_patched_copy_without_the_fixes(
    patched: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(patched / "python"), str(CHECKOUT)]))
    every = request.config.getoption("--repros-full")
    with Pool(1, Limits()) as pool:
        version = pool.environment["apache-tvm"]
        wanted, seen = {}, set()
        for entry in entries():
            if not isinstance(entry.case, Case):
                continue
            if entry.name in _BY_PASSES or isinstance(entry.case.expect, Mismatch):
                # Passes have no patches, and they alone detect wrong calls.
                continue
            off = entry.expected.verdict(version, fixes=False)
            operators = tuple(node.operator for node in entry.case.program.nodes)
            kind = (operators, entry.case.pipeline, off)
            if not every and (off == "pass" or kind in seen):
                continue
            seen.add(kind)
            wanted[entry.name] = entry.expected.verdict(version, fixes=True)
            pool.submit(Job(msgspec.structs.replace(entry.case, fixes=False), tag=entry.name))
        result = {job.tag: outcome.verdict for job, outcome in pool.drain()}
    assert len(wanted) > 10
    assert result == wanted


@pytest.mark.parametrize("name", NAMES)
def test_a_patch_alone_makes_its_test_pass(
    tmp_path: Path, plain: Path, needed: list[str], name: str, request: pytest.FixtureRequest
) -> None:
    if not request.config.getoption("--repros-full"):
        pytest.skip("imports TVM twice for each fix; --repros-full")
    if name not in needed:
        pytest.skip("this TVM does not need it")
    checkout = copied(tmp_path / "tvm")
    apply(patches.unified_diff([name], upstream([name])), checkout)
    test = (checkout / "tests" / f"test_{name}.py").read_text()
    (plain / "tests").mkdir(exist_ok=True)
    (plain / "tests" / f"test_{name}.py").write_text(test)
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/test_{name}.py")
    before, after = ended(plain, *command), ended(checkout, *command)
    # Some faults kill the process.
    assert before.returncode == 1 or before.returncode < 0, before.stdout
    assert after.returncode == 0, after.stdout
