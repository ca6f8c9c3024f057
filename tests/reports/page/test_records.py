from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case
from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME, Journal, JournalError, Mode
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.page.page import Sources, page_text
from relaxcheck.reports.page.records import FIXES, ran_of, read_campaign
from relaxcheck.reports.rendering import SHAPES
from tests.reports import html_campaign as made


def test_a_campaign_is_read_in_order_of_time_without_its_trials(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    record = read_campaign(made.usual(tmp_path / "one"), lambda *numbers: heard.append(numbers))
    # Several may begin within a millisecond, which is all that the journal tells apart.
    assert Counter(case.verdict for case in record.ran) == {
        Verdict.PASS: 1,
        Verdict.WRONG_VALUE: 2,
        Verdict.OPAQUE_CRASH: 1,
    }
    assert [case.began for case in record.ran] == sorted(case.began for case in record.ran)
    assert heard == [(number, 4) for number in (1, 2, 3, 4)]
    assert record.name == "one"
    assert record.failed == 3
    assert {finding.fingerprint for finding in record.findings} == {
        made.DILATED.fingerprint,
        made.LAYOUT.fingerprint,
    }
    wrong = [case.finding == made.DILATED.fingerprint for case in record.ran]
    assert wrong == [case.verdict is Verdict.WRONG_VALUE for case in record.ran]


def test_a_case_that_never_ended_is_counted_apart(tmp_path: Path) -> None:
    made.usual(tmp_path)
    with Journal(tmp_path, Mode.RESUME) as journal:
        journal.start(made.case(50), DRAWN)
    record = read_campaign(tmp_path)
    assert (len(record.ran), record.unended) == (4, 1)


def test_of_a_long_campaign_a_sample_is_read_and_all_is_counted(tmp_path: Path) -> None:
    ended = [(made.case(seed), made.PASS, None) for seed in range(100, 136)]
    ended += [(made.case(4, dilation__w=3), made.WRONG, made.DILATED)]
    ended += [(made.LAYOUT.case, made.CRASH, made.LAYOUT)]
    made.write(tmp_path, ended)
    whole, sample = read_campaign(tmp_path), read_campaign(tmp_path, most=10)
    assert (whole.every, len(whole.ran)) == (1, 38)
    assert (sample.every, len(sample.ran)) == (4, 10)
    assert all(case in whole.ran for case in sample.ran)
    assert sample.verdicts == whole.verdicts == {"pass": 36, "wrong-value": 1, "opaque-crash": 1}
    assert (sample.cases, sample.failed, sample.unended) == (38, 2, 0)
    assert sample.times == whole.times
    assert sample.times.keys() == {made.DILATED.fingerprint, made.LAYOUT.fingerprint}
    page = page_text(Sources(sample))
    assert "one case in 4" in page
    assert "38 cases" in page


def test_cells_are_those_of_the_axes_and_of_the_page() -> None:
    moment = read_moment()
    cells = ran_of(made.case(dilation__w=2, symbolic__batch=True), Verdict.PASS, moment).cells
    assert cells["dilation.w"] == "2"
    assert cells["data_layout"] == "NCW"
    assert (cells[SHAPES], cells[FIXES]) == ("symbolic", "off")
    assert ran_of(made.case(), Verdict.PASS, moment).cells[SHAPES] == "static"


@pytest.mark.parametrize(
    "changed",
    [
        replace(made.case(), expect=Invalid("nn.x", ("groups",))),
        replace(made.case(), family="one of another time"),
        replace(made.case(), at=UNSET),
    ],
)
def test_points_off_the_axes_have_no_cells(changed: Case) -> None:
    assert ran_of(changed, Verdict.REJECTED, read_moment()).cells == {}


def test_a_folder_without_a_campaign_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=f"holds no campaign .{FILE_NAME} is missing"):
        read_campaign(tmp_path)


def read_moment() -> datetime:
    return datetime(2026, 1, 2, tzinfo=UTC)
