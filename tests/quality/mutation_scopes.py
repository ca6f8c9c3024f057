"""Which files of ``fixes/`` a mutation run is about, and by which tests."""

from dataclasses import dataclass
from pathlib import Path

from tests.quality.mutants import FILES, ROOT

KEPT = ROOT / "runs" / "mutation"


@dataclass(frozen=True, slots=True)
class Scope:
    """The mutants of ``files``, run by ``tests``; what was found is kept in the folder ``kept``."""

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

SHAPES = Scope(
    tuple(f"fixes/{name}.py" for name in _SHAPES),
    tuple(
        f"tests/fixes/test_{name}.py"
        for name in (
            *("adaptive_pooling", "circular_indices", "folding", "fusion", "general_functions"),
            *("known_results", "lowerings", "stage_names"),
        )
    ),
    KEPT / "shapes",
)

ALL = Scope(
    tuple(file for file in FILES if file not in SHAPES.files),
    (
        *(f"tests/fixes/{path.name}" for path in sorted((ROOT / "tests/fixes").glob("test_*.py"))),
        "tests/test_corpus.py",
        "tests/conformance/test_properties.py",
    ),
    KEPT,
)
"""The files that have no scope of their own, by every test that a mutant of them may fail."""
