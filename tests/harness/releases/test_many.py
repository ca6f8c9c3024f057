"""A folder of many builds: the order they have, and how each is imported."""

import os
from pathlib import Path

import pytest

from relaxcheck.harness.releases import many
from relaxcheck.harness.releases.builds import is_name
from relaxcheck.harness.releases.many import Candidate, candidates, opened
from relaxcheck.harness.releases.releases import ReleaseError
from tests.harness.releases.test_builds import ANSWER, interpreter


def environment(folder: Path, answer: dict[str, object] = ANSWER) -> Path:
    (folder / "bin").mkdir(parents=True)
    interpreter(folder / "bin", answer)
    return folder


def sources(folder: Path) -> Path:
    (folder / "python" / "tvm").mkdir(parents=True)
    (folder / "python" / "tvm" / "__init__.py").touch()
    return folder


def test_builds_have_the_order_of_their_names_and_all_else_is_left_alone(tmp_path: Path) -> None:
    for night in ("night-10", "night-9", "night-2"):
        environment(tmp_path / night)
    sources(tmp_path / "night-11")
    (tmp_path / "notes.txt").touch()
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.whl").mkdir()
    assert [each.name for each in candidates(tmp_path)] == [
        *("night-2", "night-9", "night-10", "night-11")
    ]


def test_a_wheel_goes_by_its_version_unless_there_are_several(tmp_path: Path) -> None:
    tags = "0.28.dev9-cp311-cp311-linux", "0.28.dev10-cp311-cp311-linux", "0.28.dev9-cp312-cp312-x"
    for each in tags:
        (tmp_path / f"apache_tvm-{each}.whl").touch()
    assert [each.name for each in candidates(tmp_path)] == [
        "apache_tvm-0.28.dev9-cp311-cp311-linux.whl",
        "apache_tvm-0.28.dev9-cp312-cp312-x.whl",
        "apache_tvm-0.28.dev10",
    ]


@pytest.mark.parametrize(
    ("made", "words"), [((), "there are no builds"), (("one",), "there are one build; put two")]
)
def test_fewer_than_two_are_refused(tmp_path: Path, made: tuple[str, ...], words: str) -> None:
    for name in made:
        environment(tmp_path / name)
    with pytest.raises(ReleaseError, match=words):
        candidates(tmp_path)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("nowhere", "file"):
        with pytest.raises(ReleaseError, match=f"--builds .*{name}: No"):
            candidates(tmp_path / name)


def test_an_environment_is_a_release_while_it_is_open(tmp_path: Path) -> None:
    path = environment(tmp_path / "2026+1")
    candidate = Candidate(path, path.name)
    steps: list[str] = []
    with opened(candidate, steps.append) as release:
        assert release.python == path / "bin" / "python"
        assert release.build is not None
        assert (release.build.version, release.build.commit) == (ANSWER["tvm"], ANSWER["commit"])
        assert is_name(release.name)
    assert steps == ["importing TVM"]


def test_a_wheel_is_unpacked_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "apache_tvm-0.28.dev1-py3-none-any.whl"
    wheel.touch()
    homes = []

    def found(name: str, home: Path, *, wheel: Path, say: object) -> object:
        homes.append(home)
        (home / "packages").mkdir()
        raise ReleaseError(f"TVM build {name}: pip: no")

    monkeypatch.setattr(many, "found", found)
    with (
        pytest.raises(ReleaseError, match=r"build apache_tvm-0\.28\.dev1: pip"),
        opened(Candidate(wheel, "apache_tvm-0.28.dev1"), lambda step: None),
    ):
        pass
    assert not homes[0].exists()


def test_a_build_without_relax_is_refused(tmp_path: Path) -> None:
    path = environment(tmp_path / "tirx", {**ANSWER, "root": "tvm_tirx"})
    with (
        pytest.raises(ReleaseError, match="tirx: it has no Relax, only tvm_tirx"),
        opened(Candidate(path, "tirx"), lambda step: None),
    ):
        pass


def test_a_build_that_is_made_anew_has_another_stamp(tmp_path: Path) -> None:
    path = environment(tmp_path / "night-1")
    packages = path / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    candidate = Candidate(path, "night-1")
    before = candidate.stamp
    assert candidate.stamp == before
    os.utime(packages, ns=(0, packages.stat().st_mtime_ns + 10**9))
    assert candidate.stamp != before
