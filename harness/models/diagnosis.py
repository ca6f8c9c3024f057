"""The place where a model fails to compile: each step alone, then by cutting.

The check calls ``compile_fault``; the modules that cut programs down plug in here.
"""

from relaxcheck.harness.compiling.building import Progress, SilentBail, StageError
from relaxcheck.harness.models.compiling import Way, compiled
from relaxcheck.harness.models.forcing import forced
from relaxcheck.harness.models.imported import Imported
from relaxcheck.harness.models.report import Place

_TEXT = 300


def compile_fault(
    imported: Imported, way: Way, progress: Progress = lambda stage: None
) -> Place | None:
    """The first step that does not compile alone; None if each does.

    Operands keep their static types, so that a shape that an earlier step lost stays lost.
    """
    borders = frozenset(step.variable for step in imported.steps)
    for number, step in enumerate(imported.steps):
        progress(f"node {number + 1} of {len(imported.steps)} alone")
        part = forced(imported.module, borders, only=(step.variable,))
        try:
            compiled(part.module, way)
        except (StageError, SilentBail) as error:
            return Place(step.name, step.operator, (step.text,), text(error))
    return None


def text(error: StageError | SilentBail) -> str:
    """The telling line of an error."""
    from relaxcheck.harness.outcomes.errors import error_text, headline

    if isinstance(error, SilentBail):
        return f"left after {error.stage}: {'; '.join(error.calls)}"[:_TEXT]
    return headline(error_text(error.cause))[:_TEXT]
