"""Every entry of the corpus gives the verdict that is declared for this release."""

import msgspec
import pytest

from harness.corpus import Entry, entries
from harness.jobs import Job
from harness.pool import Pool


@pytest.mark.parametrize("fixes", [False, True], ids=["fixes-off", "fixes-on"])
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_gives_its_verdict(pool: Pool, entry: Entry, fixes: bool) -> None:
    wanted = entry.expected.verdict(pool.environment["apache-tvm"], fixes=fixes)
    assert wanted is not None, "no verdict is declared for this release"
    pool.submit(Job(msgspec.structs.replace(entry.case, fixes=fixes)))
    ((_, outcome),) = pool.drain()
    assert outcome.verdict is wanted, outcome.message
