"""A zygote in whose workers the control stands where TVM would: the rest of the path is real."""

from collections.abc import Callable, Sequence
from typing import Any

from generators.program import Case
from harness import compile as compiling
from harness import conduct, zygote
from tests.quality.control.control import Array, check, evaluate
from tests.quality.control.convolution import Refused


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
) -> Case:
    """Refuse what the operators' definitions do not allow."""
    progress("check")
    try:
        check(module)
    except Refused as error:
        raise compiling.StageError("check", error) from error
    return module


def link(compiled: Sequence[Case]) -> None:
    """There is no native code."""


def load(executable: Case, *, cheaply: bool = False) -> Callable[..., tuple[Array, ...]]:
    """The function that evaluates ``executable`` on its run-time inputs."""
    return lambda *arguments: evaluate(executable, arguments)


def run(main: Callable[..., tuple[Array, ...]], arguments: Sequence[Array]) -> tuple[Array, ...]:
    """Call it. What it raises is a fault of the control: ``harness-error``."""
    return main(*arguments)


def put_in_place() -> None:
    """Replace what compiles and runs in this process."""
    replaced: dict[Any, dict[str, Any]] = {
        conduct: {"emit": emit},
        compiling: {"build": build, "link": link, "load": load, "run": run},
    }
    for module, functions in replaced.items():
        for name, function in functions.items():
            if not callable(getattr(module, name)):
                raise TypeError(f"{module.__name__}.{name} is no function")
            setattr(module, name, function)


if __name__ == "__main__":
    put_in_place()
    zygote.main()
