"""Campaigns to do harm to, and the places where there is little room."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.campaigns import Campaigns, Summary, arguments, end, summary


@pytest.fixture
def campaigns(tmp_path: Path) -> Iterator[Campaigns]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    started = Campaigns(environment={"TMPDIR": str(scratch)})
    yield started
    end(started)


@pytest.fixture
def real_campaigns() -> Iterator[Campaigns]:
    """The command as it is, with TVM."""
    started = Campaigns("relaxcheck")
    yield started
    end(started)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """The result of a campaign that nothing disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    started = Campaigns()
    ended = started.run(*arguments(), "--out", folder)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    end(started)
    return summary(folder)
