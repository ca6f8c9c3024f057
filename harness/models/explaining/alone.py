"""Compile the steps of a model apart from each other, and name those that fail.

The operands of every step become inputs, so that no step sees another. Steps go through TVM in
groups: a group that fails is halved until single steps are left. So one compilation clears all of a
good model, and each faulty step costs a few more. A fault that needs several steps together is left
to ``cutting``.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tvm import relax

from relaxcheck.harness.compiling.legalization_log import collected
from relaxcheck.harness.compiling.passes.stages import SilentBail
from relaxcheck.harness.compiling.watching import unknown_shape, unlowered
from relaxcheck.harness.models.compiling import Way
from relaxcheck.harness.models.explaining.traps import origins
from relaxcheck.harness.models.explaining.uses import made
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.faults import SECONDS, fault_of, in_child, left, raised
from relaxcheck.harness.models.forcing import forced
from relaxcheck.harness.models.imported import Imported, Step
from relaxcheck.harness.native.target import target

LEGALIZE = "LegalizeOps"

# TVM has no type information of its own.
Module = Any

Ask = Callable[[Module, Callable[[str], None]], Fault | None]
"""Compiles a module in part or in full; calls the function with each stage."""


@dataclass(frozen=True, slots=True)
class Alone:
    """A step that fails by itself, and its fault.

    ``behind`` is the step at which the shape of an operand was lost, "" if none is: then this one
    is a victim.
    """

    step: Step
    fault: Fault
    behind: str = ""


def failing_alone(
    imported: Imported,
    way: Way,
    *,
    suspects: Collection[str] | None = None,
    seconds: float = SECONDS,
    progress: Callable[[str, int], None] = lambda stage, steps: None,
) -> tuple[Alone, ...]:
    """The steps of ``imported`` that do not compile by themselves, in the program's order.

    All go through LegalizeOps. Those that it lowers, or the ``suspects`` of them by name, go
    through code generation in the ``way``. Each group runs in a child process with a deadline of
    ``seconds``, so that TVM may die. ``progress`` gets each stage, and the size of the group.
    """
    steps = tuple(compiled_steps(imported))
    borders = frozenset(step.variable for step in steps)
    ask = partial(_ask, imported.module, borders, seconds, progress)
    faults = dict(_failing(steps, partial(ask, legalized)))
    rest = [step for step in steps if step not in faults]
    if suspects is not None:
        rest = [step for step in rest if step.name in suspects]
    faults |= dict(_failing(rest, partial(ask, partial(_built, way))))
    lost = origins(imported.module)
    names = {step.variable: step.name for step in steps}
    return tuple(
        Alone(step, faults[step], names.get(origin := lost.get(step.variable, ""), origin))
        for step in steps
        if step in faults
    )


def compiled_steps(imported: Imported) -> Iterator[Step]:
    """The steps whose value is a variable that a binding of ``main`` defines, each once."""
    bound = made(imported.module)
    seen: set[str] = set()
    for step in imported.steps:
        if step.variable in bound and step.variable not in seen:
            seen.add(step.variable)
            yield step


def legalized(module: Module, progress: Callable[[str], None]) -> Fault | None:
    """The fault of ``module`` in LegalizeOps; None if that lowers every call."""
    progress(LEGALIZE)
    with collected() as logged:
        try:
            with target(0):
                lowered = relax.transform.LegalizeOps()(module)
        except Exception as error:
            return raised(LEGALIZE, error)
    calls = unlowered(lowered)
    if not calls:
        return None
    operators, texts = zip(*calls, strict=True)
    return left(SilentBail(LEGALIZE, operators, texts, logged, None, unknown_shape(lowered)))


def _built(way: Way, module: Module, progress: Callable[[str], None]) -> Fault | None:
    return fault_of(module, way, progress)


def _ask(
    module: Module,
    borders: Collection[str],
    seconds: float,
    progress: Callable[[str, int], None],
    ask: Ask,
    group: Sequence[Step],
) -> Fault | None:
    part = forced(module, borders, only=[step.variable for step in group])
    progress(LEGALIZE if ask is legalized else "build", len(group))
    return in_child(partial(ask, part.module), seconds)


def _failing(
    group: Sequence[Step], ask: Callable[[Sequence[Step]], Fault | None]
) -> Iterator[tuple[Step, Fault]]:
    """The steps of ``group`` that fail by themselves, each with its fault."""
    fault = ask(group) if group else None
    if fault is None:
        return
    if len(group) == 1:
        yield group[0], fault
        return
    half = len(group) // 2
    yield from _failing(group[:half], ask)
    yield from _failing(group[half:], ask)
