"""A zygote in whose workers the control stands where TVM would: the rest of the path is real."""

from collections.abc import Callable, Sequence
from typing import Any

from relaxcheck.generators.core.program import Case
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.programs import compile as compiling
from relaxcheck.harness.programs import execute
from relaxcheck.harness.workers import zygote
from tests.measure.quality.control.evaluate import Array, check, evaluate
from tests.measure.quality.control.operator import Refused
from tests.measure.quality.replacing import Standing, replace


def emit(case: Case, *, constants_as_parameters: bool = False) -> Case:
    """The module of the control is the case itself."""
    return case


def build(
    module: Case,
    case: Case,
    progress: Callable[[str], None],
    *,
    late: str | None = None,
    tracing: None = None,
    log: object = None,
) -> Standing[Case]:
    """Refuse what the operators' definitions do not allow."""
    progress("check")
    try:
        check(module)
    except Refused as error:
        raise StageError("check", error) from error
    return Standing(module)


def link(compiled: Sequence[Standing[Case]]) -> None:
    """There is no native code."""


def load(executable: Standing[Case], *, cheaply: bool = False) -> Callable[..., tuple[Array, ...]]:
    """The function that evaluates ``executable`` on its run-time inputs."""
    return lambda *arguments: evaluate(executable.case, arguments)


def run(
    main: Callable[..., tuple[Array, ...]], arguments: Sequence[Any], fresh: int = 0
) -> tuple[Array, ...]:
    """Call ``main``, which refuses arguments of shapes that the program does not state.

    It reads no ``fresh`` memory.

    Anything else that it raises is a fault of the control: ``harness-error``.
    """
    try:
        return main(*arguments)
    except Refused as error:
        raise StageError("run", error) from error


def put_in_place() -> None:
    """Replace what compiles and runs in this process."""
    replace(
        {
            execute: {"emit": emit},
            compiling: {"build": build},
            building: {"link": link, "load": load, "run": run},
        }
    )


if __name__ == "__main__":
    put_in_place()
    zygote.main()
