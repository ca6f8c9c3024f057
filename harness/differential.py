"""The release differential: one case on several TVM releases, as an oracle.

A *regression* is a case that passes on a release and fails on a later one. Nothing but TVM differs
between the two, so it needs no other oracle to be believed.
"""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from harness.outcome import Outcome, Verdict
from harness.releases import by_age

_PASSED = frozenset({Verdict.PASS, Verdict.REJECTED})
_TOLD = (Verdict.HARNESS_ERROR, Verdict.ORACLE_SPLIT)
"""What is looked into besides failures, the more urgent first."""

_ON = "{} on {}"
_PACKAGE = "apache-tvm"
_RELEASE = "release"
"""What a description calls the releases that its campaign ran on."""

_SHARED = "platform"
"""What all releases have in common: they run on one machine."""


class Regression(NamedTuple):
    """The release ``good`` is the last before ``bad`` that passes."""

    good: str
    bad: str

    def __str__(self) -> str:
        return f"{self.good} → {self.bad}"


class Failure(NamedTuple):
    """What has to be looked into of a case; ``good``: of a regression, where it passed."""

    outcome: Outcome
    good: str | None


def passed(outcome: Outcome) -> bool:
    """Whether TVM did as it should: a valid program ran, an invalid one was refused."""
    return outcome.verdict in _PASSED


def together(outcomes: Mapping[str, Outcome]) -> Outcome:
    """The outcomes of a case by release as one: that on the newest, which holds the others."""
    return seen_on(by_age(outcomes)[-1], outcomes)


def seen_on(release: str, outcomes: Mapping[str, Outcome]) -> Outcome:
    """The outcome on ``release``, which holds those on the others."""
    if len(outcomes) == 1:
        return (
            outcomes[release]
            if outcomes[release].release == release
            else replace(outcomes[release], release=release)
        )
    elsewhere = {
        name: replace(outcomes[name], release=name, elsewhere={})
        for name in by_age(outcomes)
        if name != release
    }
    return replace(outcomes[release], release=release, elsewhere=elsewhere)


def by_release(outcome: Outcome) -> dict[str, Outcome]:
    """Every outcome that ``outcome`` holds, the oldest release first.

    Where a campaign is of one release only, that is called ``""``.
    """
    if not outcome.elsewhere:
        return {outcome.release: outcome}
    held = {**outcome.elsewhere, outcome.release: replace(outcome, elsewhere={})}
    return {name: held[name] for name in by_age(held)}


def marked(outcome: Outcome, gaps: Mapping[str, str]) -> Outcome:
    """``outcome`` with the declared gap that it fell into on each release, by ``gaps``."""
    own = replace(outcome, gap=gaps.get(outcome.release, ""))
    elsewhere = {
        name: replace(one, gap=gaps.get(name, "")) for name, one in outcome.elsewhere.items()
    }
    return replace(own, elsewhere=elsewhere)


def regression(outcome: Outcome) -> Regression | None:
    """The regression that the failure ``outcome`` is, by what came of it on earlier releases.

    On releases where it fell into a gap it neither passed nor failed.
    """
    outcomes = {
        name: one
        for name, one in by_release(outcome).items()
        if name == outcome.release or not one.gap
    }
    names = tuple(outcomes)
    until = names[: names.index(outcome.release)]
    good = next((name for name in reversed(until) if passed(outcomes[name])), None)
    if good is None or not outcome.verdict.is_failure:
        return None
    later = names[names.index(good) + 1 :]
    return Regression(good, next(name for name in later if outcomes[name].verdict.is_failure))


def worst(outcome: Outcome) -> Failure | None:
    """What has to be looked into of a case with ``outcome``; None where nothing has.

    It is one failure, as one cause is one finding: the latest regression, on the first release
    that fails; without any, the failure on the newest release. On releases where it fell into a gap
    it neither passed nor failed.
    """
    outcomes = by_release(outcome)
    counted = {name: one for name, one in outcomes.items() if not one.gap}
    good: str | None = None
    regressed: Failure | None = None
    for name, one in counted.items():
        if passed(one):
            good = name
        elif one.verdict.is_failure and good is not None:
            regressed, good = Failure(seen_on(name, outcomes), good), None
    if regressed is not None:
        return regressed
    newest_first = list(reversed(counted.items()))
    for name, one in newest_first:
        if one.verdict.is_failure:
            return Failure(seen_on(name, outcomes), None)
    for verdict in _TOLD:
        for name, one in newest_first:
            if one.verdict is verdict:
                return Failure(seen_on(name, outcomes), None)
    return None


def joined(environments: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The versions that each release ran with as one description.

    Those of the newest are called as they are, others ``apache-tvm on 0.25``.
    """
    *others, newest = by_age(environments)
    described = dict(environments[newest])
    for name in others:
        for key, version in environments[name].items():
            if key != _SHARED:
                described[_ON.format(key, name)] = version
    return described


def environment_on(release: str, described: Mapping[str, str]) -> Mapping[str, str]:
    """The versions that ``release`` ran with, of what ``joined`` gave."""
    if not release:
        return described
    return {key: described.get(_ON.format(key, release), one) for key, one in described.items()}


def described_on(release: str, described: Mapping[str, str]) -> Mapping[str, str]:
    """The description of a campaign, on ``release`` alone where it ran on several.

    Where ``release`` is empty that is the newest.
    """
    names = described.get(_RELEASE, "").split()
    if len(names) < 2:
        return described
    on = release or names[-1]
    return {**environment_on(on, described), _RELEASE: on}


def each_version(described: Mapping[str, str]) -> tuple[str, ...]:
    """The version of apache-tvm of each release in a campaign's description."""
    names = described.get(_RELEASE, "").split()
    return tuple(environment_on(name, described)[_PACKAGE] for name in names or [""])


def versions(described: Mapping[str, str]) -> str:
    """The versions of apache-tvm in a campaign's description, the oldest first."""
    beginning = _ON.format(_PACKAGE, "")
    others = {key.removeprefix(beginning) for key in described if key.startswith(beginning)}
    older = [described[_ON.format(_PACKAGE, name)] for name in by_age(others)]
    return ", ".join([*older, described[_PACKAGE]])
