"""Faults over nights: new, back, alive, not seen, fixed; compared with nights that could tell."""

from relaxcheck.reports.site.tracking import OPEN, Fate, series_of
from tests.reports.site.making import night, seen

A, B = seen("a"), seen("b")


def _fates(*nights: object) -> dict[str, Fate]:
    (series,) = series_of(nights)  # type: ignore[arg-type]
    return {fault.last.fingerprint: fault.fate for fault in series.faults}


def test_a_fault_that_only_the_last_night_saw_is_new() -> None:
    assert _fates(night(0, A), night(1, A, B)) == {"a": Fate.ALIVE, "b": Fate.NEW}


def test_the_first_night_has_nothing_to_be_compared_with() -> None:
    assert _fates(night(0, A, B)) == {"a": Fate.ALIVE, "b": Fate.ALIVE}


def test_a_fault_is_fixed_only_where_its_case_passed() -> None:
    assert _fates(night(0, A, B), night(1, gone=("b",))) == {"a": Fate.UNSEEN, "b": Fate.FIXED}


def test_a_fault_that_comes_back_is_neither_new_nor_fixed() -> None:
    assert _fates(night(0, A), night(1, gone=("a",)), night(2, A)) == {"a": Fate.RETURNED}
    assert _fates(night(0, A), night(1), night(2, A), night(3, A)) == {"a": Fate.ALIVE}


def test_a_night_of_other_families_says_nothing() -> None:
    other = seen("c", family="sum")
    nights = (night(0, A), night(1, other, families=("sum",)), night(2, other, families=("sum",)))
    assert _fates(*nights) == {"a": Fate.ALIVE, "c": Fate.ALIVE}
    # The family is drawn for the first time: there is no night that could have seen the fault.
    assert _fates(*nights[:2])["c"] is Fate.ALIVE


def test_nights_that_grouped_failures_in_another_way_are_not_compared() -> None:
    (series,) = series_of((night(0, A, fingerprints="10"), night(1, B)))
    assert [(fault.last.fingerprint, fault.fate) for fault in series.faults] == [("b", Fate.ALIVE)]
    assert (len(series.nights), series.compared) == (2, 1)


def test_series_are_by_release_and_in_order_of_time() -> None:
    made = series_of((night(2, A), night(0, A, release="0.26"), night(1, A, B), night(1, B)))
    assert [each.title for each in made] == ["TVM 0.26, fixes off", "TVM 0.27, fixes off"]
    began = [one.began for one in made[1].nights]
    assert began == sorted(began)


def test_declared_faults_are_apart_from_those_that_count() -> None:
    expected = seen("d", declared="corpus entry d")
    (series,) = series_of((night(0, A), night(1, A, B, expected)))
    assert [each.last.fingerprint for each in series.of(*OPEN)] == ["a", "b"]
    assert [(each.last.fingerprint, each.fate) for each in series.declared] == [("d", Fate.NEW)]
    # A declaration that came later, or is over, counts from the last night that saw the fault.
    (series,) = series_of((night(0, expected), night(1, seen("d"))))
    assert (len(series.of(*OPEN)), series.declared) == (1, ())


def test_error_messages_are_no_faults_and_cases_add_up() -> None:
    message = seen("m", severity="error message")
    (series,) = series_of((night(0, A, message), night(1, seen("a", count=4))))
    (fault,) = series.faults
    assert (fault.cases, fault.nights, fault.first_seen, fault.last_seen) == (5, 2, 0, 1)
