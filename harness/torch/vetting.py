"""Vetting a program before TVM sees it: eager PyTorch runs it, and export takes it."""

from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.outcomes.outcome import Reference
from relaxcheck.harness.torch.asking import all_expected
from relaxcheck.harness.torch.exporting import exported_once
from relaxcheck.harness.torch.grouping import NotExported
from relaxcheck.harness.torch.keeping import usual
from relaxcheck.oracles.torch.answers import Question


def validate(case: TorchCase, progress: Progress) -> tuple[Reference, str]:
    """The judgement on ``case``, and how it contradicts the case ("" if it does not)."""
    progress("oracle")
    refused = _refused(case)
    if isinstance(case.expect, Invalid):
        return Reference(refused), "" if refused else "the program is valid"
    return Reference(refused), f"the program is invalid: {refused}" if refused else ""


def _refused(case: TorchCase) -> str:
    """The reason why ``case`` is invalid; "" if it is not.

    Of several bindings the exported program may not take all: the first is the one it is about.
    """
    question = Question(case.program, arrays(case, 0), case.seed, case.regime)
    (answer,) = all_expected([question])
    if isinstance(answer, Exception):
        return str(answer)
    program = exported_once(case, usual())
    return str(program) if isinstance(program, NotExported) else ""
