"""Expected failures of ONNX's backend tests with the fixes on, as data in ``corpus``.

A row states one cause, and by how many tests it shows on each release. So a test that starts to
fail by it, or no longer does, is noticed, though no row lists tests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.paths import CORPUS
from relaxcheck.harness.wording import plural

FILE = CORPUS / "onnx-suite.json"


class Expectation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True
):
    """Tests that fail by one cause: with ``verdict``, and a message that contains ``message``.

    They are about one of ``operators``, and their names match one of the patterns ``tests``; where
    either is empty, any will do. ``releases`` maps releases of TVM to the number of these tests.
    ``why`` is the cause, a sentence.
    """

    name: str
    why: str
    verdict: Verdict
    message: str
    releases: dict[str, int]
    operators: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.name and self.why.endswith(".")):
            raise ValueError(f"row {self.name!r} needs a name and a reason, a sentence")
        if not self.message or min(self.releases.values(), default=0) < 1:
            raise ValueError(f"row {self.name!r} needs a message, and a test on each release")
        if self.verdict is Verdict.PASS or not self.verdict.is_failure:
            raise ValueError(f"row {self.name!r}: {self.verdict} is no failure")

    def expects(self, result: Result) -> bool:
        """True if ``result`` is the declared failure."""
        return (
            result.verdict is self.verdict
            and self.message in result.message
            and (not self.operators or result.operator in self.operators)
            and (not self.tests or any(fnmatchcase(result.name, each) for each in self.tests))
        )


@dataclass(frozen=True, slots=True)
class Assignment:
    """The failures of a release: by the name of the row that expects them, and the others."""

    expected: Mapping[str, tuple[Result, ...]]
    unexpected: tuple[Result, ...]


def read(path: Path = FILE) -> tuple[Expectation, ...]:
    """The rows of ``path``.

    Raises:
        CaseError: it cannot be read, or two rows have one name.
    """
    try:
        rows = msgspec.json.decode(path.read_bytes(), type=tuple[Expectation, ...])
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"{path}: {error}") from error
    names = [row.name for row in rows]
    if twice := sorted(name for name in set(names) if names.count(name) > 1):
        raise CaseError(f"{path}: two rows are named {twice[0]}")
    return rows


def assigned(results: Iterable[Result], rows: Sequence[Expectation], release: str) -> Assignment:
    """The failures in ``results`` on ``release``, each with the first row that expects it."""
    concerned = [row for row in rows if release in row.releases]
    expected: dict[str, list[Result]] = {row.name: [] for row in concerned}
    unexpected: list[Result] = []
    for result in results:
        if result.verdict is Verdict.PASS:
            continue
        row = next((row for row in concerned if row.expects(result)), None)
        (unexpected if row is None else expected[row.name]).append(result)
    return Assignment({name: tuple(each) for name, each in expected.items()}, tuple(unexpected))


def surprises(
    results: Iterable[Result], rows: Sequence[Expectation], release: str, *, whole: bool
) -> list[str]:
    """A line for each failure that no row expects; with ``whole``, for each number that is off.

    ``whole``: ``results`` are those of all tests.
    """
    found = assigned(results, rows, release)
    lines = [f"{each.name}: {each.verdict}: {each.message}" for each in found.unexpected]
    for row in rows if whole else ():
        if release not in row.releases:
            continue
        failing = found.expected[row.name]
        if len(failing) != row.releases[release]:
            tests = plural(len(failing), "test fails", "tests fail")
            names = ", ".join(each.name for each in failing)
            lines.append(
                f"row {row.name}: {tests} so, not {row.releases[release]}: {names or 'remove it'}"
            )
    return lines


def lowered(
    rows: Sequence[Expectation], results: Mapping[str, Iterable[Result]]
) -> tuple[Expectation, ...]:
    """``rows`` without the tests that fail no more, and without rows that no test is left of.

    ``results`` are those of all tests, by release; numbers of other releases stay. No number grows:
    a test that begins to fail is a surprise.
    """
    counts: dict[str, dict[str, int]] = {row.name: dict(row.releases) for row in rows}
    for release, found in results.items():
        for name, failing in assigned(found, rows, release).expected.items():
            counts[name][release] = min(counts[name][release], len(failing))
    left = {
        name: {release: count for release, count in each.items() if count}
        for name, each in counts.items()
    }
    return tuple(
        msgspec.structs.replace(row, releases=left[row.name]) for row in rows if left[row.name]
    )


def write(rows: Sequence[Expectation], path: Path = FILE) -> None:
    """Write ``rows`` to ``path``. Raises ``OSError``."""
    text = msgspec.json.format(msgspec.json.encode(rows), indent=1)
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(text + b"\n")
    unfinished.replace(path)
