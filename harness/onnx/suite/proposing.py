"""Drafts of rows for failures that no row expects: a person merges them, and says why."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from relaxcheck.harness.onnx.suite.expectations import Expectation, assigned
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.outcomes.errors import as_on_other_releases, fold
from relaxcheck.harness.outcomes.outcome import Verdict

_LISTING = "not supported for frontend ONNX: "

_SHORTEST = 12
"""The characters that a part of a message has at least; less says nothing."""


class Draft(msgspec.Struct, frozen=True):
    """A row that lacks its name and its reason; ``read`` refuses it without."""

    name: str
    why: str
    verdict: Verdict
    message: str
    releases: dict[str, int]
    operators: tuple[str, ...]
    tests: tuple[str, ...] = ()


def drafts(
    results: Mapping[str, Mapping[str, Result]], rows: Sequence[Expectation]
) -> Iterator[Draft]:
    """Rows for the failures in ``results``, by release and test, that none of ``rows`` expects.

    A row has those that are alike, wrong results those of one operator. Its operators are those
    that the tests are about.
    """
    alike: dict[tuple[Verdict, str, str], dict[str, list[Result]]] = {}
    for release, by_name in results.items():
        for result in assigned(by_name.values(), rows, release).unexpected:
            key = result.verdict, *_look(result)
            alike.setdefault(key, {}).setdefault(release, []).append(result)
    for (verdict, _, _), by_release in sorted(alike.items()):
        every = [result for each in by_release.values() for result in each]
        yield Draft(
            "",
            "",
            verdict,
            common([result.message for result in every]),
            {release: len(each) for release, each in by_release.items()},
            tuple(sorted({result.operator for result in every})),
        )


def _look(result: Result) -> tuple[str, str]:
    """What results of one cause share: a message without names and numbers, or an operator."""
    if result.stage == "compare":
        return "", result.operator
    # The importer lists all operators that it does not have.
    message = result.message.partition(_LISTING)[0]
    return as_on_other_releases(fold(message)), ""


def common(messages: Sequence[str]) -> str:
    """The longest part of the first of ``messages`` that all others contain."""
    first, *others = sorted(set(messages), key=len)
    for length in range(len(first), _SHORTEST, -1):
        for start in range(len(first) - length + 1):
            part = first[start : start + length]
            if all(part in other for other in others):
                return part.strip()
    return first
