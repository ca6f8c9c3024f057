"""The release differential: one case on several TVM releases, as an oracle.

A *regression* is a case that passes on a release and fails on a later one. Nothing but TVM differs
between the two, so it needs no other oracle to be believed.
"""

from collections.abc import Mapping
from typing import NamedTuple

from msgspec.structs import replace

from relaxcheck.harness.outcomes.errors import corrupts_heap
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.environment import BUILD, tvm_version
from relaxcheck.harness.releases.releases import by_age

_UNDECIDED = (Verdict.HARNESS_ERROR, Verdict.ORACLE_SPLIT)
"""Verdicts that are investigated besides failures, the more urgent first."""

_ON = "{} on {}"
_PACKAGE = "apache-tvm"
_RELEASE = "release"
"""The key of the releases in a campaign's description."""

_SHARED = "platform"
"""The key that all releases share: they run on one machine."""


class Regression(NamedTuple):
    """``good`` is the last release that passes before ``bad``, the first that fails."""

    good: str
    bad: str

    def __str__(self) -> str:
        return f"{self.good} → {self.bad}"


class Failure(NamedTuple):
    """A failure to investigate. ``good`` is the last release that passes, if it is a regression."""

    outcome: Outcome
    good: str | None


def passed(outcome: Outcome) -> bool:
    """True if TVM did right: a valid program ran, an invalid one was refused."""
    return outcome.verdict.is_right


def together(outcomes: Mapping[str, Outcome]) -> Outcome:
    """One outcome for several releases: that on the newest, which holds the others."""
    return seen_on(by_age(outcomes)[-1], outcomes)


def seen_on(release: str, outcomes: Mapping[str, Outcome]) -> Outcome:
    """The outcome on ``release``, holding those on the others."""
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

    The release of a campaign on one release is called ``""``.
    """
    if not outcome.elsewhere:
        return {outcome.release: outcome}
    held = {**outcome.elsewhere, outcome.release: replace(outcome, elsewhere={})}
    return {name: held[name] for name in by_age(held)}


def marked(outcome: Outcome, expected_by: Mapping[str, str]) -> Outcome:
    """``outcome`` with the names of the expected failures that cover it, by release."""
    own = replace(outcome, expected_by=expected_by.get(outcome.release, ""))
    elsewhere = {
        name: replace(on_release, expected_by=expected_by.get(name, ""))
        for name, on_release in outcome.elsewhere.items()
    }
    return replace(own, elsewhere=elsewhere)


def regression(outcome: Outcome) -> Regression | None:
    """The regression that the failure ``outcome`` is, judged by earlier releases, or None.

    A release on which the failure was declared counts neither as passing nor as failing. None is a
    corrupted heap, which is noticed by chance.
    """
    outcomes = {
        name: on_release
        for name, on_release in by_release(outcome).items()
        if name == outcome.release or not on_release.expected_by
    }
    names = tuple(outcomes)
    until = names[: names.index(outcome.release)]
    good = next((name for name in reversed(until) if passed(outcomes[name])), None)
    if good is None or not outcome.verdict.is_failure or corrupts_heap(outcome.message):
        return None
    later = names[names.index(good) + 1 :]
    return Regression(good, next(name for name in later if outcomes[name].verdict.is_failure))


def worst(outcome: Outcome) -> Failure | None:
    """The failure to investigate in ``outcome``, or None.

    One cause is one finding, so it is one failure: the latest regression, on the first release that
    fails; without any, the failure on the newest release. A release on which the failure was
    declared counts neither as passing nor as failing.
    """
    outcomes = by_release(outcome)
    counted = {name: ended for name, ended in outcomes.items() if not ended.expected_by}
    good: str | None = None
    regressed: Failure | None = None
    for name, ended in counted.items():
        if passed(ended):
            good = name
        elif corrupts_heap(ended.message):
            good = None
        elif ended.verdict.is_failure and good is not None:
            regressed, good = Failure(seen_on(name, outcomes), good), None
    if regressed is not None:
        return regressed
    newest_first = list(reversed(counted.items()))
    for name, ended in newest_first:
        if ended.verdict.is_failure:
            return Failure(seen_on(name, outcomes), None)
    for verdict in _UNDECIDED:
        for name, ended in newest_first:
            if ended.verdict is verdict:
                return Failure(seen_on(name, outcomes), None)
    return None


def joined(environments: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The versions of each release as one description.

    Keys of the newest stay as they are, others become ``apache-tvm on 0.25``.
    """
    *others, newest = by_age(environments)
    described = dict(environments[newest])
    for name in others:
        for key, version in environments[name].items():
            if key != _SHARED:
                described[_ON.format(key, name)] = version
    return described


def environment_on(release: str, described: Mapping[str, str]) -> Mapping[str, str]:
    """The versions of ``release`` in a description that ``joined`` made."""
    if not release:
        return described
    there = {key: described.get(_ON.format(key, release), text) for key, text in described.items()}
    elsewhere = _ON.format(_PACKAGE, release) in described
    if elsewhere and _ON.format(BUILD, release) not in described:
        # The newest is a build, and this release is none.
        there.pop(BUILD, None)
    elif elsewhere:
        there[BUILD] = described[_ON.format(BUILD, release)]
    return there


def described_on(release: str, described: Mapping[str, str]) -> Mapping[str, str]:
    """A campaign's description, reduced to ``release`` if it ran on several.

    An empty ``release`` is the newest.
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
    """The versions of apache-tvm in a campaign's description, the oldest first; builds named."""
    beginning = _ON.format(_PACKAGE, "")
    others = {key.removeprefix(beginning) for key in described if key.startswith(beginning)}
    older = [tvm_version(environment_on(name, described)) for name in by_age(others)]
    return ", ".join([*older, tvm_version(described)])
