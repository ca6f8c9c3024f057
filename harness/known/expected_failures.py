"""Expected failures, as data in ``corpus/known.json``: gaps and findings.

A *gap* is a condition under which a failure is expected. A *finding* is one cause that a campaign
found, with its smallest case. Neither filters anything silently: their cases run, count as expected
failures and are shown. A failure that is gone is reported as fixed, and after its date a failure
counts again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import product
from pathlib import Path

import msgspec

from relaxcheck.generators.core.axes import Axis, Family, Point, complete, point_of
from relaxcheck.generators.core.case import AnyCase, CaseError, Mismatch, Valid
from relaxcheck.harness.kinds import decode_record, families, of, operators
from relaxcheck.harness.known.links import check_link
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity, severity_of
from relaxcheck.harness.paths import BUNDLED_KNOWN, CHECKOUT, KNOWN
from relaxcheck.harness.releases import releases
from relaxcheck.harness.releases.releases import covers, within
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.triage.fingerprint import fingerprint, same_signature, signature_of

FILE = KNOWN
"""The file that ``relaxcheck known`` changes."""

BUNDLED = None if CHECKOUT else BUNDLED_KNOWN
"""In an installation, the file that comes with it and is read besides ``FILE``."""


@dataclass(frozen=True, slots=True)
class CasePoint:
    """A ``case`` with its ``point`` on the ``axes`` of ``family``; empty if it lies on none."""

    case: AnyCase
    point: Point
    axes: Sequence[Axis]
    family: Family | None = None

    @property
    def is_first(self) -> bool:
        """True if the seed 0 gives the same program, as it does if no seed decides it."""
        if self.family is None:
            return True
        kind = of(self.case)
        first = self.family.build(self.point, 0)
        return bool(kind.drawn_content(first) == kind.drawn_content(self.case))


def case_point(case: AnyCase, family: Family | None) -> CasePoint:
    """``case`` with its point on the axes of ``family``, its own.

    A wrong call has the point of the valid program that it calls: a program that does not compile
    cannot refuse a call either.
    """
    if family is None or not isinstance(case.expect, Valid | Mismatch):
        return CasePoint(case, {}, ())
    try:
        return CasePoint(case, point_of(family, case), family.axes, family)
    except ValueError:
        return CasePoint(case, {}, ())


class Declared(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind"
):
    """A failure that is expected.

    ``when`` maps axes to the values (as text) at which it happens; ``releases`` are releases of
    apache-tvm (0.27), or whole versions. ``fixes``: it happens with the fixes on, off or both
    (None). ``message`` is TVM's message, or a part of it. ``reason`` explains why the failure
    stays, ``issue`` is the address of its report. It counts again after ``expires``, an ISO date.
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
        check_link(self.issue)

    @property
    def title(self) -> str:
        """Its name for a person: ``gap NAME``, ``finding NAME``."""
        return f"{self.__struct_config__.tag} {self.name}"

    @property
    def severity(self) -> Severity | None:
        """The severity of the failure."""
        return severity_of(self.verdict, Valid())

    def concerns(self, version: str, *, fixes: bool) -> bool:
        """True if it is declared for ``version`` of apache-tvm, with the fixes on or off."""
        return self.fixes in (None, fixes) and any(
            covers(release, version) for release in self.releases
        )

    def expired(self, today: str) -> bool:
        """True if it is no longer expected on ``today``, an ISO date."""
        return self.expires < today


class ExpectedFailure(Declared, frozen=True, kw_only=True, tag="gap"):
    """A failure that is expected of every case in ``when``.

    Not every case there need fail. A case surely fails whose axes also have the values of
    ``example``, and otherwise their defaults.
    """

    example: dict[str, str] = {}

    def expects(self, outcome: Outcome) -> bool:
        """True if ``outcome``, of a case to which it applies, is the declared failure."""
        return outcome.verdict is self.verdict and self.message in outcome.message

    def applies(self, place: CasePoint, environment: Mapping[str, str]) -> bool:
        """True if the failure is expected of the case at ``place``."""
        case, point = place.case, place.point
        return (
            self.concerns(environment.get("apache-tvm", ""), fixes=case.fixes)
            and self.operator in operators(case)
            and all(str(point.get(axis)) in values for axis, values in self.when.items())
        )

    def surely_fails(self, place: CasePoint) -> bool:
        """True if the case at ``place``, to which it applies, is like the case that surely fails.

        All axes but those of ``when`` and ``example`` have the values that follow from these: any
        other value may make the case pass. So may another program, if the seed decides it.
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
        """The case that surely fails, without the fixes. Raises ``CaseError`` if there is none.

        All axes that ``when`` and ``example`` do not name have their defaults.
        """
        # The family that is called as the operator has it soonest.
        called = sorted(families(), key=lambda family: not self.operator.endswith(family.name))
        failing = next((case for family in called for case in _cases(family, self)), None)
        if failing is None:
            raise CaseError(f"known gap {self.name}: no family has a case at what it says of axes")
        return failing


class KnownFinding(Declared, frozen=True, kw_only=True, tag="finding"):
    """A finding of a campaign; ``when`` holds its blame, ``case`` is its smallest case.

    It covers failures of the same cause (see ``harness.triage.fingerprint``). If the message names
    the cause, ``when`` is only an example. ``cause`` is that of the outcome.
    """

    stage: str | None
    case: AnyCase
    cause: str = ""

    @property
    def severity(self) -> Severity | None:
        """The severity of the finding."""
        return severity_of(self.verdict, self.case.expect)

    def expects(self, outcome: Outcome) -> bool:
        """True if ``outcome`` of its own case has the declared signature."""
        return same_signature(self.case, outcome, self.finding.signature)

    @property
    def finding(self) -> Finding:
        """The finding as campaigns have it."""
        outcome = Outcome(self.verdict, self.stage, self.operator, self.message, cause=self.cause)
        signature = signature_of(self.case, outcome)
        blame = {axis: values[0] for axis, values in self.when.items()}
        return Finding(
            fingerprint(signature, blame),
            signature.verdict,
            signature.stage,
            signature.operator,
            signature.message,
            blame,
            self.case,
            outcome,
            count=0,
        )


Known = ExpectedFailure | KnownFinding


def declared(path: Path | None = None) -> tuple[Known, ...]:
    """The expected failures of the file ``path``, or all that count here.

    Raises:
        CaseError: a file is malformed, or two entries have one name.
    """
    path = path or FILE
    entries = bundled()
    if not entries or path.exists():
        entries += _read(path)
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise CaseError(f"{path}: {name} is declared twice")
    return entries


def bundled() -> tuple[Known, ...]:
    """The expected failures that an installation comes with; none in a checkout."""
    return _read(BUNDLED) if BUNDLED else ()


def _read(path: Path) -> tuple[Known, ...]:
    try:
        entries = decode_record(path.read_bytes(), tuple[Known, ...])
    except (OSError, msgspec.DecodeError) as error:
        raise CaseError(f"{path}: {' '.join(str(error).split())}") from error
    there = releases.known()
    for entry in entries:
        for name in entry.releases:
            # The entry would never apply.
            if not any(within(name, release) or within(release, name) for release in there):
                raise CaseError(
                    f"{path}: {entry.name}: no release {name!r}; there are {', '.join(there)}"
                )
    return entries


def known_gaps(path: Path | None = None) -> tuple[ExpectedFailure, ...]:
    """The declared conditions. Raises as ``declared``."""
    return tuple(entry for entry in declared(path) if isinstance(entry, ExpectedFailure))


def write_declared(wanted: Sequence[Known], path: Path | None = None) -> None:
    """Write ``wanted``, but for what is bundled, to ``path`` by name. Raises ``OSError``."""
    path = path or FILE
    fixed = {entry.name for entry in bundled()}
    own = (entry for entry in wanted if entry.name not in fixed)
    text = msgspec.json.encode(sorted(own, key=lambda entry: entry.name))
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(msgspec.json.format(text, indent=1) + b"\n")
    unfinished.replace(path)


def _cases(family: Family, gap: ExpectedFailure) -> Iterator[AnyCase]:
    """Cases in ``gap``: all axes that it does not name have their defaults."""
    named = {**gap.when, **{axis: (value,) for axis, value in gap.example.items()}}
    axes = [axis for axis in family.axes if axis.name in named]
    if len(axes) < len(named):
        return
    values = ([level for level in axis.values if str(level) in named[axis.name]] for axis in axes)
    for chosen in product(*values):
        point = {axis.name: value for axis, value in zip(axes, chosen, strict=True)}
        try:
            case = family.build(complete(family.axes, point), 0)
        except ValueError:
            continue
        if gap.operator in operators(case):
            yield case
