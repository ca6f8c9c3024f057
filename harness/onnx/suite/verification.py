"""Fixes that break something, and faults of relaxcheck itself, among results of both sides."""

from collections.abc import Iterator, Mapping

from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.outcomes.outcome import Verdict

OFF, ON = "off", "on"

Sides = Mapping[str, Mapping[str, Result]]
"""The results of a release by side, the fixes ``off`` or ``on``, then by the tests' names."""


def broken(sides: Sides) -> Iterator[str]:
    """A line for each test that passes without the fixes and fails with them."""
    for name, before in sides.get(OFF, {}).items():
        after = sides.get(ON, {}).get(name)
        if after and before.verdict is Verdict.PASS and after.verdict is not Verdict.PASS:
            yield f"{name} passes without the fixes; with them: {after.verdict}: {after.message}"


def faults(sides: Sides) -> Iterator[str]:
    """A line for each test on which relaxcheck itself failed."""
    for side, results in sides.items():
        for result in results.values():
            if result.verdict is Verdict.HARNESS_ERROR:
                last = result.message.strip().splitlines()[-1]
                yield f"a fault of relaxcheck itself: {result.name}, fixes {side}: {last}"
