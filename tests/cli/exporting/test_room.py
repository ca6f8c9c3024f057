"""Exports on a disk without room: whole, or not there; never an empty script."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.cli.actions.exporting.folder import write_folder
from relaxcheck.cli.actions.exporting.writing import write_whole
from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.known.corpus import CURED, EXPORTED, PATCH, TEST, entry
from relaxcheck.harness.triage.scripts import ScriptRun

ENTRY = "attention-window"


def failed() -> ScriptRun:
    return ScriptRun(1, "", raised=False)


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file grows beyond ``size`` bytes: what fits is written, and the rest is refused."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def export(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


def content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()} if folder.exists() else {}


def refused(ended: Result) -> bool:
    assert "Traceback" not in ended.output + ended.stderr
    assert ended.exit_code in (0, 2), ended.output
    assert ended.exit_code == 0 or ended.stderr.startswith("relaxcheck: cannot write to ")
    return ended.exit_code == 2


@pytest.mark.parametrize("form", ["--as-is", "--pytest"])
def test_an_export_is_whole_or_not_there(form: str, tmp_path: Path) -> None:
    assert not refused(export(ENTRY, form, "--out", tmp_path / "whole"))
    whole = content(tmp_path / "whole")
    assert whole
    assert form == "--pytest" or set(whole) == set(EXPORTED)
    sizes = sorted(map(len, whole.values()))
    outcomes = set()
    for size in (0, 1, sizes[0], sizes[-1] // 2, sizes[-1] - 1, sizes[-1]):
        folder = tmp_path / f"room-{size}"
        with room(size):
            outcomes.add(failed := refused(export(ENTRY, form, "--out", folder)))
        assert content(folder) == ({} if failed else whole)
        assert not failed or not folder.exists()
    assert outcomes == {False, True}


def test_an_export_that_is_there_stays_as_it_was(tmp_path: Path) -> None:
    before = {"repro.py": b"raise SystemExit(1)\n", "mine.txt": b"kept"}
    write_whole(tmp_path, before)
    with room(100):
        assert refused(export(ENTRY, "--as-is", "--out", tmp_path))
    assert content(tmp_path) == before


def test_a_patch_is_whole_or_not_there(tmp_path: Path) -> None:
    known = entry(ENTRY)
    cure = {PATCH: "p" * 50_000, TEST: "t" * 100}

    def written(folder: Path, files: dict[str, str]) -> bool:
        try:
            write_folder(folder, EXPORTED, known.case, known.expected, failed, files)
        except CaseError:
            return False
        return True

    for size, whole in ((100, False), (20_000, False), (50_000, True)):
        folder = tmp_path / f"room-{size}"
        with room(size):
            assert written(folder, cure) is whole
        assert set(content(folder)) == ({*EXPORTED, *CURED} if whole else set())
        assert not folder.with_name(f"{folder.name}.new").exists()
    # A patch that does not cure it any more goes.
    assert written(folder, {})
    assert set(content(folder)) == set(EXPORTED)
