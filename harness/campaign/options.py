"""The options of a campaign: from the command line, or from the campaign that it resumes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from relaxcheck.extensions.naming import is_own
from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness import kinds
from relaxcheck.harness.campaign.campaign import Plan
from relaxcheck.harness.campaign.drawing import Shard
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.native.toolchain import chosen_target
from relaxcheck.harness.releases.releases import is_alone
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import FINGERPRINT_FORMAT

ALL = "all"
"""Instead of names: every family, also those that are drawn only when named."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a resumed campaign must share, and its folder.

    ``release`` names the TVM release of the workers (``harness.releases.releases``), or several,
    the oldest first, separated by spaces.
    """

    families: tuple[str, ...]
    pipelines: tuple[str, ...]
    seed: int
    fixes: Fixes
    uniform: bool
    shard: Shard
    release: str
    directory: Path
    target: str = LLVM

    @property
    def releases(self) -> tuple[str, ...]:
        """The name of each release, the oldest first."""
        return tuple(self.release.split())

    @property
    def alone(self) -> bool:
        """True if one of the releases is TIRx alone: cases are such as it can run."""
        return any(map(is_alone, self.releases))

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
            **({} if self.target == LLVM else {TARGET: self.target}),
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

        Failures are reduced along all pipelines, so that a pipeline is blamed only if it matters.
        The grace at the end is multiplied by the number of releases.
        """
        plan = Plan(
            _made(self.families, self.pipelines, alone=self.alone),
            self.seed,
            seconds,
            self.fixes.sides,
            most_cases,
            uniform=self.uniform,
            shard=self.shard,
            grids=_made(self.families, alone=self.alone),
            known=known,
            until_new=until_new,
            target=self.target,
        )
        return replace(plan, grace=plan.grace * len(self.releases))


TARGET = "target"
"""The key of a campaign's description for a target other than LLVM's."""

OPTIONS = ("families", "pipelines", "seed", "fixes", "drawn", "shard", "release")
"""The keys of a campaign's description besides its versions."""


FINGERPRINTS = "fingerprint format"
"""The key of a campaign's description for the format of its fingerprints."""

MERGED = "merged"
"""The key of a merge's description for the options of its campaigns, as JSON."""


def resumed(directory: Path, options: Sequence[str]) -> Options:
    """The options of the campaign in ``directory``; the command line may have ``options`` none.

    Raises:
        CaseError: some were given, the campaign ended before it began, or its description is
            incomplete.
        JournalError: there is no campaign.
    """
    if options:
        raise CaseError(
            f"--resume goes on with what the campaign draws and with its fixes; "
            f"leave out {', '.join(options)}"
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
    target = chosen_target(described.get(TARGET, LLVM)).name
    return Options(
        chosen_families(described["families"].split(), target),
        chosen_pipelines(described["pipelines"].split(), target),
        int(described["seed"]),
        Fixes(described["fixes"]),
        described["drawn"] == "uniformly",
        shard(described["shard"]),
        described["release"],
        directory,
        target,
    )


def not_begun(described: Mapping[str, str]) -> str | None:
    """The reason that a campaign ``described`` so cannot be resumed or merged; None if it can."""
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
    """Check that a campaign resumes with the versions that it was ``recorded`` with.

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


def chosen_families(names: Sequence[str] | None, target: str = LLVM) -> tuple[str, ...]:
    """The families called ``names``: the usual ones without names, every family for ``ALL``.

    A name also stands for the families that it begins, up to a hyphen. All can be compiled for
    ``target``.

    Raises:
        CaseError: there is no such family, or it is not compiled for ``target``.
    """
    if not names:
        return tuple(family.name for family in kinds.usual_families(target=target))
    compiled = tuple(family.name for family in kinds.families_for(target))
    if list(names) == [ALL]:
        return compiled
    every = tuple(family.name for family in kinds.families())
    begun = {name: [each for each in every if each.startswith(f"{name}-")] for name in names}
    chosen = [each for name in names for each in begun[name] or [name]]
    _made(chosen)
    for name in chosen:
        if name not in compiled:
            raise CaseError(f"the family {name} is not compiled for the target {target}")
    return tuple(dict.fromkeys(chosen))


def check_without_relax(options: Options) -> None:
    """Check that TIRx alone, if it is among the releases, can run what ``options`` ask for.

    Raises:
        CaseError: a family, or the fixes, need Relax.
    """
    if not options.alone:
        return
    names = tuple(filter(is_alone, options.releases))
    there = [family.name for family in kinds.families_without_relax()]
    if not set(options.families) <= set(there):
        command = f"relaxcheck fuzz {' '.join(there)} --tvm {','.join(options.releases)}"
        raise CaseError(
            f"TVM {', '.join(names)} has no Relax, and runs the family {', '.join(there)} alone: "
            f"{command}"
        )
    if options.fixes is not Fixes.OFF:
        raise CaseError(
            f"TVM {', '.join(names)} has no Relax, and there are no fixes for it: leave out --fixes"
        )


def chosen_pipelines(names: Sequence[str] | None, target: str = LLVM) -> tuple[str, ...]:
    """The pipelines called ``names``, in their usual order; TVM's for ``target`` without names.

    Raises:
        CaseError: there is no such pipeline, TVM has no default pipeline for ``target``, or it is
            one of the user's own that nobody named on the command line.
    """
    known = kinds.pipelines(target)
    for name in names or ():
        if is_own(name) and name not in known:
            raise CaseError(
                f"{name} is code that is not TVM's; if it is yours, name it: --pipeline {name}"
            )
        if name in kinds.pipelines() and name not in known:
            raise CaseError(f"the pipeline {name} does not compile for the target {target}")
        if name not in known:
            raise CaseError(f"no pipeline {name!r}; the pipelines are {', '.join(known)}")
    return tuple(name for name in known if (name in names if names else not is_own(name)))


def shard(text: str) -> Shard:
    """The shard written ``K/N``.

    Raises:
        CaseError: ``text`` has another form, or there is no such shard.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal()):
        raise CaseError(f"shard {text!r} is not of the form K/N, such as 2/8")
    try:
        return Shard(int(number), int(of))
    except ValueError as error:
        raise CaseError(str(error)) from error


def _made(
    names: Sequence[str], pipelines: Sequence[str] | None = None, *, alone: bool = False
) -> tuple[Family, ...]:
    if alone:
        return tuple(each for each in kinds.families_without_relax() if each.name in names)
    try:
        return tuple(kinds.family(name, pipelines) for name in names)
    except KeyError as error:
        raise CaseError(str(error.args[0])) from error
