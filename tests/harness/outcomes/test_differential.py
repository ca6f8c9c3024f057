"""The release differential: what is a regression, and which failure of a case is looked into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relaxcheck.harness.outcomes.differential import (
    Regression,
    by_release,
    described_on,
    each_version,
    environment_on,
    joined,
    marked,
    passed,
    regression,
    seen_on,
    together,
    versions,
    worst,
)
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict

NAMES = ("0.9", "0.25", "0.26", "0.27")
P, R, F, G, S, H = (
    Verdict.PASS,
    Verdict.REJECTED,
    Verdict.SILENT_BAIL,
    Verdict.OPAQUE_CRASH,
    Verdict.ORACLE_SPLIT,
    Verdict.HARNESS_ERROR,
)

OUTCOMES = st.dictionaries(
    st.sampled_from(NAMES),
    st.sampled_from(Verdict).map(lambda verdict: Outcome(verdict, message="said")),
    min_size=1,
)


def came(*verdicts: Verdict) -> Outcome:
    """On the first releases, as many as there are ``verdicts``."""
    return together(dict(zip(NAMES, map(Outcome, verdicts), strict=False)))


@given(OUTCOMES, st.data())
def test_nothing_is_lost_whichever_release_it_is_seen_on(
    outcomes: dict[str, Outcome], data: st.DataObject
) -> None:
    seen = seen_on(data.draw(st.sampled_from(sorted(outcomes))), outcomes)
    held = by_release(seen)
    assert list(held) == [name for name in NAMES if name in outcomes]
    assert {name: (part.verdict, part.message) for name, part in held.items()} == {
        name: (outcome.verdict, outcome.message) for name, outcome in outcomes.items()
    }
    assert all(part.release == name and not part.elsewhere for name, part in held.items())
    assert together(held) == together(outcomes)


def test_a_campaign_of_one_release_has_no_name_for_it() -> None:
    outcome = Outcome(F)
    assert by_release(outcome) == {"": outcome}
    assert worst(outcome) == (outcome, None)
    assert regression(outcome) is None


@pytest.mark.parametrize(
    ("verdicts", "release", "good"),
    [
        ((F, F, F, F), "0.27", None),
        ((P, P, F, F), "0.26", "0.25"),
        ((R, F, F, G), "0.25", "0.9"),
        # It passes again: a regression all the same.
        ((P, P, F, P), "0.26", "0.25"),
        ((F, P, P, P), "0.9", None),
        ((F, P, F, G), "0.26", "0.25"),
        # Of two, the later one.
        ((P, F, P, G), "0.27", "0.26"),
        # An outcome that says nothing about TVM neither passes nor fails.
        ((P, S, F, F), "0.26", "0.9"),
        ((H, F, P, P), "0.25", None),
        ((P, S, P, H), "0.27", None),
        ((P, S, P, P), "0.25", None),
    ],
)
def test_one_failure_of_a_case_is_looked_into(
    verdicts: tuple[Verdict, ...], release: str, good: str | None
) -> None:
    outcome = came(*verdicts)
    result = worst(outcome)
    assert result is not None
    assert (result.outcome.release, result.good) == (release, good)
    assert by_release(result.outcome) == by_release(outcome)
    wanted = None if good is None else Regression(good, release)
    assert regression(result.outcome) == wanted


@pytest.mark.parametrize("verdicts", [(P, P, P, P), (R, R), (P, Verdict.NO_ORACLE)])
def test_nothing_is_looked_into_where_nothing_failed(verdicts: tuple[Verdict, ...]) -> None:
    assert worst(came(*verdicts)) is None


def test_a_declared_failure_neither_passes_nor_fails_on_its_release() -> None:
    gap = {"0.26": "a gap"}
    assert worst(marked(came(P, P, F, P), gap)) is None
    result = worst(marked(came(P, P, F, F), gap))
    assert result is not None
    assert (result.outcome.release, result.good) == ("0.27", "0.25")
    # Report the pair that was investigated, not one with the gap in it.
    assert regression(result.outcome) == Regression("0.25", "0.27")
    assert regression(came(P, P, F, F)) == Regression("0.25", "0.26")
    assert marked(result.outcome, {}) == seen_on("0.27", by_release(came(P, P, F, F)))
    result = worst(marked(came(F, P, F, P), gap))
    assert result is not None
    assert (result.outcome.release, result.good) == ("0.9", None)


def test_a_corrupted_heap_is_no_regression() -> None:
    died = Outcome(Verdict.PROCESS_DEATH, "run", message="double free or corruption (out)")
    result = worst(together({"0.26": Outcome(P), "0.27": died}))
    assert result is not None
    assert (result.outcome.release, result.good) == ("0.27", None)
    assert regression(result.outcome) is None


@given(OUTCOMES)
def test_a_regression_is_a_pass_before_a_failure(outcomes: dict[str, Outcome]) -> None:
    result = worst(together(outcomes))
    between = None if result is None else regression(result.outcome)
    names = [name for name in NAMES if name in outcomes]
    fails = [name for name in names if outcomes[name].verdict.is_failure]
    passes = [name for name in names if passed(outcomes[name])]
    there = any(names.index(good) < names.index(bad) for good in passes for bad in fails)
    assert (between is not None) is there
    if between is not None:
        assert between.good in passes
        assert between.bad in fails
        assert names.index(between.good) < names.index(between.bad)


def test_the_versions_of_each_release_are_distinguished() -> None:
    newest = {"apache-tvm": "0.27.1", "numpy": "2.0", "platform": "here"}
    older = {"apache-tvm": "0.9.0", "numpy": "1.0", "platform": "here"}
    middle = {"apache-tvm": "0.26.0", "numpy": "2.0", "platform": "here"}
    described = joined({"0.27": newest, "0.9": older, "0.26": middle})
    assert "platform on 0.9" not in described
    for name, wanted in (("0.27", newest), ("0.9", older), ("0.26", middle), ("", newest)):
        result = environment_on(name, described)
        assert {key: result[key] for key in wanted} == wanted
    assert versions(described) == "0.9.0, 0.26.0, 0.27.1"
    assert joined({"0.27": newest}) == newest
    assert versions(newest) == "0.27.1"
    assert each_version({**described, "release": "0.9 0.26 0.27"}) == ("0.9.0", "0.26.0", "0.27.1")
    assert each_version({**newest, "release": "0.27"}) == each_version(newest) == ("0.27.1",)


def test_of_several_releases_one_is_described_as_if_alone() -> None:
    described = {
        **joined({"0.25": {"apache-tvm": "0.25.1"}, "0.26": {"apache-tvm": "0.26.0"}}),
        "release": "0.25 0.26",
    }
    for release, on, version in (("0.25", "0.25", "0.25.1"), ("", "0.26", "0.26.0")):
        result = described_on(release, described)
        assert (result["release"], result["apache-tvm"]) == (on, version)
    alone = {"release": "0.25", "apache-tvm": "0.25.1"}
    assert described_on("", alone) == alone
