"""Every entry of the corpus gives the verdict that is declared, on each release that is there."""

import msgspec
import pytest

from harness import matrix, releases
from harness.corpus import FILES, Entry, entries
from harness.jobs import Job, Limits
from harness.pool import Pool
from reports.finding_folder import rendered
from reports.release_matrix import lines, surprises

OTHERS = [name for name in releases.supported() if name != releases.own().name]


@pytest.mark.parametrize("fixes", [False, True], ids=["fixes-off", "fixes-on"])
@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_gives_its_verdict(pool: Pool, entry: Entry, fixes: bool) -> None:
    wanted = entry.expected.verdict(pool.environment["apache-tvm"], fixes=fixes)
    assert wanted is not None, "no verdict is declared for this release"
    pool.submit(Job(msgspec.structs.replace(entry.case, fixes=fixes)))
    ((_, outcome),) = pool.drain()
    assert outcome.verdict is wanted, outcome.message


@pytest.mark.parametrize("name", OTHERS)
def test_entries_and_gaps_are_as_declared_on_another_release(name: str) -> None:
    found = releases.state(name)
    if not found.usable:
        pytest.skip(f"TVM {name} is {found}; {releases.advice(name)}")
    result = matrix.run(matrix.subjects([]), [name], 1, Limits(), lambda *_: None)
    assert not surprises(result), "\n".join(lines(result))
    assert not result.columns[0].missing, result.columns[0].missing
    # Of a known finding nothing is declared but on its own release and side.
    own = [row for row in result.rows if not row.gap]
    assert all(cell.declared for row in own for cell in row.cells[name].values())


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_an_entry_is_a_whole_folder_of_its_family(entry: Entry) -> None:
    assert sorted(path.name for path in entry.folder.iterdir()) == sorted(FILES)
    assert entry.folder.parent.name == entry.case.family
    assert entry.expected.title
    assert entry.expected.outcome is not None


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_what_fails_with_the_fixes_on_and_nothing_else_has_a_reason(entry: Entry) -> None:
    assert bool(entry.expected.reason) == bool(entry.expected.unmended)
    # The list of the matrix's page has it as one line.
    assert "\n" not in entry.expected.reason
    assert not entry.expected.reason or entry.expected.reason.endswith(".")


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_its_script_and_its_issue_are_what_would_be_written(entry: Entry) -> None:
    for name, text in rendered(entry.case, entry.expected).items():
        advice = "run: relaxcheck export --rewrite"
        assert (entry.folder / name).read_text() == text, advice


@pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)
def test_what_is_recorded_is_what_is_declared(entry: Entry) -> None:
    outcome = entry.expected.outcome
    assert outcome is not None
    version = entry.expected.environment["apache-tvm"]
    assert entry.expected.verdict(version, fixes=False) is outcome.verdict
    for text in (entry.folder / name for name in FILES):
        assert "/site-packages/" not in text.read_text()
        assert "relaxcheck" not in text.read_text()
