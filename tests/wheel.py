"""A wheel of this checkout, installed beside a project whose folders have our rooms' names."""

import os
import shutil
import site
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("fixes", "generators", "harness", "oracles", "reports")
_SOURCES = ("relaxcheck", *ROOMS, "corpus", "pyproject.toml", "README.md", "LICENSE")


def build(folder: Path) -> Path:
    """The wheel, built from a copy of the sources: setuptools leaves files beside them."""
    sources = folder / "sources"
    sources.mkdir(parents=True)
    for name in (*_SOURCES, *(path.name for path in ROOT.glob("constraints*.txt"))):
        _copy(ROOT / name, sources / name)
    for_tvm = Path("tests", "fixes", "upstream", "for_tvm")
    _copy(ROOT / for_tvm, sources / for_tvm)
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    wanted = ["--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(sources)]
    subprocess.run([*pip, *wanted], check=True, capture_output=True, text=True)
    (wheel,) = folder.glob("relaxcheck-*.whl")
    return wheel


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


@dataclass(frozen=True, slots=True)
class Installed:
    """relaxcheck in the environment ``folder``, and a project that is the working directory."""

    folder: Path
    project: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in the project. Raises where it exits otherwise."""
        hidden = ("PYTHON", "RELAXCHECK_", "PYTEST_")
        kept = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
        return subprocess.run(
            [str(self.folder / "bin" / command[0]), *command[1:]],
            cwd=self.project,
            env={**kept, "XDG_CACHE_HOME": str(self.folder / "cache")},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )


def install(wheel: Path, folder: Path) -> Installed:
    """Install ``wheel`` into a new environment that sees the packages of this one, but not ours."""
    environment, project = folder / "environment", folder / "project"
    venv.create(environment, symlinks=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    # Debian's Python names folders that an environment does not have.
    for path in filter(Path.is_dir, map(Path, site.getsitepackages())):
        for package in path.iterdir():
            if "relaxcheck" not in package.name and package.suffix != ".pth":
                (packages / package.name).symlink_to(package)
    python = environment / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, capture_output=True, text=True)
    for room in ROOMS:
        (project / room).mkdir(parents=True)
        (project / room / "__init__.py").write_text('OWNER = "the user"\n')
    return Installed(environment, project)
