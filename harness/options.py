"""The options of a campaign: those given, and those of one that goes on."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from generators.axes import Family
from generators.families import every
from generators.families import families as usual
from generators.families import family as family_named
from generators.program import CaseError
from harness.campaign import Plan
from harness.drawing import Shard
from harness.finding import Finding
from harness.fingerprint import FINGERPRINT_FORMAT
from harness.journal import Journal, Mode
from harness.pipelines import PIPELINES

ALL = "all"
"""In place of names: every family that there is, also those that are asked for by name."""


class Switch(enum.StrEnum):
    """Whether the bundled fixes are installed."""

    ON = "on"
    OFF = "off"


class Fixes(enum.StrEnum):
    """Whether what is drawn runs with the bundled fixes, without them, or both."""

    ON = "on"
    OFF = "off"
    BOTH = "both"

    @property
    def sides(self) -> tuple[bool, ...]:
        """What a case's ``fixes`` is, each time that it runs."""
        return {Fixes.ON: (True,), Fixes.OFF: (False,), Fixes.BOTH: (False, True)}[self]


@dataclass(frozen=True, slots=True)
class Options:
    """What makes a campaign the same one when it goes on another day, and where it is kept.

    ``release`` names the TVM release that workers run, or several (``harness.releases``), the
    oldest first and with spaces between them.
    """

    families: tuple[str, ...]
    pipelines: tuple[str, ...]
    seed: int
    fixes: Fixes
    uniform: bool
    shard: Shard
    release: str
    directory: Path

    @property
    def releases(self) -> tuple[str, ...]:
        """The name of each release, the oldest first."""
        return tuple(self.release.split())

    @property
    def description(self) -> dict[str, str]:
        """The options as the journal holds them, by the names in ``OPTIONS``."""
        return {
            "families": " ".join(self.families),
            FINGERPRINTS: str(FINGERPRINT_FORMAT),
            "pipelines": " ".join(self.pipelines),
            "seed": str(self.seed),
            "fixes": self.fixes.value,
            "drawn": "uniformly" if self.uniform else "steered",
            "shard": str(self.shard),
            "release": self.release,
        }

    def plan(
        self,
        seconds: float,
        most_cases: int | None,
        known: tuple[Finding, ...] = (),
        *,
        until_new: bool = False,
    ) -> Plan:
        """The plan of a campaign with these options.

        Failures are reduced along all pipelines, so that one is blamed only where it is to blame.
        Where every case runs on several releases, the grace at the end is as much longer.
        """
        plan = Plan(
            _made(self.families, self.pipelines),
            self.seed,
            seconds,
            self.fixes.sides,
            most_cases,
            uniform=self.uniform,
            shard=self.shard,
            grids=_made(self.families, tuple(PIPELINES)),
            known=known,
            until_new=until_new,
        )
        return replace(plan, grace=plan.grace * len(self.releases))


OPTIONS = ("families", "pipelines", "seed", "fixes", "drawn", "shard", "release")
"""What a campaign's description holds besides the versions that it ran with."""


FINGERPRINTS = "fingerprint format"
"""In the description of a campaign: the format that its findings' fingerprints have."""

MERGED = "merged"
"""In the description of a merge: the options of the campaigns in it, as JSON."""


def resumed(directory: Path, given: Sequence[str]) -> Options:
    """The options of the campaign in ``directory``; ``given`` on the command line must be none.

    Raises:
        CaseError: some were given, the campaign ended before it began, or what it was begun with is
            not all there.
        JournalError: there is no campaign.
    """
    if given:
        raise CaseError(
            f"--resume goes on with what the campaign draws and with its fixes; "
            f"leave out {', '.join(given)}"
        )
    with Journal(directory, Mode.RESUME) as journal:
        described = journal.description
    if MERGED in described:
        raise CaseError(
            f"{directory} is a merge of campaigns and draws nothing itself; go on with one of them"
        )
    if (why := not_begun(described)) is not None:
        raise CaseError(f"the campaign in {directory} {why}; start a new one")
    if described.get(FINGERPRINTS) != str(FINGERPRINT_FORMAT):
        raise CaseError(
            f"the campaign in {directory} tells findings apart in another way than this version of "
            f"relaxcheck does; start a new one (--known {directory} knows what it found)"
        )
    return Options(
        chosen_families(described["families"].split()),
        chosen_pipelines(described["pipelines"].split()),
        int(described["seed"]),
        Fixes(described["fixes"]),
        described["drawn"] == "uniformly",
        shard(described["shard"]),
        described["release"],
        directory,
    )


def not_begun(described: Mapping[str, str]) -> str | None:
    """Why a campaign that is ``described`` so cannot be gone on with or merged; None if it can."""
    missing = [option for option in OPTIONS if option not in described]
    if len(missing) == len(OPTIONS):
        return "ended before it began"
    if missing:
        return (
            "was written by another version of relaxcheck, which did not record its "
            f"{' and '.join(missing)}"
        )
    return None


def check_versions(
    directory: Path, recorded: Mapping[str, str], environment: Mapping[str, str]
) -> None:
    """See that a campaign goes on with the versions that it was ``recorded`` with.

    Raises:
        CaseError: ``environment`` has others.
    """
    changed = [
        f"{name} was {recorded[name]} and is {version}"
        for name, version in environment.items()
        if recorded.get(name, version) != version
    ]
    if changed:
        raise CaseError(f"cannot go on with {directory}: {'; '.join(changed)}; start a new one")


def chosen_families(names: Sequence[str] | None) -> tuple[str, ...]:
    """The families called ``names``, the usual ones without, and each that there is for ``ALL``.

    Raises:
        CaseError: there is no such family.
    """
    if not names:
        return tuple(one.name for one in usual(tuple(PIPELINES)))
    if list(names) == [ALL]:
        return tuple(one.name for one in every(tuple(PIPELINES)))
    _made(names, tuple(PIPELINES))
    return tuple(names)


def chosen_pipelines(names: Sequence[str] | None) -> tuple[str, ...]:
    """The pipelines called ``names``, in the order of ``PIPELINES``; all of them without.

    Raises:
        CaseError: there is no such pipeline.
    """
    for name in names or ():
        if name not in PIPELINES:
            raise CaseError(f"no pipeline {name!r}; the pipelines are {', '.join(PIPELINES)}")
    return tuple(name for name in PIPELINES if not names or name in names)


def shard(text: str) -> Shard:
    """The shard written ``K/N``.

    Raises:
        CaseError: it is none.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal()):
        raise CaseError(f"shard {text!r} is not of the form K/N, such as 2/8")
    try:
        return Shard(int(number), int(of))
    except ValueError as error:
        raise CaseError(str(error)) from error


def _made(names: Sequence[str], pipelines: Sequence[str]) -> tuple[Family, ...]:
    try:
        return tuple(family_named(name, pipelines) for name in names)
    except KeyError as error:
        raise CaseError(str(error.args[0])) from error
