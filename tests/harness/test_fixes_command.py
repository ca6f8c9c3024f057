"""``relaxcheck fixes`` and its export: what a probe says, and what is told of bad input."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from fixes import fix
from fixes.fix import Fix
from harness import patching, surveying
from harness.cli import app
from harness.cli import fixes as command
from harness.patching import Patch, Patched
from harness.releases import Release, ReleaseError, own
from harness.surveying import Part, Survey, Surveyed

RUNNER = CliRunner()


def die() -> bool:
    os.kill(os.getpid(), signal.SIGSEGV)
    return False


def fail() -> bool:
    raise KeyError("nothing")


def surveyed(name: str, need: str, *parts: Part) -> Surveyed:
    return Surveyed(name, ("relax.add",), "it is wrong", None, need, parts)


def fix_of(question: Callable[[], bool]) -> Fix:
    return Fix("some", (), "it is wrong", None, (fix.Part("one part", question),))


def test_a_part_whose_probe_dies_is_there() -> None:
    assert list(surveying.present(fix_of(lambda: False))) == [Part("one part", False)]
    assert list(surveying.present(fix_of(die))) == [Part("one part", True, signal.SIGSEGV)]


def test_what_a_probe_raises_is_told_with_its_name() -> None:
    said = r"^the probe of some, one part, failed: KeyError: 'nothing'$"
    with pytest.raises(SystemExit, match=said):
        list(surveying.present(fix_of(fail)))


def fake(tmp_path: Path, script: str) -> Release:
    """A release whose Python is ``script``."""
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}")
    python.chmod(0o755)
    return Release("0.1", python)


@pytest.mark.parametrize("said", ["", '{"release": "", "tvm": "0.1", "fix'])
def test_an_answer_that_is_not_whole_is_one_line(tmp_path: Path, said: str) -> None:
    release = fake(tmp_path, f"printf '{said}'\n")
    for ask in (surveying.survey, lambda one: patching.patches(one, ())):
        with pytest.raises(ReleaseError, match=r"^TVM 0\.1: harness\.\w+ did not tell all: Input"):
            ask(release)


def test_what_does_not_answer_ends_with_all_that_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveying, "_SECONDS", 1)
    release = fake(tmp_path, f"sleep 100 & echo $! > {tmp_path}/child\nwait\n")
    with pytest.raises(ReleaseError, match=r"TVM 0\.1: no answer within 1 s"):
        surveying.survey(release)
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if (
            not Path(f"/proc/{child}").exists()
            or "\nState:\tZ" in Path(f"/proc/{child}/status").read_text()
        ):
            break
        time.sleep(0.05)
    else:
        pytest.fail("the child lives")


def test_what_a_process_said_last_is_the_error() -> None:
    with pytest.raises(ReleaseError, match=r"TVM .*: No module named|TVM .*No module named"):
        surveying.run_there(own(), "harness.no_such_module")
    with pytest.raises(ReleaseError, match="releases install"):
        surveying.run_there(Release("0.1", Path("/no/such/python")), "harness.surveying")


def test_this_release_is_surveyed() -> None:
    found = surveying.survey(own())
    assert found.release == own().name
    assert len(found.fixes) == len({one.name for one in found.fixes}) > 10
    for one in found.fixes:
        present = [part.present for part in one.parts]
        assert (one.need == "needed", one.need == "upstream already") == (
            all(present),
            not any(present),
        )


def test_the_table_has_the_parts_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = (Part("one", True), Part("two", False), Part("three", True, signal.SIGSEGV))
    told = Survey("0.1", "0.1.0", (surveyed("some", "partly needed", *parts),))
    monkeypatch.setattr(command, "survey", lambda release: told)
    said = RUNNER.invoke(app, ["fixes"])
    assert said.exit_code == 0
    assert "partly needed  one, three (signal 11)" in said.output
    assert "two" not in said.output
    found = json.loads(RUNNER.invoke(app, ["fixes", "--format", "json"]).output)
    assert msgspec.convert(found, list[Survey]) == [told]


def test_a_release_that_does_not_exist_is_one_line() -> None:
    said = RUNNER.invoke(app, ["fixes", "--tvm", "0.1"])
    assert said.exit_code == 2
    assert said.stderr.startswith("relaxcheck: no release '0.1'")
    assert said.stderr.count("\n") == 1


def test_options_of_the_list_are_not_passed_over(tmp_path: Path) -> None:
    for given in (("--tvm", own().name), ("--format", "json")):
        said = RUNNER.invoke(app, ["fixes", *given, "export", "--to", str(tmp_path / "new")])
        assert said.exit_code == 2
        assert "--tvm goes after export" in said.stderr
        assert not (tmp_path / "new").exists()


def test_an_unknown_fix_is_one_line(tmp_path: Path) -> None:
    said = RUNNER.invoke(app, ["fixes", "export", "--to", str(tmp_path / "new"), "nonsense"])
    assert said.exit_code == 2
    assert "no fix 'nonsense'; there are " in said.stderr
    assert not (tmp_path / "new").exists()


def exported(
    monkeypatch: pytest.MonkeyPatch,
    to: Path,
    *found: Patch,
    together: str = "",
    names: tuple[str, ...] = (),
) -> str:
    monkeypatch.setattr(command, "patches", lambda *_: Patched("0.1", found, together))
    said = RUNNER.invoke(app, ["fixes", "export", "--to", str(to), *names])
    assert said.exit_code == int(any(one.why.startswith("cannot") for one in found))
    return said.output


def test_files_are_written_and_what_has_none_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = (Patch("one", "1"), Patch("two", "2", over_cpp=True), Patch("three", why="upstream"))
    said = exported(monkeypatch, tmp_path / "a" / "b", *given, together="12").splitlines()
    written = {path.name: path.read_text() for path in (tmp_path / "a" / "b").iterdir()}
    assert written == {"one.patch": "1", "two.patch": "2", "all.patch": "12"}
    assert said[0].endswith("one.patch")
    assert said[1].endswith("two.patch; above C++, which it leaves as it is")
    assert said[2] == "three: upstream"


def test_a_fix_that_cannot_be_a_patch_is_told_by_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    said = exported(monkeypatch, tmp_path, Patch("one", why="cannot be a patch: no file"))
    assert said == "one: cannot be a patch: no file\n"


def test_a_folder_that_cannot_be_made_is_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(command, "patches", lambda *_: Patched("0.1", (Patch("one", "1"),)))
    said = RUNNER.invoke(app, ["fixes", "export", "--to", str(tmp_path / "file")])
    assert said.exit_code == 2
    assert "cannot write to" in said.stderr


def older(to: Path, *names: str) -> None:
    """What an earlier export, against 0.0, left in ``to``; and files of somebody else."""
    to.mkdir()
    for name in names:
        text = f"{name}: a fault\n\nAgainst apache-tvm 0.0\n\ndiff --git a/x b/x\n"
        (to / f"{name}.patch").write_text(text)
    (to / "mine.patch").write_text("mine: my change\n\ndiff --git a/x b/x\n+Against apache-tvm 1\n")
    (to / "copy.patch").write_text((to / "one.patch").read_text())
    (to / "attention.txt").write_bytes(b"\xff")


def test_what_an_earlier_export_left_and_none_makes_now_is_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    older(tmp_path / "to", "one", "two", "renamed", "all")
    given = (Patch("one", "1"), Patch("two", why="upstream already"))
    said = exported(monkeypatch, tmp_path / "to", *given).splitlines()
    left = {path.name for path in (tmp_path / "to").iterdir()}
    assert left == {"one.patch", "mine.patch", "copy.patch", "attention.txt"}
    assert (tmp_path / "to" / "one.patch").read_text() == "1"
    assert [line.rpartition("/")[2] for line in said[2:]] == [
        f"{name}.patch: of an earlier export, against apache-tvm 0.0; removed"
        for name in ("all", "renamed", "two")
    ]


def test_patches_of_fixes_that_were_not_asked_for_stay_and_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    older(tmp_path / "to", "one", "two", "three", "all")
    given = (Patch("one", "1"), Patch("two", why="upstream already"))
    said = exported(monkeypatch, tmp_path / "to", *given, names=("one", "two")).splitlines()
    told = [line.rpartition("/")[2] for line in said[2:]]
    assert told == [
        "all.patch: of an earlier export, against apache-tvm 0.0; left as it is",
        "three.patch: of an earlier export, against apache-tvm 0.0; left as it is",
        "two.patch: of an earlier export, against apache-tvm 0.0; removed",
    ]
    left = {path.stem for path in (tmp_path / "to").glob("*.patch")}
    assert left == {"one", "three", "all", "mine", "copy"}


def test_one_patch_has_its_head_and_its_test() -> None:
    found = patching.patches(own(), ("convert_layout_packed",))
    (patch,) = found.patches
    assert patch.over_cpp
    head, _, diff = patch.text.partition("diff --git ")
    assert head.startswith("convert_layout_packed: ConvertLayout fails")
    assert "This changes no C++" in head
    assert f"Against apache-tvm {found.tvm}" in head
    assert "b/tests/python/relax/test_convert_layout_packed.py" in diff
    assert not found.together


def test_an_export_knows_again_what_it_wrote(tmp_path: Path) -> None:
    found = patching.patches(own(), ("unlowered", "empty_permute"))
    assert patching.write(found, tmp_path, every=False) == ()
    version = found.tvm
    expected = [
        patching.Earlier(tmp_path / f"{name}.patch", version, True)
        for name in ("all", "empty_permute", "unlowered")
    ]
    assert list(patching.write(Patched(version, ()), tmp_path, every=True)) == expected
    assert list(tmp_path.iterdir()) == []
