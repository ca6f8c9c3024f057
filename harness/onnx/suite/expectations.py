"""Expected failures of ONNX's backend tests with the fixes on, as data in ``corpus``.

A row states one cause: the tests that fail by it, and how. It is exact: every test that it selects
fails so, and one that does not, or fails without a row, is reported.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import msgspec

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.onnx.suite.facts import Facts, dtypes, facts
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.onnx.suite.tests import SuiteTest
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.paths import CORPUS

FILE = CORPUS / "onnx-suite.json"


class Expectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Tests that fail by one cause, with ``verdict`` and a message that contains ``message``.

    It selects a test by its name, which matches a pattern of ``tests`` and none of ``without``; by
    ``dtypes`` of inputs and outputs of the model; and by a node: one of ``operators``; with these
    values of ``attributes``, where null is for an absent one; with inputs ``at_run_time`` that no
    constant feeds and ``outputs`` that are wanted, both named as in the schema. What is empty
    selects every test. ``releases`` are releases of TVM, ``why`` is the cause.
    """

    name: str
    why: str
    verdict: Verdict
    message: str
    releases: tuple[str, ...]
    tests: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    attributes: dict[str, tuple[Any, ...]] = {}
    at_run_time: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (self.why.endswith(".") and self.message and self.releases):
            raise ValueError(f"{self.name}: why is a sentence; message and releases are not empty")
        if not (self.tests or self.operators or self.dtypes):
            raise ValueError(f"{self.name}: it selects every test")

    def selects(self, test: SuiteTest) -> bool:
        """True if ``test`` is expected to fail."""
        return (
            (not self.tests or _like(test.name, self.tests))
            and not _like(test.name, self.without)
            and (not self.dtypes or not dtypes(test).isdisjoint(self.dtypes))
            and any(map(self._selects, facts(test)))
        )

    def _selects(self, node: Facts) -> bool:
        return (
            (not self.operators or node.operator in self.operators)
            and all(node.attributes.get(name) in self.attributes[name] for name in self.attributes)
            and node.at_run_time.issuperset(self.at_run_time)
            and node.outputs.issuperset(self.outputs)
        )

    def expects(self, result: Result) -> bool:
        """True if ``result``, of a test that it selects, is the declared failure."""
        return result.verdict is self.verdict and self.message in result.message


def read(path: Path = FILE) -> tuple[Expectation, ...]:
    """The rows of ``path``.

    Raises:
        CaseError: it cannot be read, or two rows have one name.
    """
    try:
        rows = msgspec.json.decode(path.read_bytes(), type=tuple[Expectation, ...])
    except OSError as error:
        raise CaseError(f"{path}: {error.strerror}") from error
    except (msgspec.DecodeError, ValueError) as error:
        raise CaseError(f"{path}: {error}") from error
    names = [row.name for row in rows]
    if twice := {name for name in names if names.count(name) > 1}:
        raise CaseError(f"{path}: two rows are named {sorted(twice)[0]}")
    return rows


def of_release(rows: Iterable[Expectation], release: str) -> tuple[Expectation, ...]:
    """Those of ``rows`` that concern ``release``."""
    return tuple(row for row in rows if release in row.releases)


def problem(test: SuiteTest, result: Result, rows: Sequence[Expectation]) -> str | None:
    """A line on ``result`` of ``test``, if it is not as ``rows``, those of its release, say."""
    selecting = [row for row in rows if row.selects(test)]
    names = " and ".join(row.name for row in selecting)
    if result.verdict is Verdict.PASS:
        return f"{test.name} passes; narrow or remove {names}" if selecting else None
    if any(row.expects(result) for row in selecting):
        return None
    line = f"{test.name}: {result.verdict}: {result.message}"
    return f"{line} (otherwise than {names} says)" if selecting else line


def stale(
    tests: Sequence[SuiteTest], results: Mapping[str, Result], rows: Sequence[Expectation]
) -> Iterator[str]:
    """A line for each of ``rows`` that no test fails by; ``results`` are by the tests' names."""
    for row in rows:
        fails = any(
            test.name in results and row.selects(test) and row.expects(results[test.name])
            for test in tests
        )
        if not fails:
            yield f"{row.name}: no test fails by it any more; remove it"


def _like(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
