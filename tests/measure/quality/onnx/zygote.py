"""A zygote in whose workers ONNX's own implementations stand where TVM would.

The rest of the path is real: journal, workers, oracles, judgement.
"""

from collections.abc import Callable, Sequence
from typing import Any

from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.walk import operators_of
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.onnx import importing, refusals
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers import zygote
from tests.measure.quality.onnx.control import Array, Uncontrolled, evaluate
from tests.measure.quality.replacing import Standing, replace

Main = Callable[..., tuple[Array, ...]]


def imported(case: OnnxCase) -> importing.Imported:
    """The module of the control is the case itself; it has no parameters beside the inputs."""
    return importing.Imported(case)


def build(module: OnnxCase, *_: object, **__: object) -> Standing[OnnxCase]:
    """The control compiles nothing."""
    return Standing(module)


def link(compiled: Sequence[Standing[OnnxCase]]) -> frozenset[int]:
    """There is no native code, and none that fails."""
    return frozenset()


def load(executable: Standing[OnnxCase], *, cheaply: bool = False) -> Main:
    """The function that evaluates ``executable`` on its run-time inputs."""
    return lambda *arguments: evaluate(executable.case, arguments)


def run(main: Main, arguments: Sequence[Any], fresh: int = 0) -> tuple[Array, ...]:
    """Call ``main``. An error other than a refusal is a fault of the control: ``harness-error``.

    Raises:
        StageError: the control cannot compute the model.
    """
    try:
        return main(*arguments)
    except Uncontrolled as error:
        raise StageError("run", error) from error


def classified(case: OnnxCase, stage: str, message: str) -> tuple[Verdict, str | None]:
    """The verdict on a model that the control cannot compute: nothing can be said of it."""
    operators = operators_of(case.model)
    return Verdict.NO_ORACLE, operators[0] if len(operators) == 1 else None


def put_in_place() -> None:
    """Replace what imports, compiles and runs in this process."""
    replace(
        {
            importing: {"imported": imported},
            refusals: {"classified": classified},
            building: {
                "build": build,
                "link": link,
                "load": load,
                "run": run,
                "run_on_filled_stack": run,
            },
        }
    )


if __name__ == "__main__":
    put_in_place()
    zygote.main()
