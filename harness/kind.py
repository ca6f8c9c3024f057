"""The protocol of a kind of case: the one object through which the engine deals with it.

A kind says how its cases are read, drawn, executed in a worker, validated, made simpler, and told
apart when they fail. ``harness.kinds`` is the registry; ``reports.kinds`` renders cases by the name
of their kind. Methods that are not abstract have defaults for a kind whose cases stand for
themselves: one case a verdict, reduced along the axes of its family.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import ClassVar, Generic, TypeVar

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.generators.targets import LLVM
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.likely_cause import LikelyCause
from relaxcheck.harness.outcomes.outcome import Outcome, Reference

C = TypeVar("C", bound=AnyCase)
T = TypeVar("T")

Progress = Callable[[str], None]
"""Called with the name of each stage as it begins."""

Trials = Generator[AnyCase, Outcome, T]
"""A computation that asks for the outcomes of cases, one at a time, and ends with a ``T``."""

Step = Callable[[C, Outcome], Iterator[C]]
"""A step of reduction: candidates simpler than a failing case, the simplest first."""


class Tracing(msgspec.Struct, frozen=True):
    """Settings for a record of the passes of one case, and the passes to leave out.

    ``file`` is written while they run, so that it outlives the worker;
    ``harness.triage.bisection.trace`` reads it. A pass is named by its path there: the passes
    ``without`` do not run, the module before and after ``show`` is written as text, and the fixes
    are on while the passes ``fixed`` run, in a case that has them off. ``direct``: the functions
    that LegalizeOps makes are not compiled any further, but built one by one and called; where a
    pass is named ``after``, those of the module that it returns.
    ``formed``: look after each pass whether the module is still well formed. ``within`` is the
    pass from which the bindings ``held`` are held back (``harness.compiling.holding``).
    """

    file: str
    without: tuple[str, ...] = ()
    show: str | None = None
    fixed: tuple[str, ...] = ()
    direct: bool = False
    formed: bool = False
    within: str = ""
    held: tuple[str, ...] = ()
    after: str = ""


class Kind(ABC, Generic[C]):
    """One kind of case.

    ``formats`` maps the ``format`` numbers of its JSON to the classes of its cases. ``pipelines``
    names the ways to compile that its families draw from, the plainest first, and ``targets`` what
    its cases may be compiled for (``generators.targets``). ``along_axes``: a
    case follows from its point and its seed, so that a failure is reduced along the axes of its
    family; otherwise by ``steps`` alone, of which there is one at least, and its signature alone
    explains it. ``runs_together``:
    several cases may share one compilation (``execute_together``). ``has_passes``: its cases are
    compiled by passes that can be traced and left out one by one. ``any_look`` is the appearance of
    values that may look like any others, "" if there are none such.
    """

    name: ClassVar[str]
    formats: ClassVar[Mapping[int, type[AnyCase]]]
    pipelines: ClassVar[tuple[str, ...]] = ()
    targets: ClassVar[tuple[str, ...]] = (LLVM,)
    along_axes: ClassVar[bool] = True
    runs_together: ClassVar[bool] = False
    has_passes: ClassVar[bool] = False
    any_look: ClassVar[str] = ""

    # Reading and drawing

    def pipelines_for(self, target: str) -> tuple[str, ...]:
        """The ``pipelines`` that compile for ``target``."""
        return self.pipelines

    def check(self, case: C) -> None:
        """Check a case that was decoded, beyond its types.

        Raises:
            CaseError: it makes no sense, in one line.
        """

    @abstractmethod
    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """Every family of this kind, compiled by ``pipelines`` where its cases are compiled so."""

    def usual_families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """The families that a campaign draws from when the user names none."""
        return self.families(pipelines)

    def families_without_relax(self) -> tuple[Family, ...]:
        """The families with all axes and values whose cases TIRx alone can run."""
        return ()

    def runs_without_relax(self, case: C) -> bool:
        """True if TIRx alone, which has expressions and no Relax, can run ``case``."""
        return False

    def left_out(self) -> Mapping[str, str]:
        """The families that there could be, by name, each with the reason why there is none."""
        return {}

    def as_drawn(self, case: C) -> C:
        """``case`` as a campaign runs it, with everything that is cheap to check along."""
        return case

    # Executing, in a worker

    def prepare(self) -> None:
        """Import everything that executing takes, before workers are forked."""

    def warm(self) -> None:
        """Set up, before a worker is forked for a case of this kind, what only such cases use.

        It may take seconds: a command without such cases does not wait for it.
        """

    @abstractmethod
    def execute(
        self, case: C, progress: Progress, *, plain: bool = False, tracing: Tracing | None = None
    ) -> Outcome:
        """The outcome of ``case``; ``plain``: without the shortcuts that make a compile cheaper.

        Raises:
            CaseError: the case names something that does not exist.
        """

    def execute_together(
        self, cases: Sequence[C], progress: Callable[[int | None, str], None]
    ) -> Iterator[Outcome]:
        """The outcomes of ``cases``, in order, from one compilation.

        ``progress`` gets the number of the case as well, None in a stage that all share. Where it
        raises, the cases without an outcome run again one by one.
        """
        raise NotImplementedError

    def apply(self, case: C, progress: Progress) -> Outcome:
        """The outcome of ``case`` whose own passes are applied and checked; it is not compiled.

        One that fails is compiled all the same, so that it fails as it does in a campaign.

        Raises:
            CaseError: its kind has no passes of a case's own.
        """
        raise CaseError(f"a case of the kind {self.name} applies no passes of its own")

    def validate(self, case: C, progress: Progress) -> tuple[Reference, str]:
        """The reference's view of ``case``, and how it contradicts the case ("" if it does not).

        A drawn case is valid or invalid by construction; one that somebody wrote, or that a
        reduction made, is checked before TVM sees it.
        """
        return Reference(), ""

    # Describing

    @abstractmethod
    def operators(self, case: C) -> tuple[str, ...]:
        """The operators of ``case``, each once, or another name of its subject."""

    def group(self, operator: str) -> str:
        """The group of siblings that ``operator`` is in; its own name if it has none."""
        return operator

    def group_by_check(self, operator: str) -> str:
        """As ``group``, of operators whose invalid programs one check has to refuse."""
        return self.group(operator)

    def group_by_look(self, operator: str, appearance: str) -> str:
        """As ``group``, of operators whose failures of this ``appearance`` have one cause."""
        return self.group(operator)

    @abstractmethod
    def way(self, case: C) -> str:
        """The way ``case`` is run, in a few words: ``pipeline build``."""

    def appearance(self, outcome: Outcome) -> str:
        """The look of a failure beyond its verdict and message; empty if nothing tells.

        Of an error it is its place in TVM, of wrong values a word such as "NaN". Two failures that
        look different have two causes until a reduction brings both down to one.
        """
        return ""

    def is_over_nothing(self, case: C, binding: Mapping[str, int] | None = None) -> bool:
        """True if an input has no elements: in the run of ``binding``, or in any."""
        return False

    def size(self, case: C) -> int:
        """The number of nodes."""
        return 1

    def drawn_content(self, case: C) -> object:
        """The part of ``case`` that its seed decides, besides the values of inputs."""
        return case.seed

    def at_level(self, case: C, opt_level: int) -> C | None:
        """``case`` at LLVM's optimisation level ``opt_level``; None where nothing is compiled."""
        return None

    # Batches: cases that stand for many

    def is_batch(self, case: C) -> bool:
        """True if ``case`` stands for several, which run as cases of their own if they fail."""
        return False

    def is_part(self, case: C) -> bool:
        """True if ``case`` came from another case, and was not drawn itself."""
        return False

    def count(self, case: C) -> int:
        """The number of cases that were drawn with ``case``."""
        return 1

    def weight(self, case: C, outcomes: Sequence[Outcome]) -> int:
        """The number of verdicts that ``case`` counts for; ``outcomes`` are by release."""
        return 1

    def parts(self, case: C, outcome: Outcome) -> tuple[tuple[AnyCase, ...], ...]:
        """The cases to run by themselves after ``outcome``, in groups.

        Of each group at least one is expected to fail.
        """
        return ()

    def noun(self, case: C) -> str:
        """The word for ``case`` in a message about its parts."""
        return self.name

    # Reducing and explaining

    def isolate(self, case: C, outcome: Outcome) -> Trials[tuple[C, Outcome]]:
        """The failure with only those runs of ``case`` that it takes (see ``as_drawn``)."""
        return case, outcome
        yield

    def by_structure(self, case: C) -> bool:
        """True if the seed of ``case`` decides its program, and not its point alone.

        To change an axis then makes another program, so that only ``core_steps`` make the failing
        one simpler.
        """
        return False

    def valid_call(self, case: C) -> C | None:
        """``case`` called as its program states; None if it is no wrong call of a valid program."""
        return None

    @property
    def core_steps(self) -> Sequence[Step[C]]:
        """Those of ``steps`` after which only that is left which a failure takes."""
        return ()

    def features(self, case: C, outcome: Outcome) -> dict[str, str]:
        """The settings of ``case``, reduced by ``core_steps``, that are still off the plainest."""
        return {}

    @property
    def steps(self) -> Sequence[Step[C]]:
        """The steps that make a failing case simpler off the axes, in the order to try them."""
        return ()

    def familiar(self, case: C, outcome: Outcome) -> Iterator[C]:
        """Cases to prefer to ``case``, which ``steps`` ended at, though they are larger.

        People read them faster. Three at most; the first that fails in the same way is taken.
        """
        return iter(())

    def convincing(self, case: C, *, doubtful: bool) -> Iterator[C]:
        """``case`` with other inputs that people have.

        With them it may be wrong by far more, where it is ``doubtful`` now. Otherwise those that
        are read faster than its own.
        """
        return iter(())

    def measure(self, case: C) -> tuple[float, ...]:
        """The place of ``case`` in the order that every one of ``steps`` goes down."""
        return ()

    def blame(self, case: C) -> dict[str, str]:
        """The blame for a failure whose smallest case is ``case``, if not ``along_axes``."""
        return {}

    def attribute(self, case: C, outcome: Outcome) -> Trials[Attribution] | None:
        """Put the settings of a failing case back one by one; None where it has no such settings.

        Every trial has to be validated.
        """
        return None

    def likely_cause(self, case: C, outcome: Outcome) -> LikelyCause | None:
        """The known fault of TVM that a failure of ``case`` looks like; None if there is none."""
        return None

    def endings(self, case: C) -> Sequence[tuple[str, str, C]]:
        """``case`` cut off after each of its nodes: the node's name, its operator, the case."""
        return ()
