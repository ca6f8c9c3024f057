"""Work that is spread over processes ends with what asked for it."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest

from relaxcheck.harness.campaign.interruption import SIGNALS
from tests.measure.quality.spreading import processes

BEGIN = """
import sys, time
from pathlib import Path
from relaxcheck.harness.campaign.interruption import Interruption
from tests.measure.quality.spreading import processes

def work(folder, number):
    try:
        (folder / f"begun-{number}").touch()
        time.sleep(600)
    finally:
        time.sleep(0.5)
        (folder / f"ended-{number}").touch()

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with Interruption(), processes(2, start=sys.argv[2]) as submit:
        for future in [submit(work, folder, number) for number in range(4)]:
            future.result()
"""


_WAYS = list(product((False, True), SIGNALS, ("fork", "spawn")))


@pytest.mark.parametrize(
    ("everybody", "number", "start"),
    # Each value of each once, in make test.
    [
        pytest.param(*way, marks=[pytest.mark.slow] * (way not in (_WAYS[0], _WAYS[3], _WAYS[-2])))
        for way in _WAYS
    ],
)
def test_a_signal_ends_all(
    tmp_path: Path, start: str, number: signal.Signals, everybody: bool
) -> None:
    """To the parent alone, as who manages jobs sends it, or to all, as a terminal does."""
    script = tmp_path / "work_script.py"
    script.write_text(BEGIN)
    path = os.pathsep.join((str(Path.cwd()), str(tmp_path)))
    process = subprocess.Popen(
        [sys.executable, script, tmp_path, start],
        env=os.environ | {"PYTHONPATH": path},
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        while len(list(tmp_path.glob("begun-*"))) < 2:
            assert process.poll() is None
            time.sleep(0.05)
        if everybody:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        # The pipe ends when no process holds it any more, the workers included.
        process.communicate(timeout=60)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0
    assert len(list(tmp_path.glob("ended-*"))) == len(list(tmp_path.glob("begun-*"))) == 2


def test_results_come_back_in_order() -> None:
    with processes(2, start="spawn") as submit:
        assert [future.result() for future in [submit(abs, n) for n in (-1, 2, -3)]] == [1, 2, 3]


def test_a_failure_is_raised() -> None:
    with pytest.raises(ZeroDivisionError), processes(1, start="spawn") as submit:
        submit(divmod, 1, 0).result()
