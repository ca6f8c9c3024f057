"""The verdict on one test: its outputs compared, its errors classified."""

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import onnx

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.onnx.refusals import is_accident, is_called
from relaxcheck.harness.onnx.suite.tests import SuiteTest, Value, nodes
from relaxcheck.harness.outcomes.errors import (
    disowns,
    headline,
    names,
    says_unsupported,
)
from relaxcheck.harness.outcomes.outcome import Verdict

_BFLOAT16 = 2.0**-6
"""The relative tolerance of ``onnx.backend.test.runner`` for bfloat16, at least: neighbours differ
by up to 2**-7, and tests state 1e-3."""


class Result(msgspec.Struct, frozen=True):
    """The result of one test: ``message`` is an error, or how an output differs.

    ``unnamed``: it is a refusal that names no operator. The other fields are those of the test.
    """

    name: str
    operator: str
    opset: int
    verdict: Verdict
    stage: str = ""
    message: str = ""
    kind: str = ""
    version: int = 0
    expanded: bool = False
    unnamed: bool = False


def passed(test: SuiteTest) -> Result:
    """The result of a test that passes."""
    return failed(test, Verdict.PASS, "", "")


def failed(test: SuiteTest, verdict: Verdict, stage: str, message: str) -> Result:
    """The result of a test that fails in ``stage``."""
    return Result(
        test.name,
        test.operator,
        test.opset,
        verdict,
        stage,
        message,
        test.kind,
        test.version,
        test.expanded,
    )


def refused(test: SuiteTest, stage: str, message: str) -> Result:
    """The result of a test on which TVM raises: a clear refusal, or none.

    It is clear where the error says of an operator of the model that it, or some use of it, is not
    supported, or names it with one of its attributes or inputs. An error that says what is not
    supported, but of no operator, is counted apart. An accident of Python's refuses nothing.
    """
    if is_accident(message):
        return failed(test, Verdict.OPAQUE_CRASH, stage, headline(message))
    for node in nodes(test.model.graph):
        if not is_called(message, node.op_type):
            continue
        if disowns(message, node.op_type) or names(message, node.op_type, _terms(node)):
            return failed(test, Verdict.UNSUPPORTED, stage, headline(message))
    if says_unsupported(message):
        named = any(is_called(message, node.op_type) for node in nodes(test.model.graph))
        refusal = failed(test, Verdict.UNSUPPORTED, stage, headline(message))
        return msgspec.structs.replace(refusal, unnamed=not named)
    return failed(test, Verdict.OPAQUE_CRASH, stage, headline(message))


def _terms(node: Any) -> tuple[str, ...]:
    """Names of attributes of ``node``, and of its operator's inputs, that are words."""
    own = [attribute.name for attribute in node.attribute]
    try:
        schema = onnx.defs.get_schema(node.op_type, domain=node.domain)
        own += [each.name for each in schema.inputs] + list(schema.attributes)
    except onnx.defs.SchemaError:
        pass
    return tuple(name for name in dict.fromkeys(own) if len(name) > 1)


def compared(test: SuiteTest, actual: Sequence[Value], expected: Sequence[Value]) -> Result:
    """The result of a test that ran, for ``actual`` outputs."""
    if len(actual) != len(expected):
        message = f"{len(actual)} outputs, not {len(expected)}"
        return failed(test, Verdict.WRONG_SHAPE, "compare", message)
    for name, here, there in zip(test.model.graph.output, actual, expected, strict=True):
        verdict, message = _difference(test, here, there)
        if verdict is not Verdict.PASS:
            return failed(test, verdict, "compare", f"output {name.name}: {message}")
    return passed(test)


def _difference(test: SuiteTest, actual: Value, expected: Value) -> tuple[Verdict, str]:
    if isinstance(expected, list):
        if not isinstance(actual, list):
            return Verdict.WRONG_DTYPE, f"{_typed(actual)}, not a sequence"
        if len(actual) != len(expected):
            return Verdict.WRONG_SHAPE, f"a sequence of {len(actual)}, not of {len(expected)}"
        for here, there in zip(actual, expected, strict=True):
            verdict, message = _difference(test, here, there)
            if verdict is not Verdict.PASS:
                return verdict, message
        return Verdict.PASS, ""
    if expected is None or not isinstance(actual, np.ndarray):
        same = expected is None and actual is None
        message = f"{_typed(actual)}, not {_typed(expected)}"
        return (Verdict.PASS, "") if same else (Verdict.WRONG_DTYPE, message)
    if actual.shape != expected.shape:
        return Verdict.WRONG_SHAPE, f"shape {actual.shape}, not {expected.shape}"
    if actual.dtype != expected.dtype:
        return Verdict.WRONG_DTYPE, f"dtype {actual.dtype}, not {expected.dtype}"
    close = _close(test, actual, expected)
    if test.draws:
        close |= (actual == 0) | (expected == 0)
    off = expected.size - int(np.count_nonzero(close))
    if not off:
        return Verdict.PASS, ""
    return Verdict.WRONG_VALUE, f"{off} of {expected.size} elements differ"


def _close(test: SuiteTest, actual: Array, expected: Array) -> Array:
    """The elements of ``actual`` that equal those of ``expected``, floats within the tolerance."""
    if expected.dtype.kind in "iubO":
        return np.asarray(actual == expected)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    here, there = actual.astype(wide), expected.astype(wide)
    rtol = max(test.rtol, _BFLOAT16) if expected.dtype.name == "bfloat16" else test.rtol
    return np.isclose(here, there, rtol, test.atol, equal_nan=True)


def _typed(value: Value) -> str:
    """The type of ``value`` for a message."""
    match value:
        case None:
            return "nothing"
        case np.ndarray():
            return "a tensor"
        case list():
            return "a sequence"
    return f"a {type(value).__name__}"
