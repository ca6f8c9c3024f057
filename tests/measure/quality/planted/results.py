"""Results of hunts, one JSON line each, so that an interrupted measurement can continue."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from relaxcheck.harness.releases.environment import versions
from tests.measure.quality.planted.hunt import Hunted

ROOT = Path(__file__).resolve().parents[4]
_MEASURED = tuple(f"tests/measure/quality/{each}" for each in ("passes", "planted"))
_SOURCES = ("fixes", "generators", "harness", "oracles", *_MEASURED)


class _Line(msgspec.Struct, frozen=True):
    """One hunt, and the state of the project that it was made in."""

    state: str
    most_cases: int
    hunted: Hunted


def state() -> str:
    """A hash of all that a result depends on: the sources and the versions of the packages."""
    digest = hashlib.sha256(msgspec.json.encode(versions(), order="sorted"))
    for unconstrained in _SOURCES:
        for path in sorted((ROOT / unconstrained).rglob("*.py")):
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def append(path: Path, key: str, most_cases: int, hunted: Hunted) -> None:
    """Write ``hunted``, in one write: several processes write to one file."""
    line = msgspec.json.encode(_Line(key, most_cases, hunted)) + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def read(path: Path, key: str, most_cases: int) -> dict[tuple[str, int], Hunted]:
    """The hunts of the state ``key`` and of so many cases at most, by plant and seed."""
    return {
        (line.hunted.plant, line.hunted.seed): line.hunted
        for line in _lines(path)
        if (line.state, line.most_cases) == (key, most_cases)
    }


def _lines(path: Path) -> Iterator[_Line]:
    if not path.exists():
        return
    for text in path.read_bytes().splitlines(keepends=True):
        # A line that has no end was being written when everything stopped.
        if text.endswith(b"\n"):
            yield msgspec.json.decode(text, type=_Line)
