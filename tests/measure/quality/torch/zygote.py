"""A zygote in whose workers PyTorch's interpreter stands where TVM would.

The rest of the path is real: journal, workers, export, oracles, judgement.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch.export import ExportedProgram

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.torch import dynamo, execute, importing, refusals
from relaxcheck.harness.workers import zygote
from tests.measure.quality.replacing import replace
from tests.measure.quality.torch.control import Uncontrolled, evaluate

Main = Callable[..., tuple[Array, ...]]


@dataclass(frozen=True, slots=True)
class Held:
    """A case and its exported program: the module of the control, run and not ``checked`` alone."""

    case: TorchCase
    program: ExportedProgram | None
    checked: str = ""


def has_door(door: str) -> bool:
    """The control has every door."""
    return True


def imported(case: TorchCase, program: ExportedProgram | None) -> importing.Imported:
    """The module of the control: it has no parameters beside the inputs."""
    return importing.Imported(Held(case, program), (), execute._returns_tuple(case))


def compiled(case: TorchCase) -> Main:
    """The function of a case of the door ``relax_dynamo``."""
    return load(Held(case, None))


def build(module: Held, *_: object, **__: object) -> Held:
    """The control compiles nothing."""
    return module


def link(compiled: Sequence[Held]) -> frozenset[int]:
    """There is no native code, and none that fails."""
    return frozenset()


def load(executable: Held, *, cheaply: bool = False) -> Main:
    """The function that evaluates ``executable`` on its run-time inputs."""
    return partial(_called, executable)


def _called(executable: Held, *arguments: Any) -> tuple[Array, ...]:
    return evaluate(executable.case, executable.program, arguments)


def run(main: Main, arguments: Sequence[Any], fresh: int = 0) -> tuple[Array, ...]:
    """Call ``main``. Any other error is a fault of the harness: ``harness-error``.

    Raises:
        StageError: the control cannot compute the program.
    """
    try:
        return main(*arguments)
    except Uncontrolled as error:
        raise StageError("run", error) from error


def classified(case: TorchCase, stage: str, message: str, node: str) -> tuple[Verdict, str | None]:
    """The verdict on a program that the control cannot compute: nothing can be said of it."""
    return Verdict.NO_ORACLE, node or None


def put_in_place() -> None:
    """Replace what imports, compiles and runs in this process."""
    replace(
        {
            importing: {"imported": imported, "has_door": has_door},
            dynamo: {"compiled": compiled},
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
