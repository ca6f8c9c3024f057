"""Parts of a model that are wrong only when they are compiled together.

Where every step is right alone, fusion, the memory planner or the order of steps is suspect. A run
that forces a few borders leaves what lies between them to the compiler, fused as in the whole.
"""

from collections.abc import Collection, Sequence

from relaxcheck.harness.compiling.building import Progress, SilentBail, StageError
from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.forcing import forced
from relaxcheck.harness.models.imported import Step
from relaxcheck.harness.models.judging import MODEL_LIMIT, measured
from relaxcheck.harness.models.stepping import Setting, ran

_PARTS = 8
"""The number of parts that a region is cut into at a time."""


def region(
    setting: Setting,
    borders: Collection[str],
    way: Way,
    progress: Progress = lambda stage: None,
) -> tuple[str, ...]:
    """The names of the neighbouring steps that are wrong together, as few as were found.

    Empty if no part is wrong once its operands are the framework's: the error grows over the whole.
    """
    steps = [step for step in setting.imported.steps if step.variable in borders]
    low, high = 0, len(steps)
    found = False
    while high - low > 1:
        size = -(-(high - low) // _PARTS)
        ends = [*range(low + size, high, size), high]
        progress(f"parts of {size} nodes")
        wrong = _first_wrong(setting, steps, low, ends, way)
        if wrong is None:
            break
        found = True
        if wrong == (low, high):
            break
        low, high = wrong
    return tuple(step.name for step in steps[low:high]) if found else ()


def _first_wrong(
    setting: Setting, steps: Sequence[Step], low: int, ends: Sequence[int], way: Way
) -> tuple[int, int] | None:
    """The first part between ``ends`` that is wrong on the framework's operands.

    The values at the ends of parts are forced, and everything that a later part uses.
    """
    begin = low
    for end in ends:
        inside = {step.variable for step in steps[begin:end]}
        outside = frozenset(step.variable for step in steps) - inside
        last = _leaving(setting, steps, begin, end)
        part = forced(setting.imported.module, outside, only=last)
        try:
            results = dict(zip(part.outputs, ran(part, setting, way), strict=True))
        except (StageError, SilentBail):
            # It compiles as part of the whole; alone it has another fault, which is not this one.
            begin = end
            continue
        for step in steps[begin:end]:
            if step.variable not in results:
                continue
            own = setting.values.own[step.name]
            double = setting.values.double.get(step.name)
            if measured(results[step.variable], own, double).ratio > MODEL_LIMIT:
                return begin, end
        begin = end
    return None


def _leaving(setting: Setting, steps: Sequence[Step], begin: int, end: int) -> tuple[str, ...]:
    """The variables of a part that later steps use, or the last one."""
    from relaxcheck.harness.models.forcing import operands

    inside = {step.variable for step in steps[begin:end]}
    order = list(operands(setting.imported.module).items())
    used = {each for name, uses in order if name not in inside for each in uses if each in inside}
    return tuple(step.variable for step in steps[begin:end] if step.variable in used) or (
        steps[end - 1].variable,
    )
