"""Scopes of mutation runs: the files of ``fixes/`` to mutate, and the tests to run."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.measure.quality.mutation.mutants import FILES, ROOT

KEPT = ROOT / "runs" / "mutation"


@dataclass(frozen=True, slots=True)
class Scope:
    """The mutants of ``files``, run by ``tests``; the folder ``kept`` keeps the results."""

    files: tuple[str, ...]
    tests: tuple[str, ...]
    kept: Path


_SHAPES = (
    *("adaptive_pooling", "broadcast_elements", "broadcasting", "circular_indices"),
    *("dataflow_reshape", "empty_tensors"),
    *("folding", "fusion", "general_functions", "integer_division", "known_results", "scans"),
    "symbolic_slices",
)
"""Each is called by few tests: all others would be tried for nothing."""

TESTS = tuple(
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "tests/fixes").rglob("test_*.py"))
    if "for_tvm" not in path.parts
)
"""The tests of the fixes."""


def _named(names: Collection[str], files: Iterable[str]) -> tuple[str, ...]:
    """Those of ``files`` whose names, without a prefix "test_", are among ``names``."""
    return tuple(file for file in files if Path(file).stem.removeprefix("test_") in names)


SHAPES = Scope(
    _named(_SHAPES, FILES), _named((*_SHAPES, "for_tvm", "stage_names"), TESTS), KEPT / "shapes"
)

ALL = Scope(
    tuple(file for file in FILES if file not in SHAPES.files),
    (
        *TESTS,
        "tests/test_corpus.py",
        "tests/conformance/test_properties.py",
    ),
    KEPT,
)
"""The files that have no scope of their own, by every test that a mutant of them may fail."""
