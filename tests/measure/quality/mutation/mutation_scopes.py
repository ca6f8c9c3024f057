"""Scopes of mutation runs: the files to mutate, the tests to run, and how they belong together."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.measure.quality.mutation.mutants import FILES, ROOT
from tests.measure.quality.mutation.mutation_server import Setup

KEPT = ROOT / "runs" / "mutation"


_PLUGINS = "tests.measure.quality.mutation"

FIXES = Setup(
    rooms=("fixes",),
    before=("tvm",),
    modules=("relaxcheck.fixes",),
    options=("-p", f"{_PLUGINS}.derandomized", "-p", f"{_PLUGINS}.in_process"),
)
"""Cases run in the process of the tests."""

RECORDS = Setup(
    rooms=("generators/operators", "oracles"),
    before=("numpy",),
    modules=(
        *("relaxcheck.generators.families", "relaxcheck.oracles.independent"),
        "relaxcheck.oracles.reference.evaluate",
    ),
    options=("-p", f"{_PLUGINS}.derandomized", "-m", "not tvm and not slow"),
)
"""Nothing is compiled."""

OWN = {
    "fixes/bundled.py": "installation",
    "fixes/framework/broadcast_elements.py": "broadcasting",
    "fixes/framework/fix.py": "installation",
    "fixes/framework/requirements.py": "conv_transpose",
    "fixes/lowerings/attention/arguments.py": "attention",
    "fixes/lowerings/attention/var_len.py": "attention_var_len",
    "fixes/lowerings/convolution/arguments.py": "conv_transpose",
    "fixes/lowerings/convolution/transposed.py": "conv_transpose",
    "fixes/passes/mixed_precision/attention.py": "mixed_precision",
    "fixes/passes/mixed_precision/products.py": "mixed_precision",
}
"""The names of the tests of a file, if they do not begin with the file's own name."""

_HELPERS = ("compiled", "conftest", "reference")
_BELOW = ("tests/conformance", "corpus", "generators", "harness", "oracles")


@dataclass(frozen=True, slots=True)
class Scope:
    """The mutants of ``files``, run by ``tests``; the folder ``kept`` keeps the results.

    ``own`` names the tests of a file that do not begin with the file's name, ``common`` those that
    belong to every file, and ``readers`` those that read what functions built at import. A mutant
    has to survive the tests of its own file, and others that take ``seconds`` of CPU time.
    ``calls`` lists, for tests whose path begins with a text, the places that they read besides the
    mutated rooms; the first that fits counts. ``surroundings`` are the places that a survivor
    depends on. With ``tables`` counted apart, a function that only runs while its module is
    imported builds a table, and its mutants are left out.
    """

    files: tuple[str, ...]
    tests: tuple[str, ...]
    kept: Path
    setup: Setup = FIXES
    own: Mapping[str, str] = field(default_factory=lambda: OWN)
    common: tuple[str, ...] = ("stage_names",)
    seconds: float = 10.0
    calls: tuple[tuple[str, tuple[str, ...]], ...] = (
        ("tests/fixes/", tuple(f"tests/fixes/{name}.py" for name in _HELPERS)),
        ("", _BELOW),
    )
    surroundings: tuple[str, ...] = ("fixes", "tests/fixes", "tests/test_corpus.py", *_BELOW)
    tables: bool = False
    readers: tuple[str, ...] = ()


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


def _sources(*rooms: str) -> tuple[str, ...]:
    """The Python files in ``rooms``, packages' empty ones apart."""
    paths = (path for room in rooms for path in sorted((ROOT / room).rglob("*.py")))
    return tuple(path.relative_to(ROOT).as_posix() for path in paths if path.name != "__init__.py")


def _tests(folder: str) -> tuple[str, ...]:
    return tuple(
        path.relative_to(ROOT).as_posix() for path in sorted((ROOT / folder).rglob("test_*.py"))
    )


_SHARED = (
    *("tests/oracles/agreeing.py", "tests/oracles/declared.py", "tests/oracles/detections.py"),
    *("tests/oracles/evaluations.py", "tests/oracles/in_dtype.py", "tests/oracles/programs.py"),
    *(
        "tests/generators/operators/by_hand.py",
        "tests/generators/drawn.py",
        "tests/generators/conftest.py",
        "tests/measure/quality/control",
    ),
    "tests/measure/quality/tests/control_calls.py",
)
"""What the tests of records and oracles read beside their own files."""

_READERS = (
    "tests/generators/operators/test_by_hand.py",
    "tests/generators/operators/test_by_hand_of_layouts.py",
    "tests/generators/operators/test_declarations.py",
)
"""The tests that read records, of which functions built much at import."""

_JUDGED = (
    *_tests("tests/oracles/reference"),
    *("tests/oracles/test_compare.py", "tests/oracles/test_agreement.py"),
    *("tests/oracles/test_validity.py", "tests/generators/operators/test_records.py"),
    *_READERS,
    "tests/generators/operators/test_points.py",
    "tests/generators/operators/test_convolution_sizes.py",
    "tests/generators/operators/test_transposed_conv_sizes.py",
    *("tests/generators/core/test_faults.py", "tests/generators/core/test_layouts.py"),
    *("tests/generators/core/test_preconditions.py", "tests/generators/test_calls.py"),
    *("tests/generators/test_families.py", "tests/generators/test_invalid_calls.py"),
    "tests/measure/quality/tests/test_control_operators.py",
)

ORACLES = Scope(
    (
        *_sources("generators/operators", "oracles/reference"),
        *("oracles/answer.py", "oracles/compare.py", "oracles/limitations.py"),
    ),
    _JUDGED,
    KEPT / "oracles",
    setup=RECORDS,
    own={},
    common=(),
    seconds=6.0,
    calls=(("", _SHARED),),
    surroundings=("generators", "oracles", *_JUDGED, *_SHARED),
    tables=True,
    readers=_READERS,
)
"""Records of operators and the float64 reference, by tests that need no TVM."""
