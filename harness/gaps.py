"""What is declared as known, as data in ``corpus/known.json``: gaps and findings.

A *gap* is a condition under which a failure is expected. A *finding* is one cause that a campaign
found, with its smallest case. Neither filters anything silently: their cases run, count as
expected failures and are shown; what no longer fails is reported as fixed, and what has expired
fails again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from pathlib import Path

import msgspec

from generators.axes import Axis, Family, Point, complete
from generators.cases import AnyCase, operators
from generators.families import every
from generators.program import Case, CaseError, Mismatch, Valid
from harness import releases
from harness.corpus import CORPUS
from harness.finding import Finding
from harness.fingerprint import fingerprint, kind_of, same_kind
from harness.outcome import Outcome, Verdict
from harness.pipelines import PIPELINES
from harness.releases import within

FILE = CORPUS / "known.json"


@dataclass(frozen=True, slots=True)
class Place:
    """Where ``case`` lies: its ``point`` on the ``axes``, both empty where it lies on none.

    ``family`` is whose axes they are.
    """

    case: AnyCase
    point: Point
    axes: Sequence[Axis]
    family: Family | None = None

    @property
    def is_first(self) -> bool:
        """Whether the program is that of seed 0 here, which it is where no seed decides it."""
        if self.family is None:
            return True
        first = self.family.build(self.point, 0)
        return _program(first) == _program(self.case)


def _program(case: AnyCase) -> object:
    """What of ``case`` a seed may decide."""
    return case.program if isinstance(case, Case) else case.seed


def place_of(case: AnyCase, family: Family | None) -> Place:
    """Where ``case`` lies on the axes of ``family``, if that is its own.

    A wrong call lies where the valid program does that it calls: what does not compile cannot
    refuse a call either.
    """
    if family is None or not isinstance(case.expect, Valid | Mismatch):
        return Place(case, {}, ())
    try:
        return Place(case, family.point(case), family.axes, family)
    except ValueError:
        return Place(case, {}, ())


class Declared(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"
):
    """A failure that is expected.

    ``when`` maps axes to the values (as text) at which it happens; ``releases`` are releases of
    apache-tvm (0.27), or whole versions; ``fixes`` whether it is there with fixes on, off or both
    (None). ``message`` is what TVM says, or a part of it. ``reason`` says why it stays, ``issue``
    where it is reported. After ``expires``, an ISO date, it is not expected any more.
    """

    name: str
    operator: str
    when: dict[str, tuple[str, ...]]
    releases: tuple[str, ...]
    verdict: Verdict
    issue: str | None
    expires: str
    reason: str = ""
    message: str = ""
    fixes: bool | None = None

    def __post_init__(self) -> None:
        # Days are compared as text.
        if date.fromisoformat(self.expires).isoformat() != self.expires:
            raise ValueError(f"Invalid isoformat string: {self.expires!r}, not as 2027-06-30")

    @property
    def title(self) -> str:
        """What a person calls it: ``gap NAME``, ``finding NAME``."""
        return f"{self.__struct_config__.tag} {self.name}"

    def concerns(self, version: str, *, fixes: bool) -> bool:
        """Whether it is declared for ``version`` of apache-tvm, with the fixes on or off."""
        return self.fixes in (None, fixes) and any(within(version, one) for one in self.releases)

    def expired(self, today: str) -> bool:
        """Whether it is not expected any more on ``today``, an ISO date."""
        return self.expires < today


class Gap(Declared, frozen=True, kw_only=True, tag="gap"):
    """A failure that is expected of every case in ``when``.

    Not every case there need fail: one does whose axes are as ``example`` says too, and otherwise
    at their default.
    """

    example: dict[str, str] = {}

    def expects(self, outcome: Outcome) -> bool:
        """Whether ``outcome``, of a case to which it applies, is the failure that is declared."""
        return outcome.verdict is self.verdict and self.message in outcome.message

    def applies(self, place: Place, environment: Mapping[str, str]) -> bool:
        """Whether the case at ``place`` is one where this gap expects its failure."""
        case, point = place.case, place.point
        return (
            self.concerns(environment.get("apache-tvm", ""), fixes=case.fixes)
            and self.operator in operators(case)
            and all(str(point.get(axis)) in values for axis, values in self.when.items())
        )

    def surely_fails(self, place: Place) -> bool:
        """Whether the case at ``place``, to which it applies, is as the one that is known to fail.

        What neither ``when`` nor ``example`` names has to be as it is where only they are chosen:
        anything else may be what a case passes by. So may another program be, where a seed decides.
        """
        point = place.point
        named = {axis: point[axis] for axis in (*self.when, *self.example) if axis in point}
        return (
            bool(point)
            and all(str(point.get(axis)) == value for axis, value in self.example.items())
            and point == complete(place.axes, named)
            and place.is_first
        )

    @property
    def case(self) -> AnyCase:
        """The case that is known to fail, without the fixes. Raises ``CaseError``: there is none.

        Everything that ``when`` and ``example`` do not name is at its default.
        """
        found = next((case for one in every(tuple(PIPELINES)) for case in _cases(one, self)), None)
        if found is None:
            raise CaseError(f"known gap {self.name}: no family has a case at what it says of axes")
        return found


class KnownFinding(Declared, frozen=True, kw_only=True, tag="finding"):
    """A finding of a campaign; ``when`` holds what it is blamed on, ``case`` is its smallest case.

    What fails is known by it if it is of the same cause (see ``harness.fingerprint``): where TVM
    says why, ``when`` only says how that was met.
    """

    stage: str | None
    case: AnyCase

    def expects(self, outcome: Outcome) -> bool:
        """Whether ``outcome`` of its own case is of the kind that is declared."""
        return same_kind(self.case, outcome, self.finding.kind)

    @property
    def finding(self) -> Finding:
        """It as campaigns know it."""
        # What is wrong in a program's output is no cause; of an expression's it is what is said.
        cause = "" if isinstance(self.case, Case) else self.message
        outcome = Outcome(self.verdict, self.stage, self.operator, self.message, cause=cause)
        kind = kind_of(self.case, outcome)
        blame = {axis: values[0] for axis, values in self.when.items()}
        return Finding(
            fingerprint(kind, blame),
            kind.verdict,
            kind.stage,
            kind.operator,
            kind.message,
            blame,
            self.case,
            outcome,
            count=0,
        )


Known = Gap | KnownFinding


def declared(path: Path | None = None) -> tuple[Known, ...]:
    """Everything that is declared, in ``FILE``. Raises ``CaseError`` if it is malformed."""
    path = path or FILE
    try:
        found = msgspec.json.decode(path.read_bytes(), type=tuple[Known, ...])
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {' '.join(str(error).split())}") from error
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise CaseError(f"{path}: {name} is declared twice")
    for one in found:
        _check_releases(path, one)
    return found


def _check_releases(path: Path, declared: Known) -> None:
    """Raise ``CaseError`` where a release that is named is none, and would never be met."""
    # Without a checkout nobody knows which others there are.
    there = releases.known() if releases.supported() else ()
    for name in declared.releases:
        if there and not any(within(name, one) or within(one, name) for one in there):
            raise CaseError(
                f"{path}: {declared.name}: no release {name!r}; there are {', '.join(there)}"
            )


def known_gaps(path: Path | None = None) -> tuple[Gap, ...]:
    """The declared gaps. Raises as ``declared``."""
    return tuple(one for one in declared(path) if isinstance(one, Gap))


def write_declared(wanted: Sequence[Known], path: Path | None = None) -> None:
    """Write ``wanted`` in place of everything that is declared, by name. Raises ``OSError``."""
    path = path or FILE
    text = msgspec.json.encode(sorted(wanted, key=lambda one: one.name))
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(msgspec.json.format(text, indent=1) + b"\n")
    unfinished.replace(path)


def _cases(family: Family, gap: Gap) -> Iterator[AnyCase]:
    """Cases that lie in ``gap``: everything that it does not name is at its default."""
    named = {**gap.when, **{axis: (value,) for axis, value in gap.example.items()}}
    axes = [axis for axis in family.axes if axis.name in named]
    if len(axes) < len(named):
        return
    values = ([one for one in axis.values if str(one) in named[axis.name]] for axis in axes)
    for chosen in product(*values):
        point = {axis.name: value for axis, value in zip(axes, chosen, strict=True)}
        try:
            case = family.build(complete(family.axes, point), 0)
        except ValueError:
            continue
        if gap.operator in operators(case):
            yield case
