"""What befell a campaign, in a line or two."""

from harness.events import DESCRIPTIONS, Event, What, told


def test_nothing_is_told_of_nothing() -> None:
    assert told([], 0) == []


def test_workers_are_counted_and_the_rest_is_told() -> None:
    events = [
        Event(What.DIED, "one"),
        Event(What.RECYCLED, "after 1000 cases"),
        Event(What.DIED, "another"),
        Event(What.INTERRUPTED, "by SIGTERM after 12 cases"),
        Event(What.RESUMED, "after 12 cases"),
        Event(What.RESUMED, "after 20 cases"),
        Event(What.SALVAGED, "the file was damaged"),
    ]
    assert told(events, 3) == [
        "Workers: 2 workers died of their case, 1 were replaced after their number of cases, or "
        "for what they kept.",
        "The campaign: interrupted by SIGTERM after 12 cases; the file was damaged; resumed 2 "
        "times; 3 of the cases that began have not ended: --resume runs them.",
    ]


def test_whatever_can_happen_is_told() -> None:
    for what in What:
        (line,) = told([Event(what, "the particulars")], 0)
        assert "1" in line or "once" in line or "the particulars" in line
    told_one_by_one = {What.INTERRUPTED, What.RESUMED, What.SALVAGED, What.GONE}
    assert set(What) - set(DESCRIPTIONS) == told_one_by_one
