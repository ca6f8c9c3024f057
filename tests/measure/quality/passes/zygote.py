"""A zygote in whose workers right rewritings stand where passes would, and a control where TVM."""

from collections.abc import Callable

from relaxcheck.generators.core.program import Case
from relaxcheck.harness.compiling.passes.applying import Log
from relaxcheck.harness.programs import compile as compiling
from relaxcheck.harness.workers import zygote
from tests.measure.quality.control import zygote as control
from tests.measure.quality.passes.control import apply
from tests.measure.quality.replacing import Standing, replace


def build(
    module: Case,
    case: Case,
    progress: Callable[[str], None],
    *,
    late: str | None = None,
    tracing: None = None,
    log: Log,
) -> Standing[Case]:
    """As the control of operators, once the checks of passes have seen a rewriting for each."""
    built = control.build(module, case, progress)
    progress("passes")
    apply(case, log)
    return built


def put_in_place() -> None:
    """Replace what compiles and runs in this process, and what passes do."""
    control.put_in_place()
    replace({compiling: {"build": build}})


if __name__ == "__main__":
    put_in_place()
    zygote.main()
