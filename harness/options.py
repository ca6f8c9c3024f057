"""The options of a campaign: those given, and those of one that goes on."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from generators.axes import Family
from generators.families import families as all_families
from generators.families import family as family_named
from generators.program import CaseError
from harness.campaign import Plan
from harness.journal import Journal, Mode
from harness.pipelines import PIPELINES


class Switch(enum.StrEnum):
    """Whether the bundled fixes are installed."""

    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Options:
    """What makes a campaign the same one when it goes on another day, and where it is kept."""

    families: tuple[Family, ...]
    seed: int
    fixes: Switch
    uniform: bool
    directory: Path

    @property
    def description(self) -> dict[str, str]:
        """The options as the journal holds them."""
        return {
            "families": " ".join(one.name for one in self.families),
            "seed": str(self.seed),
            "fixes": self.fixes.value,
            "drawn": "uniformly" if self.uniform else "steered",
        }

    def plan(self, seconds: float, most_cases: int | None) -> Plan:
        """The plan of a campaign with these options."""
        return Plan(
            self.families,
            self.seed,
            seconds,
            self.fixes is Switch.ON,
            most_cases,
            uniform=self.uniform,
        )


def resumed(directory: Path, given: Sequence[str]) -> Options:
    """The options of the campaign in ``directory``; ``given`` on the command line must be none.

    Raises:
        CaseError: some were given, or the campaign ended before it began.
        JournalError: there is no campaign.
    """
    if given:
        raise CaseError(
            f"--resume goes on with the campaign's own families, seed and fixes; "
            f"leave out {', '.join(given)}"
        )
    with Journal(directory, Mode.READ) as journal:
        described = journal.description
    if not {"families", "seed", "fixes", "drawn"} <= set(described):
        raise CaseError(f"the campaign in {directory} ended before it began; start a new one")
    return Options(
        chosen(described["families"].split()),
        int(described["seed"]),
        Switch(described["fixes"]),
        described["drawn"] == "uniformly",
        directory,
    )


def check_versions(
    directory: Path, recorded: Mapping[str, str], environment: Mapping[str, str]
) -> None:
    """See that a campaign goes on with the versions that it was ``recorded`` with.

    Raises:
        CaseError: ``environment`` has others.
    """
    changed = [
        f"{name} was {recorded.get(name)} and is {version}"
        for name, version in environment.items()
        if recorded.get(name) != version
    ]
    if changed:
        raise CaseError(f"cannot go on with {directory}: {'; '.join(changed)}; start a new one")


def chosen(names: Sequence[str] | None) -> tuple[Family, ...]:
    """The families called ``names``, all of them without.

    Raises:
        CaseError: there is no such family.
    """
    pipelines = tuple(PIPELINES)
    if not names:
        return tuple(all_families(pipelines))
    try:
        return tuple(family_named(name, pipelines) for name in names)
    except KeyError as error:
        raise CaseError(str(error.args[0])) from error
