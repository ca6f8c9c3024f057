"""Shards on a real Dask cluster of several processes, one of which is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.harness.campaign.cluster import ShardResult, _reason
from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, Journal, Mode
from relaxcheck.harness.kinds import decode_record
from relaxcheck.harness.triage.finding import Finding

psutil = pytest.importorskip("psutil", reason="comes with distributed")
distributed = pytest.importorskip("distributed", reason="the optional extra 'cluster'")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
        silence_logs=50,
    ) as local:
        yield local


def begun(cluster: Any) -> Any:
    """A worker whose shard has begun to draw, as soon as there is one."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        for nanny in cluster.workers.values():
            if list(Path(nanny.worker_dir).glob(f"*/out/{FILE_NAME}")):
                return nanny
        time.sleep(0.05)
    raise AssertionError("no shard began")


@pytest.mark.slow
@pytest.mark.tvm
def test_a_shard_whose_worker_is_killed_runs_again(cluster: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = ("fuzz", "conv1d_transpose", "--seed", "5", "--uniform", "--cases", "4")
    spread = ("--cluster", cluster.scheduler_address, "--shards", "2", "--out", str(out))
    process = subprocess.Popen(
        [sys.executable, "-m", "relaxcheck", *command, *spread, "--minutes", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    victim = begun(cluster)
    its_own = psutil.Process(victim.pid).children(recursive=True)
    assert its_own
    os.kill(victim.pid, signal.SIGKILL)
    # Their parent may be importing TVM, and looks whether the engine is there when it has.
    _, alive = psutil.wait_procs(its_own, timeout=60)
    assert not alive
    text, failed = process.communicate(timeout=200)
    assert process.returncode in (0, 1), text + failed
    assert " is lost" not in text
    shards = [out / "shards" / str(number) for number in (1, 2)]
    drawn = []
    for shard in shards:
        with Journal(shard, Mode.READ) as journal:
            drawn.append([case.case.identifier for case in journal.cases(DRAWN)])
            assert journal.unfinished() == 0
    assert [len(each) for each in drawn] == [2, 2]
    with Journal(out, Mode.READ) as journal:
        merged = [case.case.identifier for case in journal.cases(DRAWN)]
        assert sorted(merged) == sorted({identifier for each in drawn for identifier in each})
        findings = [decode_record(finding, Finding) for finding in journal.findings()]
    assert bool(findings) is bool(process.returncode)
    assert (out / "findings.md").is_file()


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (("--cluster", "tcp://127.0.0.1:9", "--out", "x"), "no Dask scheduler answers at tcp://"),
        (("--cluster", "x", "--shard", "1/2"), "leave out --resume and --shard"),
        (("--shards", "2"), "--shards needs --cluster"),
    ],
)
def test_impossible_options_are_one_line(
    arguments: tuple[str, ...], fragment: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("relaxcheck.harness.campaign.cluster._CONNECT_SECONDS", 1)
    ended = CliRunner().invoke(app, ["fuzz", *arguments])
    assert (ended.exit_code, len(ended.stderr.strip().splitlines())) == (2, 1), ended.output
    assert fragment in ended.stderr


def test_where_distributed_is_not_installed_the_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    ended = CliRunner().invoke(app, ["fuzz", "--cluster", "x", "--out", str(tmp_path / "out")])
    assert ended.exit_code == 2
    assert "pip install 'relaxcheck[cluster]'" in ended.stderr
    assert not (tmp_path / "out").exists()


class Fake:
    """A cluster whose shards come back as ``parts``."""

    threads = 2
    parts: tuple[ShardResult, ...] = ()

    def __init__(self, address: str):
        pass

    def __enter__(self) -> "Fake":
        return self

    def __exit__(self, *unused: object) -> None:
        pass

    def run(self, *unused: object) -> Iterator[ShardResult]:
        yield from self.parts


def test_a_shard_that_is_lost_is_a_line_and_the_others_are_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from relaxcheck.harness.journal.journal_file import whole
    from tests.harness.campaign.test_merging import BAILED, finding, journal_of
    from tests.harness.campaign.test_merging import case as toy

    result = finding(toy(1), BAILED, True)
    part = journal_of(("2/2", ((1, DRAWN, None, None),), (result,)), tmp_path / "part")
    gave_up = _reason(RuntimeError("worker died\n4 times"))
    Fake.parts = (
        ShardResult(1, None, {}, gave_up),
        ShardResult(2, whole(part / FILE_NAME), {"cases": 0}, ""),
    )
    monkeypatch.setattr("relaxcheck.cli.actions.cluster.Cluster", Fake)
    out = tmp_path / "out"
    ended = CliRunner().invoke(app, ["fuzz", "--cluster", "x", "--out", str(out)])
    # Findings of the other shard are new.
    assert ended.exit_code == 1, ended.output
    assert "shard 1/2 is lost: RuntimeError: worker died 4 times" in ended.stdout
    assert "1 case began and never ended" in ended.stdout
    assert "shard 1/2 is lost" in (out / "findings.md").read_text()
    Fake.parts = Fake.parts[:1]
    ended = CliRunner().invoke(app, ["fuzz", "--cluster", "x", "--out", str(tmp_path / "none")])
    assert (ended.exit_code, "no shard came back; shard 1/2 is lost" in ended.stderr) == (2, True)
