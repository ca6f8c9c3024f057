"""Cut a model that fails down to the fewest steps that fail alike.

A cut is a program of some of the model's steps: what it computes from stands at its *borders* and
becomes inputs, and its *outputs* are values of steps. The search is a generator that asks, of one
part at a time, whether it fails as the whole does; whoever runs it compiles, or compares values. It
takes a prefix by halving, then the smallest window before the end of that, then single steps out of
the window, then outputs. Symbolic dimensions stay.
"""

import time
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field

from relaxcheck.harness.models.explaining.uses import made, used
from relaxcheck.harness.models.forcing import Part, forced
from relaxcheck.harness.models.imported import Imported, Step

SECONDS = 300.0
"""Time limit of a cut in seconds."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A part of a model that fails as the whole does.

    ``steps`` are those that it computes, in the program's order; ``borders`` are the variables of
    other steps that it takes as inputs. ``tries`` counts the parts that were asked about.
    ``minimal``: no step, and no output, can be left out of it.
    """

    part: Part
    steps: tuple[Step, ...]
    borders: tuple[str, ...]
    outputs: tuple[str, ...]
    tries: int = 0
    minimal: bool = False


def cut(
    imported: Imported,
    fails: Callable[[Part], bool],
    *,
    last: str = "",
    within: Collection[str] = (),
    seconds: float = SECONDS,
    show: Callable[[int, int], None] = lambda tries, steps: None,
    clock: Callable[[], float] = time.monotonic,
) -> Cut | None:
    """The smallest part of ``imported`` that ``fails``; None if the whole does not.

    ``last`` is the variable of the step that is wrong, where that is known: no step behind it is
    needed. ``within`` are the variables of steps that are known to fail together: no other step is
    needed. After ``seconds`` the smallest part so far is the result. ``show`` gets the number of
    parts tried, and of the steps of the smallest that fails.
    """
    end = clock() + seconds
    search = _Search(imported)
    trials = search.run(last, frozenset(within))
    try:
        part = next(trials)
        while clock() < end:
            answer = fails(part)
            search.tries += 1
            part = trials.send(answer)
            show(search.tries, len(search.steps))
    except StopIteration:
        return search.smallest(minimal=True)
    finally:
        trials.close()
    return search.smallest(minimal=False)


@dataclass(slots=True)
class _Search:
    """The state of a search: the ``outputs`` and ``borders`` of the smallest part that fails."""

    imported: Imported
    order: tuple[str, ...] = ()
    uses: dict[str, tuple[str, ...]] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    borders: frozenset[str] = frozenset()
    tries: int = 0
    _part: Part | None = None

    def __post_init__(self) -> None:
        every = made(self.imported.module)
        self.uses = {name: used(binding.value) for name, binding in every.items()}
        steps = (step.variable for step in self.imported.steps)
        self.order = tuple(dict.fromkeys(each for each in steps if each in self.uses))

    def run(self, last: str, within: frozenset[str]) -> Generator[Part, bool, None]:
        """Ask about parts until none is smaller."""
        if within:
            outputs = self._leaving([name for name in self.order if name in within])
            if (yield from self._takes(outputs, frozenset(self.order) - within)):
                yield from self._fewer_outputs()
                yield from self._fewer_steps()
            return
        count = self.order.index(last) + 1 if last in self.order else len(self.order)
        if not count or not (yield from self._takes(self._live(count), frozenset())):
            return
        count = yield from self._prefix(count)
        end = self.order[count - 1]
        if self.outputs != (end,):
            yield from self._takes((end,), self.borders)
        yield from self._window(count)
        yield from self._fewer_steps()
        yield from self._fewer_outputs()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that the smallest part computes."""
        needed = self._needed(self.outputs, self.borders)
        chosen = {each.variable: each for each in reversed(self.imported.steps)}
        return tuple(chosen[name] for name in self.order if name in needed)

    def smallest(self, *, minimal: bool) -> Cut | None:
        """The smallest part that failed; None if none did."""
        if self._part is None:
            return None
        needed = self._needed(self.outputs, self.borders)
        read = {each for name in needed for each in self.uses[name]}
        borders = tuple(name for name in self.order if name in self.borders & read)
        return Cut(self._part, self.steps, borders, self.outputs, self.tries, minimal)

    def _prefix(self, count: int) -> Generator[Part, bool, int]:
        """The number of steps in the shortest prefix that fails."""
        low, high = 1, count
        while low < high:
            middle = (low + high) // 2
            if (yield from self._takes(self._live(middle), frozenset())):
                high = middle
            else:
                low = middle + 1
        return high

    def _window(self, count: int) -> Generator[Part, bool, None]:
        """Make inputs of all but the last few steps of a prefix of ``count``: 1, 2, 4 and so on."""
        size = 1
        while size < count:
            inside = set(self.order[count - size : count]) | set(self.outputs)
            before = frozenset(self.order[:count]) - inside
            if (yield from self._takes(self.outputs, before)):
                return
            size *= 2

    def _fewer_steps(self) -> Generator[Part, bool, None]:
        """Make inputs of as many of the steps as can be: groups first, then single ones."""
        size = max(1, (len(self.steps) - 1) // 2)
        while size:
            at = 0
            inner = self._inner()
            while at < len(inner):
                group = inner[at : at + size]
                if (yield from self._takes(self.outputs, self.borders | set(group))):
                    inner = self._inner()
                else:
                    at += size
            size //= 2

    def _inner(self) -> tuple[str, ...]:
        """The variables that the smallest part computes on its way to its outputs."""
        return tuple(s.variable for s in self.steps if s.variable not in self.outputs)

    def _fewer_outputs(self) -> Generator[Part, bool, None]:
        for output in self.outputs:
            rest = tuple(each for each in self.outputs if each != output)
            if rest:
                yield from self._takes(rest, self.borders)

    def _takes(
        self, outputs: tuple[str, ...], borders: Collection[str]
    ) -> Generator[Part, bool, bool]:
        """Ask about the part between ``borders`` and ``outputs``, and move to it if it fails."""
        borders = frozenset(borders) - set(outputs)
        part = forced(self.imported.module, borders, only=outputs)
        if not (yield part):
            return False
        self.outputs, self.borders, self._part = outputs, borders, part
        return True

    def _live(self, count: int) -> tuple[str, ...]:
        """The variables of the first ``count`` steps that are used behind them, or not at all.

        Values that stay inside are no outputs: they would forbid fusion.
        """
        return self._leaving(self.order[:count])

    def _leaving(self, steps: Sequence[str]) -> tuple[str, ...]:
        """Those of the variables ``steps`` that are used by others than these, or not at all."""
        outside = frozenset(self.order) - set(steps)
        inside = self._needed(steps, outside)
        behind = {each for name, uses in self.uses.items() if name not in inside for each in uses}
        read = {each for name in inside for each in self.uses[name]}
        leaving = tuple(name for name in steps if name in behind or name not in read)
        return leaving or tuple(steps[-1:])

    def _needed(self, outputs: Sequence[str], borders: Collection[str]) -> set[str]:
        """The variables that a part between ``borders`` and ``outputs`` computes."""
        needed: set[str] = set()
        open_ = list(outputs)
        while open_:
            name = open_.pop()
            if name in needed or name not in self.uses or name in borders:
                continue
            needed.add(name)
            open_ += self.uses[name]
        return needed
