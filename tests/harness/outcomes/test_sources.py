"""Lines of TVM's sources: of tracebacks, of legalizations, and as read from a record."""

import importlib.util
import logging
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.sources import (
    SOURCES,
    SourceLine,
    Sources,
    line_of,
    logged_at,
    lowered_at,
    raised_at,
    sources_of,
)
from tests.harness.outcomes.tracebacks import (
    CALL,
    CALLBACK,
    COMPUTE,
    CONSTANT,
    FOLD,
    LEGALIZE,
    PRELU,
    PYTHON,
    RESHAPE,
    raised,
)

RELEASE = metadata.version("apache-tvm")
LOWERING = SourceLine("python/tvm/relax/transform/legalize_ops/nn.py", 2, "_nn_prelu")


def of(details: dict[str, Any]) -> Sources | None:
    return sources_of(Outcome(Verdict.OPAQUE_CRASH, details=details))


def test_an_error_has_the_line_that_raised_it_and_those_of_the_lowering() -> None:
    constant = SourceLine("python/tvm/topi/utils.py", 2, "get_const_int")
    details = raised_at(raised(LEGALIZE, CALLBACK, PRELU, COMPUTE, CONSTANT))
    assert of(details) == Sources(RELEASE, (constant, LOWERING))
    fold = SourceLine("src/ir/prim/const_fold.h", 2, "TryConstFold")
    assert of(raised_at(raised(PRELU, CONSTANT, COMPUTE, CALL, FOLD))) == Sources(
        RELEASE, (fold, constant, LOWERING)
    )
    assert of(raised_at(raised(LEGALIZE, CALLBACK, PRELU))) == Sources(RELEASE, (LOWERING,))
    visit = SourceLine("src/relax/transform/rewrite_dataflow_reshape.cc", 2, "Visit")
    assert of(raised_at(raised(LEGALIZE, RESHAPE))) == Sources(RELEASE, (visit,))


def test_code_without_a_line_is_below_the_lowering_that_calls_it() -> None:
    assert of(raised_at(raised(LEGALIZE, PRELU, CALL))) == Sources(RELEASE, (LOWERING,), below=True)
    assert raised_at(raised(LEGALIZE, CALL)) == {}
    assert raised_at(raised(("/home/me/script.py", "f"))) == {}
    assert raised_at(raised(CALLBACK)) == {}


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("/project/src/relax/op/distributed/../op_common.h", "src/relax/op/op_common.h"),
        ("/home/me/src/tvm/include/tvm/topi/transform.h", "include/tvm/topi/transform.h"),
        (
            "/project/3rdparty/tvm-ffi/include/tvm/ffi/any.h",
            "3rdparty/tvm-ffi/include/tvm/ffi/any.h",
        ),
        (f"{PYTHON}/topi/math.py", "python/tvm/topi/math.py"),
        ("/home/me/src/tvm/python/tvm/topi/math.py", "python/tvm/topi/math.py"),
    ],
)
def test_a_file_is_a_path_in_the_source_tree_of_tvm(path: str, file: str) -> None:
    assert of(raised_at(raised((path, "f")))) == Sources(RELEASE, (SourceLine(file, 2, "f"),))


def test_a_function_without_a_bare_name_is_left_out() -> None:
    signature = "const tvm::ffi::Any& tvm::ffi::SeqBaseObj::operator[](int64_t) const"
    details = raised_at(raised(("/project/include/tvm/ffi/any.h", signature)))
    assert of(details) == Sources(RELEASE, (SourceLine("include/tvm/ffi/any.h", 2),))


def test_a_log_record_of_tvm_has_a_line_and_others_have_none() -> None:
    def record(path: str) -> logging.LogRecord:
        return logging.LogRecord("root", logging.INFO, path, 7, "no", (), None, "lower")

    line = line_of(record(f"{PYTHON}/topi/math.py"))
    assert line == SourceLine("python/tvm/topi/math.py", 7, "lower")
    assert of(logged_at(line)) == Sources(RELEASE, (line,))
    assert line_of(record("/home/me/script.py")) is None
    assert logged_at(None) == {}


def test_lowerings_are_where_tvm_defines_them() -> None:
    package = importlib.util.find_spec("tvm")
    assert package is not None
    assert package.origin is not None
    sources = of(lowered_at(["nn.attention", "exp", "nn.attention", "no_operator"]))
    assert sources is not None
    assert sources.lowerings.keys() == {"nn.attention", "exp"}
    for operator, text in (("nn.attention", "def _nn_attention("), ("exp", '"relax.exp"')):
        line = sources.lowerings[operator]
        file = Path(package.origin).parents[1] / line.file.removeprefix("python/")
        assert text in file.read_text().splitlines()[line.line - 1]
    assert lowered_at(["no_operator"]) == {}


@pytest.mark.parametrize(
    "details",
    [
        {},
        {SOURCES: "nn.py:7"},
        {SOURCES: {"release": "0.1", "lines": [{"file": "nn.py` <b>", "line": 7}]}},
        {SOURCES: {"release": "0.1", "lines": [{"file": "nn.py", "line": 7, "function": "`f\n"}]}},
        {SOURCES: {"release": "0.1", "lines": [{"file": "nn.py", "line": -7}]}},
        {SOURCES: {"release": "<script>"}},
        {SOURCES: {"lines": []}},
    ],
)
def test_a_record_of_another_form_has_no_lines(details: dict[str, Any]) -> None:
    assert of(details) is None
