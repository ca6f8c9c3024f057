"""Which pipelines of a user's own may be imported: those that somebody named."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings

from relaxcheck import strategies
from relaxcheck.cli.pipelines import compiled_by, named_by_user
from relaxcheck.extensions.entry_points import PIPELINES as GROUP
from relaxcheck.extensions.naming import FOLDERS_VARIABLE, ExtensionError
from relaxcheck.extensions.pipelines import (
    allow,
    check_allowed,
    chosen,
    function,
)
from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.case import CaseError, encode
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import families
from relaxcheck.harness import kinds
from relaxcheck.harness.campaign.options import chosen_pipelines
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.pytest_plugin import own_pipelines
from tests.extensions.packages import distribution, reachable

OWN = "own_passes:pipeline"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "own_passes.py").write_text("number = 3\ndef pipeline(target):\n    return 7\n")
    with reachable(tmp_path, monkeypatch):
        yield tmp_path


@pytest.mark.usefixtures("folder")
def test_a_name_alone_imports_nothing() -> None:
    for ask in (check_allowed, function):
        with pytest.raises(ExtensionError, match=f"name it: --pipeline {OWN}") as caught:
            ask(OWN)
        assert "\n" not in str(caught.value)
    assert "own_passes" not in sys.modules
    check_allowed("build")


def test_a_name_that_was_allowed_is_imported_from_its_folder(folder: Path) -> None:
    allow([OWN])
    allow([OWN])
    assert chosen() == (OWN,)
    assert os.environ[FOLDERS_VARIABLE] == str(folder)
    assert function(OWN)("target") == 7
    allow(["own_passes:number"])
    with pytest.raises(ExtensionError, match="it is a int, not a function"):
        function("own_passes:number")


def test_a_registered_name_is_allowed_and_has_a_short_name(folder: Path) -> None:
    distribution(folder, "mine", {GROUP: {"quick": OWN}})
    check_allowed(OWN)
    with pytest.raises(ExtensionError):
        check_allowed("own_passes:number")
    assert chosen() == ()
    assert named_by_user(["quick,build", "default-pipeline"]) == (OWN, "build", "default-pipeline")
    assert chosen() == (OWN,)


@pytest.mark.usefixtures("folder")
def test_pipelines_are_drawn_only_where_they_are_named() -> None:
    before = chosen_pipelines(None)
    with pytest.raises(CaseError, match=f"if it is yours, name it: --pipeline {OWN}"):
        chosen_pipelines([OWN])
    allow([OWN])
    assert chosen_pipelines(None) == before
    assert chosen_pipelines([OWN, "build"]) == ("build", OWN)
    assert kinds.pipelines("metal")[-1] == OWN


@pytest.mark.usefixtures("folder")
def test_every_compiled_family_draws_the_named_pipeline() -> None:
    for each in kinds.families((OWN,)):
        values = [axis.values for axis in each.axes if axis.name == "pipeline"]
        # Passes on lowered functions run in relax.build's place.
        if each.name.startswith("pass-"):
            assert values in ([(OWN,)], [("build",)])
        else:
            assert values == ([] if each.name in ("algebra", "kvcache") else [(OWN,)]), each.name
    for each in families((*PIPELINES, OWN)):
        assert [axis.values[-1] for axis in each.axes if axis.name == "pipeline"] == [OWN]


@pytest.mark.usefixtures("folder")
def test_a_case_of_it_is_read_and_not_run() -> None:
    (family,) = (each for each in families(("build",)) if each.name == "relu")
    plain = family.build(complete(family.axes, {}), 0)
    case = msgspec.structs.replace(plain, pipeline=OWN)
    assert kinds.decode(encode(case)) == case
    assert point_of(family, case)["pipeline"] == OWN
    assert kinds.way(case) == f"pipeline {OWN}"
    with pytest.raises(ExtensionError):
        compiled_by(case, None)
    assert compiled_by(plain, OWN) == compiled_by(case, OWN) == compiled_by(case, None) == case
    assert compiled_by(case, "build") == plain
    with pytest.raises(CaseError, match="no pipeline 'fast'; the pipelines are build, "):
        compiled_by(case, "fast")
    wrong = encode(case).replace(b"own_passes:pipeline", b"own passes:pipeline")
    with pytest.raises(CaseError, match="pipeline 'own passes:pipeline' is unknown"):
        kinds.decode(wrong)


def test_pytest_and_strategies_name_it_too(folder: Path) -> None:
    distribution(folder, "mine", {GROUP: {"quick": OWN}})
    assert own_pipelines(["build"]) == ()
    assert chosen() == ()
    assert own_pipelines(["quick", "build"]) == ("quick", OWN)
    assert chosen() == (OWN,)
    with pytest.raises(ExtensionError, match="there is no module nowhere_at_all"):
        own_pipelines(["nowhere_at_all:x"])


def test_a_strategy_draws_for_it(folder: Path) -> None:
    distribution(folder, "mine", {GROUP: {"quick": OWN}})
    drawn: list[Case] = []

    @settings(max_examples=3, deadline=None, database=None, derandomize=True)
    @given(strategies.cases(operators=["add"], max_nodes=1, pipelines=["quick"]))
    def draw(case: Case) -> None:
        drawn.append(case)

    draw()
    assert {case.pipeline for case in drawn} == {OWN}
    assert chosen() == (OWN,)
