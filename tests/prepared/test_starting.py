"""A fork is the process that was asked for; what it cannot be starts anew."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.prepared import starting

pytestmark = pytest.mark.tvm

SCRIPT = """
import json, os, signal, sys
print(json.dumps({
    "arguments": sys.argv[1:],
    "folder": os.getcwd(),
    "variable": os.environ.get("A_VARIABLE"),
    "parent": os.getppid(),
    "session": os.getsid(0) == os.getpid(),
    "imported": "tvm" in sys.modules,
    "name": __name__,
    "beside": os.path.dirname(__file__) in sys.path,
    "interrupts": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "open": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
}))
sys.stderr.write(sys.stdin.read())
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture(scope="module")
def forks() -> Iterator[starting.Forks]:
    """Whatever the options of this run are."""
    before = subprocess._fork_exec  # type: ignore[attr-defined]
    forks = starting.install()
    yield forks
    forks.close()
    subprocess._fork_exec = before  # type: ignore[attr-defined]


def run(
    folder: Path, *arguments: str, variables: Mapping[str, str] | None = None, **options: Any
) -> tuple[int, dict[str, Any], str]:
    (folder / "script.py").write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, "script.py", *arguments],
        cwd=folder,
        env={**os.environ, **(variables or {})},
        input="a line",
        capture_output=True,
        text=True,
        **options,
    )
    return ended.returncode, json.loads(ended.stdout), ended.stderr


@pytest.mark.usefixtures("forks")
def test_a_fork_has_what_it_was_asked_for(tmp_path: Path) -> None:
    code, seen, errors = run(
        tmp_path, "3", "x y", variables={"A_VARIABLE": "its own"}, start_new_session=True
    )
    assert (code, errors) == (3, "a line")
    assert seen == {
        "arguments": ["3", "x y"],
        "folder": str(tmp_path),
        "variable": "its own",
        "parent": os.getpid(),
        "session": True,
        "imported": True,
        "name": "__main__",
        "beside": True,
        "interrupts": True,
        "open": [0, 1, 2],
    }
    assert "A_VARIABLE" not in os.environ


@pytest.mark.usefixtures("forks")
def test_its_own_descriptors_stay(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    (tmp_path / "script.py").write_text("import os, sys; os.write(int(sys.argv[1]), b'here')")
    subprocess.run(
        [sys.executable, tmp_path / "script.py", str(theirs)], pass_fds=[theirs], check=True
    )
    os.close(theirs)
    assert os.read(ours, 10) == b"here"
    os.close(ours)


@pytest.mark.usefixtures("forks")
@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV, ""),
        ("raise SystemExit('said at the end')", 1, "said at the end\n"),
        ("raise ValueError('why')", 1, "ValueError: why\n"),
        ("import os; os._exit(70)", 70, ""),
    ],
)
def test_it_ends_as_a_process_does(tmp_path: Path, text: str, code: int, words: str) -> None:
    (tmp_path / "script.py").write_text(text)
    ended = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == code
    assert ended.stderr.endswith(words)


@pytest.mark.usefixtures("forks")
def test_what_counts_at_the_start_is_never_forked(tmp_path: Path) -> None:
    _, seen, _ = run(tmp_path, "0", variables={"PYTHON_OF_A_TEST": "1"})
    assert not seen["imported"]
    other = tmp_path / "other"
    (other / "tvm").mkdir(parents=True)
    _, seen, _ = run(tmp_path, "0", variables={"PYTHONPATH": str(other)})
    assert not seen["imported"]
    # Modules of its own lie beside it.
    (tmp_path / "torch.py").write_text("")
    _, seen, _ = run(tmp_path, "0")
    assert not seen["imported"]


@pytest.mark.usefixtures("forks")
def test_the_command_line_forks_its_own_processes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = subprocess.run(
        [sys.executable, "-m", "relaxcheck", "fuzz", "relu", "--cases=1", f"--out={out}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode in (0, 1), ended.stderr
    assert "1 case" in ended.stdout
