"""The support table: each version of each operator of ONNX, and what becomes of its tests."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import onnx

from relaxcheck.generators.onnx.schemas import FIRST_OPSET
from relaxcheck.harness.onnx.suite.claiming import Claims
from relaxcheck.harness.onnx.suite.measuring import Measured
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.outcomes.outcome import Verdict

PASSES, WRONG, CRASHES, UNSUPPORTED = "pass", "wrong", "crash", "unsupported"
ENDINGS = (PASSES, WRONG, CRASHES, UNSUPPORTED)
"""The ways for a test to end that the table counts, best first."""

_OWN = "ai.onnx"


class Cell(msgspec.Struct, frozen=True):
    """What one release, with the fixes on or off, does with a version of an operator.

    ``converter`` is the opset of the importer's converter that applies, 0 if its map has none.
    ``tests`` counts endings of tests about the operator, ``bodies`` those of the bodies that ONNX
    defines it by.
    """

    converter: int
    tests: dict[str, int]
    bodies: dict[str, int]

    @property
    def claimed(self) -> bool:
        """True if the importer's map has the operator."""
        return self.converter > 0


class Row(msgspec.Struct, frozen=True):
    """A version of an operator, in force from opset ``version`` on; cells by release and side."""

    operator: str
    version: int
    cells: dict[str, dict[str, Cell]]

    @property
    def tests(self) -> int:
        """The number of tests about this version."""
        return sum(self._any.tests.values())

    @property
    def bodies(self) -> int:
        """The number of tests whose model is the body of this version."""
        return sum(self._any.bodies.values())

    @property
    def _any(self) -> Cell:
        # All have the same tests.
        return next(cell for sides in self.cells.values() for cell in sides.values())


Measurements = Mapping[str, Mapping[str, Measured]]
"""By release, the oldest first, then by side: ``off``, ``on``."""


def ending(verdict: Verdict) -> str:
    """The ending that ``verdict`` counts as."""
    match verdict:
        case Verdict.PASS:
            return PASSES
        case Verdict.WRONG_VALUE | Verdict.WRONG_SHAPE | Verdict.WRONG_DTYPE:
            return WRONG
        case Verdict.UNSUPPORTED:
            return UNSUPPORTED
    return CRASHES


def rows(measured: Measurements) -> tuple[Row, ...]:
    """Every version of an operator from opset 7 on, by name and version."""
    return tuple(
        Row(
            name,
            version,
            {
                release: {side: _cell(name, version, each) for side, each in sides.items()}
                for release, sides in measured.items()
            },
        )
        for name, version in versions()
    )


def unknown_to_onnx(claims: Iterable[Claims]) -> tuple[str, ...]:
    """Operators that an importer's map has and ONNX does not: those of other domains."""
    own = {name.rpartition(".")[2] for name, _ in versions(first=1)}
    return tuple(sorted({name for each in claims for name in each} - own))


def versions(first: int = FIRST_OPSET) -> Sequence[tuple[str, int]]:
    """The operators with the versions that are in force in an opset from ``first`` on.

    Deprecated ones are left out. In domains other than ONNX's own, all versions count.
    """
    by_name: dict[str, list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if not schema.deprecated:
            name = ".".join(filter(None, (schema.domain, schema.name)))
            by_name.setdefault(name, []).append(int(schema.since_version))
    found = []
    for name, since in sorted(by_name.items()):
        least = max((each for each in since if each <= first), default=0) if "." not in name else 0
        found += [(name, each) for each in sorted(since) if each >= least]
    return found


def _cell(name: str, version: int, measured: Measured) -> Cell:
    about = [
        result
        for result in measured.results.values()
        if (result.operator, result.version) == (name, version)
    ]
    return Cell(
        _converter(measured.claims, name, version),
        _counts(result for result in about if not result.expanded),
        _counts(result for result in about if result.expanded),
    )


def _counts(results: Iterable[Result]) -> dict[str, int]:
    counted = Counter(ending(result.verdict) for result in results)
    return {each: counted[each] for each in ENDINGS if counted[each]}


def _converter(claims: Claims, name: str, version: int) -> int:
    """The converter that the importer takes: the newest that is not newer, or else the oldest.

    It looks operators up without their domain.
    """
    converters = claims.get(name.rpartition(".")[2], ())
    return max((each for each in converters if each <= version), default=min(converters, default=0))
