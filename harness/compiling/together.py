"""Cases of one kind, compiled one by one, then linked at once, and their oracles asked at once.

A kind says how a case begins (import or emit, compile) and how it ends (load, run, judge).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from relaxcheck.generators.core.compiled import CompiledCase
from relaxcheck.harness.compiling import building
from relaxcheck.harness.compiling.judgement import Expected
from relaxcheck.harness.compiling.running import Run
from relaxcheck.harness.kind import Progress
from relaxcheck.harness.outcomes.clock import Clock
from relaxcheck.harness.outcomes.outcome import Outcome


class Begun(Protocol):
    """A compiled case. ``late`` is its name if its native code is shared.

    ``program`` is None where there is nothing to link.
    """

    @property
    def case(self) -> CompiledCase:
        """The case."""
        ...

    @property
    def program(self) -> building.Compiled | None:
        """TVM's executable."""
        ...

    @property
    def clock(self) -> Clock:
        """The seconds that it took until now, by their kind."""
        ...

    @property
    def late(self) -> str | None:
        """The name that late linking gave it."""
        ...

    @property
    def progress(self) -> Progress:
        """Called with the name of each of its stages as it begins."""
        ...


M = TypeVar("M", bound=Begun)
Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class Planned(Generic[Q]):
    """A run to come: the number of its binding, its regime and arguments, and what to ask of it."""

    index: int
    regime: str
    question: Q
    arguments: tuple[building.Argument, ...]


def ended_together(
    begun: Sequence[M | Outcome],
    progress: Callable[[int | None, str], None],
    asked: Callable[[Sequence[M]], list[list[Run]]],
    end: Callable[[M, Sequence[Run]], Outcome],
    alone: Callable[[M], Outcome],
) -> Iterator[Outcome]:
    """The outcomes of ``begun``, in order, whose native code is generated and linked at once.

    ``progress`` gets None for the number of the case in a stage that all share. A case whose code
    cannot be generated is executed again ``alone``.

    Raises:
        Exception: a fault outside TVM, or in a shared stage. Cases without an outcome have to be
            executed alone.
    """
    compiled = [member for member in begun if not isinstance(member, Outcome)]
    failing = _failing(compiled, progress)
    runs = iter(asked([member for member in compiled if id(member) not in failing]))
    for this in begun:
        if isinstance(this, Outcome):
            yield this
        elif id(this) in failing:
            yield alone(this)
        else:
            yield end(this, next(runs))


def _failing(
    compiled: Sequence[Begun], progress: Callable[[int | None, str], None]
) -> frozenset[int]:
    """Generate the native code that was left; the ``id`` of each member whose code fails alone."""
    programs = [(member, member.program) for member in compiled if member.program is not None]
    progress(None, "link")
    shared = Clock()
    with shared("tvm"):
        alone = building.link([program for _, program in programs])
    for member, _ in programs:
        member.clock.add("tvm", shared.seconds["tvm"] / len(programs))
    return frozenset(id(programs[number][0]) for number in alone)


def all_runs(
    compiled: Sequence[M],
    planned: Callable[[M], Iterator[Planned[Q]]],
    all_expected: Callable[
        [Sequence[Q], Callable[[int], AbstractContextManager[None]]],
        Sequence[Expected | Exception],
    ],
) -> list[list[Run]]:
    """The runs of each of ``compiled`` as ``planned``, with the answers of the oracles.

    ``all_expected`` answers all questions at once; it opens a context while it answers one.
    """
    plan: list[tuple[M, Planned[Q]]] = []
    for member in compiled:
        member.progress("oracle")
        plan += [(member, each) for each in planned(member)]

    @contextmanager
    def on(number: int) -> Iterator[None]:
        member, _ = plan[number]
        member.progress("oracle")
        with member.clock("oracles"):
            yield

    answers = all_expected([each.question for _, each in plan], on)
    runs: dict[int, list[Run]] = {id(member): [] for member in compiled}
    for (member, each), wanted in zip(plan, answers, strict=True):
        binding = member.case.bindings[each.index]
        runs[id(member)].append(Run(binding, each.regime, each.arguments, wanted))
    return list(runs.values())
