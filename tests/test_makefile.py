"""Targets of the Makefile install as much as they need, and announce it."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CPU_WHEELS = "URL"

PIP = """#!/bin/sh
echo "pip $*"
exit {code}
"""


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    # `make test` hands its own variables down.
    handed = ("MAKE", "MFLAGS", "PIP_", "MINUTES", "FIXES", "ARGS")
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith(handed)},
        capture_output=True,
        text=True,
    )


def planned(target: str, environment: Path) -> str:
    """Return the commands that ``target`` would run, with nothing installed in ``environment``."""
    ended = make("--dry-run", target, f"VENV={environment}")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """An environment whose pip installs nothing, and whose relaxcheck finds nothing."""
    programs = tmp_path / "venv" / "bin"
    programs.mkdir(parents=True)
    _program(programs / "pip", PIP.format(code=0))
    _program(programs / "relaxcheck", '#!/bin/sh\necho "relaxcheck $*"\n')
    return programs.parent


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_fuzz_installs_what_the_package_depends_on_and_no_more(tmp_path: Path) -> None:
    plan = planned("fuzz", tmp_path / "venv")
    assert "--editable ." in plan
    assert "[dev]" not in plan


@pytest.mark.parametrize(
    "target", ["test", "test-all", "test-fast", "quality", "bench", "zoo", "lint"]
)
def test_other_targets_add_the_tools_of_development(target: str, tmp_path: Path) -> None:
    plan = planned(target, tmp_path / "venv")
    assert plan.index("--editable .") < plan.index("'.[dev]'")


def test_the_zoo_adds_the_packages_of_its_models_with_their_pins(tmp_path: Path) -> None:
    plan = planned("zoo", tmp_path / "venv")
    assert plan.index("'.[dev]'") < plan.index("--constraint tests/zoo/constraints.txt")
    assert "--editable '.[zoo]'" in plan
    assert "python -m tests.zoo --tvm all" in plan


def test_fuzz_says_first_what_it_installs_and_why(environment: Path) -> None:
    ended = make("fuzz", f"VENV={environment}", "PYTHON=true")
    assert ended.returncode == 0, ended.stderr
    announced, _, rest = ended.stdout.partition("pip install")
    assert "about 1.5 GB on disk" in announced
    for package in ("apache-tvm", "torch (CPU)", "onnxruntime", "numpy", "hypothesis"):
        assert package in announced
    assert "relaxcheck fuzz --minutes 5" in rest
    again = make("fuzz", f"VENV={environment}", "PYTHON=true")
    assert again.stdout.startswith("relaxcheck fuzz")


def test_tests_add_to_the_environment_of_fuzz(environment: Path) -> None:
    (environment / "ready").touch()
    plan = planned("test", environment)
    assert "-m venv" not in plan
    assert "'.[dev]'" in plan


def test_a_failure_of_pip_names_the_index_of_pytorch(environment: Path) -> None:
    _program(environment / "bin" / "pip", PIP.format(code=1))
    ended = make("fuzz", f"VENV={environment}", "PYTHON=true")
    assert ended.returncode == 2
    assert f"make fuzz PIP_ARGS='--extra-index-url {CPU_WHEELS}'" in ended.stderr
    assert not (environment / "ready").exists()
    assert "relaxcheck fuzz" not in ended.stdout


def test_pip_gets_the_arguments_that_are_given(environment: Path) -> None:
    ended = make("fuzz", f"VENV={environment}", "PYTHON=true", "PIP_ARGS=--find-links wheels")
    assert "--constraint constraints-0.27.txt --find-links wheels --editable ." in ended.stdout
