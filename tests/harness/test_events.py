"""Events of a campaign, summarised in a line or two."""

from relaxcheck.harness.events import DESCRIPTIONS, Event, EventType, summary_of


def test_no_events_have_an_empty_summary() -> None:
    assert summary_of([], 0) == []


def test_workers_are_counted_and_other_events_listed() -> None:
    events = [
        Event(EventType.DIED, "one"),
        Event(EventType.RECYCLED, "after 1000 cases"),
        Event(EventType.DIED, "another"),
        Event(EventType.INTERRUPTED, "by SIGTERM after 12 cases"),
        Event(EventType.RESUMED, "after 12 cases"),
        Event(EventType.RESUMED, "after 20 cases"),
        Event(EventType.SALVAGED, "the file was damaged"),
    ]
    assert summary_of(events, 3) == [
        "Workers: 2 workers died of their case, 1 was replaced after its number of cases, or "
        "for what it kept.",
        "The campaign: interrupted by SIGTERM after 12 cases; the file was damaged; resumed 2 "
        "times; 3 of the cases that began have not ended: --resume runs them.",
    ]


def test_one_event_is_in_the_singular() -> None:
    for singular, plural in DESCRIPTIONS.values():
        assert singular != plural
        assert "{}" in plural
        assert "{}" not in singular
    assert summary_of([Event(EventType.DIED, "one")], 1) == [
        "Workers: 1 worker died of its case.",
        "The campaign: 1 of the cases that began has not ended: --resume runs them.",
    ]


def test_every_type_of_event_is_summarised() -> None:
    for kind in EventType:
        (line,) = summary_of([Event(kind, "the particulars")], 0)
        assert "1" in line or "once" in line or "the particulars" in line
    listed_singly = {
        EventType.INTERRUPTED,
        EventType.RESUMED,
        EventType.SALVAGED,
        EventType.GONE,
        EventType.CURED,
    }
    assert set(EventType) - set(DESCRIPTIONS) == listed_singly
