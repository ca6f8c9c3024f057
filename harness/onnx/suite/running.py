"""Runs tests in groups: imports and compiles each alone, and generates code for all at once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tvm
import tvm_ffi

from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.building import Recipe
from relaxcheck.harness.compiling.late_linking import READS_PREFIX, name_of, nameless
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.native.link import LinkError, can_link
from relaxcheck.harness.onnx.importing import STAGE, quietly
from relaxcheck.harness.onnx.suite.children import in_children
from relaxcheck.harness.onnx.suite.results import Result, compared, failed, passed, refused
from relaxcheck.harness.onnx.suite.tests import SuiteTest, Value
from relaxcheck.harness.outcomes.errors import error_text
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.switching import switch_fixes

GROUP = 16
"""The number of tests whose native code is generated at once."""

SECONDS = 60.0
"""The processor's time that a test may take."""


def results(
    tests: Sequence[SuiteTest], *, fixes: bool, workers: int = 1, seconds: float = SECONDS
) -> Iterator[Result]:
    """The results of ``tests``, as they come, by at most ``workers`` processes at a time."""
    switch_fixes(fixes)
    groups = [tests[at : at + GROUP] for at in range(0, len(tests), GROUP)]
    return in_children(groups, executed, workers, seconds)


def executed(group: Sequence[SuiteTest]) -> Iterator[Result]:
    """The results of ``group`` in this process, their native code generated at once."""
    begun: list[Result | building.Compiled] = []
    late = [
        name_of(number) if can_link() and len(group) > 1 else None for number in range(len(group))
    ]
    for test, name in zip(group, late, strict=True):
        begun.append(_compiled(test, name))
    compiled = [member for member in begun if isinstance(member, building.Compiled)]
    try:
        alone = {id(compiled[number]) for number in building.link(compiled)}
    except LinkError:
        alone = {id(member) for member in compiled}
    for test, member, name in zip(group, begun, late, strict=True):
        again = member if id(member) not in alone else _compiled(test, None)
        if isinstance(again, Result):
            yield again
        else:
            yield _ran(test, again, name)


def _compiled(test: SuiteTest, late: str | None) -> Result | building.Compiled:
    try:
        try:
            module = quietly(test.model)
        except Exception as error:
            raise StageError(STAGE, error) from error
        return building.build(module, Recipe(), lambda stage: None, late=late)
    except SilentBail as bail:
        left = "; ".join(bail.calls)
        return failed(
            test, Verdict.SILENT_BAIL, bail.stage, left if late is None else nameless(left, late)
        )
    except StageError as error:
        if late is not None and error.stage == READS_PREFIX:
            return _compiled(test, None)
        return _refused(test, error, late)


def _refused(test: SuiteTest, error: StageError, late: str | None) -> Result:
    message = error_text(error.cause)
    return refused(test, error.stage, message if late is None else nameless(message, late))


def _ran(test: SuiteTest, compiled: building.Compiled, late: str | None) -> Result:
    try:
        main = building.load(compiled, cheaply=True)
        for inputs, expected in test.data_sets:
            outputs = _outputs(main, test, inputs)
            result = compared(test, outputs, expected)
            if result.verdict is not Verdict.PASS:
                return result
    except StageError as error:
        return _refused(test, error, late)
    except Exception as error:
        return refused(test, "run", error_text(error))
    return passed(test)


def _outputs(main: Any, test: SuiteTest, inputs: Sequence[Value]) -> list[Value]:
    result = main(*map(_argument, inputs))
    return [_value(result)] if len(test.model.graph.output) == 1 else list(map(_value, result))


def _argument(value: Value) -> Any:
    match value:
        case None:
            return None
        case list():
            return tuple(map(_argument, value))
    return tvm.runtime.tensor(np.array(value, order="C"))


def _value(value: Any) -> Value:
    """``value`` of TVM as NumPy's; a ``Shape`` and others that are no tensors stay."""
    match value:
        case tvm_ffi.Shape():
            # A tuple as well.
            return value
        case bool() | int() | float():
            return np.asarray(value)
        case tvm.ir.Array() | list() | tuple():
            return list(map(_value, value))
    return value.numpy() if hasattr(value, "numpy") else value
