"""Builds of a user's own: which declarations hold for them, and what their environment has.

The interpreters are scripts that answer as real ones would.
"""

import json
import sys
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from relaxcheck.cli import app
from relaxcheck.harness.outcomes.differential import described_on, joined, versions
from relaxcheck.harness.releases import adding, builds, releases
from relaxcheck.harness.releases.builds import Build
from relaxcheck.harness.releases.environment import BUILD, tvm_version
from relaxcheck.harness.releases.releases import FOLDER_VARIABLE, ReleaseError, State

ENOUGH = {
    "torch": "2.9",
    "onnxruntime": "1.24",
    "onnx": "1.19",
    "ml_dtypes": "0.5.1",
    "numpy": "2.1",
    "mpmath": "1.3",
    "hypothesis": "6.140",
    "msgspec": "0.19",
}
ANSWER = {
    "python": [3, 12],
    "versions": ENOUGH,
    "tvm": "0.28.dev3+g1234",
    "root": "tvm",
    "error": "",
    "commit": "0123456789abcdef",
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "releases"
    folder.mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(folder))
    return folder


def interpreter(folder: Path, answer: dict[str, object], worker: str = "exit 0") -> Path:
    """A Python that gives ``answer`` to a question, and ends as ``worker`` where one starts."""
    path = folder / "python"
    text = json.dumps(answer).replace("'", "")
    path.write_text(f"#!/bin/sh\ncase \"$*\" in *zygote*) {worker};; esac\necho '{text}'\n")
    path.chmod(0o755)
    return path


def relaxcheck(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["releases", *arguments])


def test_an_environment_becomes_a_release(tmp_path: Path) -> None:
    python = interpreter(tmp_path, ANSWER)
    result = relaxcheck("add", "mine", "--python", str(python))
    assert result.exit_code == 0, result.output
    assert "version 0.28.dev3+g1234, commit 0123456789; declared failures: those of 0.27" in (
        result.output
    )
    build = releases.release("mine")
    assert build.python == python
    assert build.title == "TVM build mine (version 0.28.dev3+g1234, commit 0123456789)"
    assert releases.state("mine") is State.BUILD
    assert releases.named("mine,0.27") == ("0.27", "mine")
    assert "mine" not in releases.known()
    assert "your build" in relaxcheck().output


def test_a_build_is_imported_from_its_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "tvm-source" / "python" / "tvm"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.28.dev0"\n')
    monkeypatch.setattr(adding, "worker_fault", lambda build: "")
    monkeypatch.setattr(adding, "_check", lambda build, answer: None)
    build, fault = adding.add("mine", pythonpath=[tmp_path / "tvm-source"])
    assert not fault
    assert build.version == "0.28.dev0"
    variables = releases.environment(releases.release("mine"))
    assert variables["PYTHONPATH"] == str(package.parent)
    assert releases.release("mine").python == Path(sys.executable)


def test_a_wheel_is_unpacked_and_removed_again(
    tmp_path: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = tmp_path / "apache_tvm-0.28.dev1-py3-none-any.whl"
    info = "apache_tvm-0.28.dev1.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("tvm/__init__.py", '__version__ = "0.28.dev1"\n')
        needs = "Requires-Dist: numpy>=1\nRequires-Dist: torch>=1; extra == 'x'\n"
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: apache-tvm\nVersion: 0.28.dev1\n{needs}",
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    monkeypatch.setattr(adding, "worker_fault", lambda build: "it is no TVM")
    result = relaxcheck("add", "night", "--wheel", str(wheel))
    assert result.exit_code == 1
    assert "its workers do not start: it is no TVM" in result.output
    assert "releases doctor night" in result.output
    assert (place / "night" / "packages" / "tvm" / "__init__.py").is_file()
    build = releases.release("night").build
    assert build is not None
    assert (build.version, build.wheel) == ("0.28.dev1", str(wheel))
    assert relaxcheck("remove", "night").exit_code == 0
    assert list(place.iterdir()) == []
    assert wheel.is_file()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"versions": {**ENOUGH, "torch": "2.4"}},
            r"lacks torch>=2\.6; run: .*python -m pip install 'torch>=2\.6'",
        ),
        ({"python": [3, 10]}, r"is Python 3\.10, and 3\.11 is the oldest"),
        (
            {"root": "", "error": "OSError: libtvm.so"},
            r"importing TVM raised OSError: libtvm\.so; the command is: .*python -c 'import tvm'",
        ),
    ],
)
def test_what_an_environment_lacks_is_one_line(
    tmp_path: Path, place: Path, changed: dict[str, object], message: str
) -> None:
    python = interpreter(tmp_path, ANSWER | changed)
    with pytest.raises(ReleaseError, match=message):
        adding.add("mine", python=python)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("0.28",), "a name begins with a letter"),
        (("all",), "is not all or local"),
        (("mine",), "say which TVM it is: --python PATH"),
        (("mine", "--python", "nowhere"), "--python nowhere: there is no interpreter"),
        (("mine", "--pythonpath", "nowhere"), "there is no such folder"),
        (("mine", "--pythonpath", "."), "has one of the packages tvm, tvm_tirx, tvm_ffi"),
        (("mine", "--wheel", "nowhere.whl"), "there is no such wheel"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    message: str,
) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    result = relaxcheck("add", *arguments)
    assert result.exit_code == 2
    assert message in result.output
    assert result.output.count("\n") == 1
    assert list(place.iterdir()) == []


def test_a_name_is_taken_once(tmp_path: Path) -> None:
    python = str(interpreter(tmp_path, ANSWER))
    assert relaxcheck("add", "mine", "--python", python).exit_code == 0
    again = relaxcheck("add", "mine", "--python", python)
    assert again.exit_code == 2
    assert "run: relaxcheck releases remove mine" in again.output


@pytest.mark.parametrize("content", [None, "{", '{"name": "other", "python": "x"}'])
def test_what_is_left_of_a_build_is_removed(
    place: Path, tmp_path: Path, content: str | None
) -> None:
    (place / "mine" / "packages" / "tvm").mkdir(parents=True)
    if content is not None:
        (place / "mine" / "build.json").write_text(content)
    python = str(interpreter(tmp_path, ANSWER))
    assert "releases remove mine" in relaxcheck("add", "mine", "--python", python).output
    assert relaxcheck("remove", "mine").exit_code == 0
    assert relaxcheck("add", "mine", "--python", python).exit_code == 0


def test_a_folder_of_the_user_s_own_is_not_removed(place: Path) -> None:
    (place / "mine").mkdir()
    (place / "mine" / "thesis.tex").touch()
    assert relaxcheck("remove", "mine").exit_code == 2
    assert (place / "mine" / "thesis.tex").is_file()


def test_a_build_whose_files_are_gone_says_so(tmp_path: Path) -> None:
    python = interpreter(tmp_path, ANSWER)
    adding.add("mine", python=python)
    python.unlink()
    assert releases.state("mine") is State.GONE
    with pytest.raises(ReleaseError, match="files are gone; run: relaxcheck releases remove mine"):
        releases.release("mine")


def test_an_unknown_name_says_what_there_is(tmp_path: Path) -> None:
    adding.add("mine", python=interpreter(tmp_path, ANSWER))
    with pytest.raises(ReleaseError, match=r"no release 'other'; .* your builds are mine; to add"):
        releases.release("other")


@pytest.mark.parametrize(
    ("version", "nearest"),
    [
        ("0.25.0.post1", "0.25"),
        ("0.27.dev4", "0.27"),
        ("0.28.dev0+g12", "0.27"),
        ("1.0", "0.27"),
        ("0.24", None),
        ("unknown", None),
    ],
)
def test_a_version_without_a_column_takes_the_nearest_before_it(
    version: str, nearest: str | None
) -> None:
    assert releases.column(version) == nearest


@pytest.mark.parametrize(
    ("declared", "version", "holds"),
    [
        ("0.27", "0.27.0.post1", True),
        ("0.27.0.post1", "0.27.0.post1", True),
        ("0.27.0.post1", "0.27.1", False),
        ("0.26", "0.27.0", False),
        ("0.27", "0.28.dev0", True),
        ("0.27.0.post1", "0.28.dev0", True),
        ("0.26", "0.28.dev0", False),
        ("0.25", "0.24", False),
    ],
)
def test_declarations_of_the_nearest_release_hold(declared: str, version: str, holds: bool) -> None:
    assert releases.covers(declared, version) is holds


def test_a_campaign_names_the_build_and_no_other_release() -> None:
    described = joined(
        {
            "0.27": {"apache-tvm": "0.27.0"},
            "mine": {"apache-tvm": "0.28.dev0", BUILD: "mine"},
            "night": {"apache-tvm": "0.28.dev1", BUILD: "night"},
        }
    ) | {"release": "0.27 mine night"}
    assert versions(described) == "0.27.0, 0.28.dev0 (build mine), 0.28.dev1 (build night)"
    assert tvm_version(described_on("0.27", described)) == "0.27.0"
    assert tvm_version(described_on("mine", described)) == "0.28.dev0 (build mine)"


def test_what_is_no_description_is_no_build(place: Path) -> None:
    (place / "half").mkdir()
    (place / "half" / builds.FILE_NAME).write_text("{")
    assert builds.read(place) == ()
    builds.write(place, Build("mine", "python"))
    assert [build.name for build in builds.read(place)] == ["mine"]
