"""Releases side by side: what there is of each, how one is made, and what is said where it fails.

The interpreters are scripts that say what the real ones would; no package is downloaded.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.harness.paths import WORKING
from relaxcheck.harness.releases import releases
from relaxcheck.harness.releases.installing import _alone, install
from relaxcheck.harness.releases.releases import (
    FOLDER_VARIABLE,
    LOCAL,
    Release,
    ReleaseError,
    State,
)
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from relaxcheck.harness.workers.starting import PoolError

OTHER = next(name for name in releases.supported() if name != releases.own().name)

WORKS = 'echo "$@" >> "$(dirname "$0")/calls"\n'
NO_TVM = 'case "$*" in *zygote*) echo "ImportError: undefined symbol" >&2; exit 1;; esac\n'
NO_INDEX = """case "$*" in *" install "*)
  echo "Collecting apache-tvm"
  echo "ERROR: No matching distribution found for apache-tvm"
  echo "and a remark" >&2
  exit 1;;
esac
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def fake(place: Path, script: str, name: str = OTHER) -> Path:
    """An environment whose Python is ``script``, as an interruption might leave it."""
    python = place / name / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\n{script}")
    python.chmod(0o755)
    return python


def relaxcheck(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def test_each_state_is_distinguished_from_the_others(place: Path) -> None:
    assert releases.state(OTHER) is State.MISSING
    fake(place, WORKS)
    assert releases.state(OTHER) is State.HALF
    (place / OTHER / "ready").write_text("another digest")
    assert releases.state(OTHER) is State.STALE
    releases.declare_ready(OTHER)
    assert releases.state(OTHER) is State.READY
    assert releases.state(releases.own().name) is State.OWN


def test_every_state_but_a_ready_one_names_the_command(place: Path) -> None:
    command = f"relaxcheck releases install {OTHER}$"
    with pytest.raises(ReleaseError, match=f"TVM {OTHER} is not installed; run: {command}"):
        releases.release(OTHER)
    python = fake(place, WORKS)
    with pytest.raises(ReleaseError, match=f"is half made; run: {command}"):
        releases.release(OTHER)
    releases.declare_ready(OTHER)
    assert releases.release(OTHER) == Release(OTHER, python)


def test_a_release_without_constraints_is_unknown() -> None:
    with pytest.raises(ReleaseError, match=r"no release '0\.1'; supported are 0\.25, 0\.26, 0\.27"):
        releases.release("0.1")


def test_releases_are_in_their_order() -> None:
    assert releases.supported() == ("0.25", "0.26", "0.27")
    names = ["0.100", "0.9", LOCAL, "0.27"]
    assert sorted(names, key=releases._order) == ["0.9", "0.27", "0.100", LOCAL]


def test_the_engine_runs_its_own_release() -> None:
    own = releases.own()
    assert own == Release(own.name, Path(sys.executable), own=True)
    assert releases.release(own.name) == own


def test_a_build_on_the_path_is_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tvm").mkdir()
    (tmp_path / "tvm" / "__init__.py").touch()
    monkeypatch.delitem(sys.modules, "tvm", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert releases.own().name == LOCAL


def test_nothing_leads_the_workers_of_a_release_to_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", "elsewhere")
    monkeypatch.setenv("HOME", "home")
    other = releases.environment(Release(OTHER, tmp_path))
    assert "PYTHONPATH" not in other
    assert other["HOME"] == "home"
    assert other["TVM_NUM_THREADS"] == "1"
    assert releases.environment(releases.own())["PYTHONPATH"] == "elsewhere"


def test_the_engines_tvm_does_not_come_by_the_path_of_libraries(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for folder, library in (("tvm", "libtvm_runtime.so"), ("compiler", "libstdc++.so.6")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / library).touch()
    paths = f"{tmp_path / 'tvm'}:{tmp_path / 'compiler'}:"
    monkeypatch.setenv("LD_LIBRARY_PATH", paths)
    other = Release(OTHER, tmp_path)
    assert releases.environment(other)["LD_LIBRARY_PATH"] == str(tmp_path / "compiler")
    assert releases.environment(releases.own())["LD_LIBRARY_PATH"] == paths
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path / "tvm"))
    assert "LD_LIBRARY_PATH" not in releases.environment(other)


def test_all_is_what_is_installed(place: Path) -> None:
    with pytest.raises(ReleaseError, match="is all that is installed, so there is nothing to"):
        releases.named("all")
    fake(place, WORKS)
    releases.declare_ready(OTHER)
    both = releases.by_age((OTHER, releases.own().name))
    assert releases.named("all") == both
    assert releases.named(f"{both[1]}, {both[0]},{both[1]}") == both
    left = releases.left_out()
    assert len(left) == len(releases.known()) - 2
    assert all("is not installed, and is left out; run: relaxcheck rel" in line for line in left)


def test_two_installations_at_once_are_one_line(place: Path) -> None:
    fake(place, WORKS)
    with (
        _alone(OTHER),
        pytest.raises(
            ReleaseError,
            match=f"^TVM {OTHER} is being installed by another process; wait for its end$",
        ),
    ):
        install(OTHER, [], lambda line: None)
    assert releases.state(OTHER) is State.HALF
    assert install(OTHER, [], lambda line: None)


def lives(process: int) -> bool:
    """True if the process still has its files open; an unreaped one has not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def test_processes_of_a_killed_installation_keep_others_away(place: Path) -> None:
    script = f'case "$*" in *" install "*) echo $$ > {place}/pip; exec sleep 100;; esac\n'
    python = fake(place, script)
    code = (
        f"from relaxcheck.harness.releases.installing import install; install({OTHER!r}, [], print)"
    )
    first = subprocess.Popen([sys.executable, "-c", code], cwd=WORKING)
    pip = 0
    try:
        while not (place / "pip").exists() or not (place / "pip").read_text():
            assert first.poll() is None
            time.sleep(0.02)
        pip = int((place / "pip").read_text())
        first.kill()
        first.wait()
        python.write_text(f"#!/bin/sh\n{WORKS}")
        done = relaxcheck("releases", "install", OTHER)
        text = f"relaxcheck: TVM {OTHER} is being installed by another process; wait for its end\n"
        assert (done.exit_code, done.stderr) == (2, text)
        assert releases.state(OTHER) is State.HALF
    finally:
        first.kill()
        if pip:
            os.kill(pip, signal.SIGKILL)
    while lives(pip):
        time.sleep(0.02)
    assert install(OTHER, [], lambda line: None)


def test_the_log_holds_the_output_of_every_command(place: Path) -> None:
    fake(place, 'echo "said by $3"\n' + WORKS)
    (place / f"{OTHER}.log").write_text("an earlier installation\n")
    install(OTHER, ["--extra-index-url", "secret"], lambda line: None)
    log = (place / f"{OTHER}.log").read_text()
    assert log.count("said by ") == 2
    assert "-m pip install\nsaid by install\n" in log
    assert "-m relaxcheck.harness.workers.zygote --help\nsaid by --help\n" in log
    assert "earlier" not in log
    assert "secret" not in log


def test_a_partial_installation_is_completed(place: Path) -> None:
    python = fake(place, WORKS)
    text: list[str] = []
    assert install(OTHER, ["--no-index"], text.append)
    pip, worker = (python.parent / "calls").read_text().splitlines()[-2:]
    assert pip.startswith("-m pip install")
    assert f"--constraint {releases.constraints(OTHER)} --no-index --editable" in pip
    assert pip.strip().endswith("[prover]")
    assert worker == "-m relaxcheck.harness.workers.zygote --help"
    assert releases.state(OTHER) is State.READY
    assert text == ["trying a worker"]
    assert not install(OTHER, [], text.append)


def test_an_interruption_ends_pip_as_well(place: Path) -> None:
    fake(place, 'case "$*" in *" install "*) echo "Collecting x"; exec sleep 100;; esac\n')

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        install(OTHER, [], interrupt)
    # It was waited for.
    assert time.monotonic() - began < 30
    assert releases.state(OTHER) is State.HALF
    python = place / OTHER / "bin" / "python"
    python.write_text(f"#!/bin/sh\n{WORKS}")
    assert install(OTHER, [], lambda line: None)


def test_an_interrupted_installation_says_how_it_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*arguments: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr("relaxcheck.harness.releases.installing.install", interrupt)
    done = relaxcheck("releases", "install", OTHER)
    text = f"TVM {OTHER}: interrupted; to continue, run: relaxcheck releases install {OTHER}\n"
    assert (done.exit_code, done.stdout) == (130, text)


def test_a_venv_that_does_not_run_is_made_anew(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake(place, "exit 1\n")
    (place / OTHER / "left-over").touch()
    # Without pip a venv is made in no time, and all ends after it.
    quick = place / "python"
    quick.write_text(f'#!/bin/sh\nexec {sys.executable} "$@" --without-pip\n')
    quick.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(quick))
    text: list[str] = []
    with pytest.raises(ReleaseError, match="No module named pip"):
        install(OTHER, [], text.append)
    assert text[:2] == ["what is there does not run; made anew", "making a venv"]
    assert not (place / OTHER / "left-over").exists()
    assert releases.state(OTHER) is State.HALF


def test_the_error_of_pip_is_one_line(place: Path) -> None:
    fake(place, NO_INDEX)
    text: list[str] = []
    message = f"^TVM {OTHER}: No matching distribution found for apache-tvm \\(all of it: .*log\\)$"
    with pytest.raises(ReleaseError, match=message):
        install(OTHER, [], text.append)
    assert text == ["Collecting apache-tvm"]
    assert "and a remark" in (place / f"{OTHER}.log").read_text()
    assert releases.state(OTHER) is State.HALF


def test_an_environment_whose_worker_does_not_start_is_not_ready(place: Path) -> None:
    fake(place, NO_TVM)
    with pytest.raises(ReleaseError, match=f"^TVM {OTHER}: ImportError: undefined symbol"):
        install(OTHER, [], lambda line: None)
    assert releases.state(OTHER) is State.HALF


@pytest.mark.parametrize(
    ("python", "fragment"),
    [(NO_TVM, "ended: ImportError: undefined symbol"), (None, "cannot start the workers: ")],
    ids=["an import fails", "no interpreter"],
)
def test_a_worker_that_cannot_start_is_one_line(
    place: Path, python: str | None, fragment: str
) -> None:
    path = fake(place, python or "")
    if python is None:
        path.unlink()
    with pytest.raises(PoolError) as error:
        Pool(1, Limits(), release=Release(OTHER, path))
    line = str(error.value)
    assert line.startswith(f"TVM {OTHER}: ")
    assert fragment in line
    assert line.endswith(f"; run: relaxcheck releases install {OTHER}")


def test_a_missing_release_is_bad_input() -> None:
    done = relaxcheck("replay", "attention-window", "--tvm", OTHER)
    assert done.exit_code == 2
    wanted = f"relaxcheck: TVM {OTHER} is not installed; run: relaxcheck releases install {OTHER}\n"
    assert done.stderr == wanted


def test_arguments_for_pip_that_cannot_be_split_are_bad_input(place: Path) -> None:
    done = relaxcheck("releases", "install", OTHER, "--pip-args", "--find-links 'folder")
    assert (done.exit_code, done.stderr) == (2, "relaxcheck: --pip-args: No closing quotation\n")
    assert not list(place.iterdir())


def test_the_list_says_what_there_is(place: Path) -> None:
    fake(place, WORKS)
    done = relaxcheck("releases")
    assert done.exit_code == 0
    rows = {line.split()[0]: line for line in done.stdout.splitlines()[1:]}
    assert "half made" in rows[OTHER]
    assert "this environment" in rows[releases.own().name]
