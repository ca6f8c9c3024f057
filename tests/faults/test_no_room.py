"""A disk that is full, or may not be written: one line, exit code 2, and what was there stays."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from relaxcheck.harness.journal.journal import FILE_NAME, Journal, JournalError, Mode
from tests.faults.campaigns import (
    Campaigns,
    Summary,
    arguments,
    check_whole,
    ended,
    resuming,
    summary,
    until,
)

Mount = Callable[..., None]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Mount]]:
    """A folder to mount a file system of its own at, and what mounts it, also again."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a small disk has to be mounted, which only root may")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = False

    def mount(options: str) -> None:
        nonlocal mounted
        options = f"remount,{options}" if mounted else options
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode and not mounted:
            pytest.skip(f"mounting is not permitted here: {done.stderr.strip()}")
        assert done.returncode == 0, done.stderr
        mounted = True

    yield folder, mount
    if mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)


def refused(ended: "subprocess.CompletedProcess[str]", pattern: str) -> None:
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr
    assert re.search(pattern, ended.stderr), ended.stderr


def test_a_disk_that_fills_up_keeps_what_was_written(
    campaigns: Campaigns, undisturbed: Summary, disk: tuple[Path, Mount]
) -> None:
    place, mount = disk
    mount("size=1000k")
    folder = place / "out"
    refused(
        campaigns.run(*arguments(), "--out", folder, JUDGE_SECONDS="0.01"),
        "cannot write to .*disk is full.*--resume .* goes on with it",
    )
    kept = ended(folder)
    assert kept > 0
    # Still no room.
    refused(campaigns.run(*resuming(folder)), "(No space|disk is full)")
    assert ended(folder) == kept
    mount("size=50m")
    last = campaigns.run(*resuming(folder))
    assert last.returncode == 1, last.stdout + last.stderr
    assert "resumed" in last.stdout
    check_whole(folder)
    assert summary(folder) == undisturbed


def test_a_disk_that_is_full_from_the_start_is_one_line(
    campaigns: Campaigns, disk: tuple[Path, Mount]
) -> None:
    place, mount = disk
    mount("size=16k")
    refused(
        campaigns.run(*arguments(), "--out", place / "out"), "cannot write to .*(room|No space)"
    )


def test_where_there_is_no_room_for_the_page_the_journal_is_kept(
    campaigns: Campaigns, undisturbed: Summary, disk: tuple[Path, Mount]
) -> None:
    place, mount = disk
    # Room for the journal and what SQLite puts beside it, not for another file.
    mount("size=50m,nr_inodes=7")
    folder = place / "out"
    first = campaigns.run(*arguments(), "--out", folder)
    refused(first, "cannot write the page to .*: No space left on device. Nothing is lost: ")
    assert "100 cases" in first.stdout
    check_whole(folder)
    assert summary(folder) == undisturbed
    mount("size=50m,nr_inodes=1000")
    assert campaigns.run(*resuming(folder)).returncode == 1
    assert (folder / "findings.md").stat().st_size > 1000
    assert summary(folder) == undisturbed


def test_a_read_only_journal_is_read_and_not_written(
    campaigns: Campaigns, undisturbed: Summary, disk: tuple[Path, Mount]
) -> None:
    place, mount = disk
    mount("size=50m")
    folder = place / "out"
    process = campaigns.start(*arguments(), "--out", folder, JUDGE_SECONDS="0.02")
    until(lambda: ended(folder) >= 20, bool)
    process.kill()
    process.wait()
    kept = ended(folder)
    # With what was written last still in the log beside the database.
    assert (folder / (FILE_NAME + "-wal")).stat().st_size > 0
    mount("size=50m,ro")
    assert ended(folder) == kept >= 20
    refused(campaigns.run(*resuming(folder)), "cannot write to .*: Read-only file system")
    refused(
        campaigns.run(*arguments(), "--out", place / "new"),
        "cannot write to .*: Read-only file system",
    )
    with pytest.raises(JournalError, match="Read-only file system"):
        Journal(folder, Mode.RESUME)
    mount("size=50m,rw")
    assert campaigns.run(*resuming(folder)).returncode == 1
    assert summary(folder) == undisturbed
