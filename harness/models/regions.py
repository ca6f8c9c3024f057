"""Parts of a model that are wrong only when they are compiled together.

Where every step is right alone, fusion, the memory planner or the order of steps is suspect. A part
whose operands alone are forced leaves what lies within it to the compiler, as in the whole.
"""

import tempfile
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.compiling.watching import Progress
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.models.compiling import Way, compiled, run
from relaxcheck.harness.models.faults import SECONDS, Died, asked
from relaxcheck.harness.models.forcing import Part, forced, operands
from relaxcheck.harness.models.imported import Step
from relaxcheck.harness.models.judging import MODEL_LIMIT, measured
from relaxcheck.harness.models.stepping import Setting
from relaxcheck.harness.triage.bisection.trace import read

_ANSWER: Any = bool | None

_INDISPENSABLE = "LegalizeOps"
"""The pass without which nothing is compiled."""


@dataclass(frozen=True, slots=True)
class Region:
    """Neighbouring steps that are wrong together, and right on the framework's operands each.

    Without any one of the ``passes``, they are right.
    """

    steps: tuple[str, ...]
    passes: tuple[str, ...]


def region(
    setting: Setting,
    borders: Collection[str],
    way: Way,
    progress: Progress = lambda stage: None,
) -> Region | None:
    """The fewest neighbouring steps that were found wrong together, and the passes to blame.

    None if the model is right as soon as its inputs are the only operands that are forced: then it
    is not wrong each time, or only in a way that no output of a step shows.
    """
    search = _Search(setting, borders, way)
    count = len(search.steps)
    if not search.wrong(0, count):
        return None
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        progress(f"the first {middle} nodes together")
        if search.wrong(0, middle):
            high = middle
        else:
            low = middle
    end = high
    low, high = 0, end
    while high - low > 1:
        middle = (low + high) // 2
        progress(f"{end - middle} nodes together")
        if search.wrong(middle, end):
            low = middle
        else:
            high = middle
    names = tuple(step.name for step in search.steps[low:end])
    return Region(names, _passes(search, low, end, progress))


class _Search:
    """The steps of a model, and the parts of it that are neighbouring steps."""

    def __init__(self, setting: Setting, borders: Collection[str], way: Way) -> None:
        self.setting, self.way = setting, way
        self.steps: list[Step] = [
            step for step in setting.imported.steps if step.variable in borders
        ]
        self.uses = operands(setting.imported.module)
        self.held = setting.held()

    def part(self, begin: int, end: int) -> Part:
        """The steps from ``begin`` to ``end``, which returns all that others use of them."""
        inside = {step.variable for step in self.steps[begin:end]}
        outside = frozenset(step.variable for step in self.steps) - inside
        used = self._leaving(inside)
        leaving = tuple(s.variable for s in self.steps[begin:end] if s.variable in used)
        return forced(
            self.setting.imported.module,
            outside,
            only=leaving or (self.steps[end - 1].variable,),
        )

    def _leaving(self, inside: Collection[str]) -> set[str]:
        """Those of the variables ``inside`` a part that other steps, or the result, use.

        Bindings between two steps belong to the later one.
        """
        steps = {step.variable for step in self.steps}
        used_at_all = {each for uses in self.uses.values() for each in uses}
        left = [
            name
            for name in self.uses
            if name not in inside and (name in steps or name not in used_at_all)
        ]
        seen: set[str] = set(left)
        leaving: set[str] = set()
        while left:
            for each in self.uses[left.pop()]:
                if each in inside:
                    leaving.add(each)
                elif each not in steps and each in self.uses and each not in seen:
                    seen.add(each)
                    left.append(each)
        return leaving

    def wrong(self, begin: int, end: int) -> bool:
        """True if the steps from ``begin`` to ``end`` are wrong together."""
        part = self.part(begin, end)
        # It compiles as part of the whole: where it does not alone, that is another fault.
        return self.differs(part, partial(compiled, part.module, self.way)) is True

    def differs(self, part: Part, build: Callable[[], Callable[..., object]]) -> bool | None:
        """True if ``part``, as ``build`` compiles it, is wrong; None if it does not run."""
        try:
            results = run(build(), [self.held[name] for name in part.inputs])
        except (StageError, SilentBail):
            return None
        return any(map(self._off, part.outputs, results))

    def _off(self, variable: str, result: Array) -> bool:
        name = self.setting.imported.borders()[variable].name
        double = self.setting.values.double.get(name)
        return measured(result, self.setting.values.own[name], double).ratio > MODEL_LIMIT


def _passes(search: _Search, begin: int, end: int, progress: Progress) -> tuple[str, ...]:
    """The names of the passes without which the steps are right together."""
    part = search.part(begin, end)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "trace"

        def build(without: tuple[str, ...] = ()) -> Callable[..., object]:
            return compiled(part.module, search.way, tracing=Tracing(str(file), without))

        def is_right_without(path: str) -> bool:
            def question(within: Progress) -> bool | None:
                return search.differs(part, partial(build, (path,)))

            # What is compiled without a pass that it needs may end the process.
            try:
                return asked(question, SECONDS, _ANSWER) is False
            except Died:
                return False

        if not search.differs(part, build):
            return ()
        found = []
        for step in read(file).steps:
            if not step.changed or step.name == _INDISPENSABLE:
                continue
            progress(f"without {step.name}")
            if is_right_without(step.path):
                found.append(step.name)
    return tuple(dict.fromkeys(found))
