"""The verdict on one test: its outputs compared, its errors classified."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
import onnx

from relaxcheck.harness.onnx.suite.tests import SuiteTest, Value
from relaxcheck.harness.outcomes.errors import disowns, headline, names
from relaxcheck.harness.outcomes.outcome import Verdict


class Result(msgspec.Struct, frozen=True):
    """The result of one test: ``message`` is an error, or how an output differs."""

    name: str
    operator: str
    opset: int
    verdict: Verdict
    stage: str = ""
    message: str = ""


def passed(test: SuiteTest) -> Result:
    """The result of a test that passes."""
    return Result(test.name, test.operator, test.opset, Verdict.PASS)


def failed(test: SuiteTest, verdict: Verdict, stage: str, message: str) -> Result:
    """The result of a test that fails in ``stage``."""
    return Result(test.name, test.operator, test.opset, verdict, stage, message)


def refused(test: SuiteTest, stage: str, message: str) -> Result:
    """The result of a test on which TVM raises: a clear refusal, or none.

    It is clear where the error says of an operator of the model that it, or some use of it, is not
    supported, or names it with one of its attributes or inputs.
    """
    for node in _nodes(test.model.graph.node):
        if disowns(message, node.op_type) or names(message, node.op_type, _terms(node)):
            return failed(test, Verdict.UNSUPPORTED, stage, headline(message))
    return failed(test, Verdict.OPAQUE_CRASH, stage, headline(message))


def _nodes(nodes: Iterable[Any]) -> Iterable[Any]:
    for node in nodes:
        yield node
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g.node)


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
        if not isinstance(actual, list) or len(actual) != len(expected):
            return Verdict.WRONG_SHAPE, f"no sequence of {len(expected)}"
        for here, there in zip(actual, expected, strict=True):
            verdict, message = _difference(test, here, there)
            if verdict is not Verdict.PASS:
                return verdict, message
        return Verdict.PASS, ""
    if not isinstance(actual, np.ndarray) or expected is None:
        return Verdict.WRONG_SHAPE, "no tensor"
    if actual.shape != expected.shape:
        return Verdict.WRONG_SHAPE, f"shape {actual.shape}, not {expected.shape}"
    if actual.dtype != expected.dtype:
        return Verdict.WRONG_DTYPE, f"dtype {actual.dtype}, not {expected.dtype}"
    if expected.dtype.kind in "iub":
        equal = actual == expected
    else:
        here, there = actual.astype(np.float64), expected.astype(np.float64)
        equal = np.isclose(here, there, test.rtol, test.atol, equal_nan=True)
    off = int(expected.size - np.count_nonzero(equal))
    if not off:
        return Verdict.PASS, ""
    return Verdict.WRONG_VALUE, f"{off} of {expected.size} elements differ"
