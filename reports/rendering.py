"""The protocol of rendering one kind of case: text, scripts and issues for a person to read."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness.known.corpus import Culprit
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.errors import own_words
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Limits

C = TypeVar("C", bound=AnyCase)

SHAPES = "shapes"
"""An axis of ``Rendering.cells``: ``symbolic`` or ``static``."""
STATIC = "static"


@dataclass(frozen=True, slots=True)
class Came:
    """The verdict on a case on one release: None where it could not run there.

    ``alike``: whether it failed in the same way; None where that is not known. ``undefined``: the
    result depends on memory that nothing wrote.
    """

    verdict: Verdict | None
    alike: bool | None = None
    undefined: bool = False


@dataclass(frozen=True, slots=True)
class About:
    """Facts about a failure that an issue mentions besides the case and its outcome.

    ``known`` is the address of an issue that reports it already. ``patched``: a patch that cures it
    and a test lie beside the issue. ``cure`` names the bundled fixes with which it is right.
    ``siblings`` are other operators that fail for the same cause, ``symbolic`` those of them that
    were seen with symbolic dimensions alone. ``fault`` is a sentence on what is wrong in TVM's
    sources.
    """

    environment: Mapping[str, str]
    attribution: Attribution | None = None
    culprit: Culprit | None = None
    releases: Mapping[str, Came] = field(default_factory=dict)
    known: str | None = None
    patched: bool = False
    cure: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    fault: str = ""
    symbolic: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Box:
    """A box: the left upper corner and the size in pixels, its lines of text, and its ``kind``.

    ``kind`` is ``input``, ``constant``, ``operator`` or ``output``.
    """

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge from the middle of a box's lower side to that of another one's upper side."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes, edges and the size of the whole, in pixels; ``description`` is the same in words."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    description: str


NO_PICTURE = Picture(0, 0, (), (), "")
"""The picture of a case that has no graph."""


class Rendering(ABC, Generic[C]):
    """The presentation of cases of one kind; ``reports.kinds`` looks it up by the kind's name."""

    @abstractmethod
    def text(self, case: C) -> str:
        """The content of ``case``, one line each, and in the last line how it is run."""

    @abstractmethod
    def extent(self, case: C) -> str:
        """The size of ``case``, in a few words."""

    @abstractmethod
    def title(
        self,
        case: C,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        """The behaviour, and the conditions of the failure.

        Raises:
            CaseError: no script could show ``outcome``.
        """

    def distinctions(self, case: C, outcome: Outcome) -> Iterator[str]:
        """Phrases to end a title with that another failure has as well, the most telling first."""
        words = own_words(outcome.message)
        yield from (f'with "{words}"',) * bool(words)
        yield from self.text(case).splitlines()

    @abstractmethod
    def pasted(
        self, case: C, outcome: Outcome, title: str, about: About, limits: Limits | None = None
    ) -> tuple[str, str]:
        """The script and the issue.

        Raises:
            CaseError: no script could show ``outcome``.
        """

    def pytest(
        self,
        case: C,
        outcome: Outcome,
        title: str,
        environment: Mapping[str, str],
        name: str,
        limits: Limits | None = None,
        *,
        passes: bool = False,
    ) -> str:
        """A test for TVM's own suite, a function ``name``.

        It is marked as an expected failure, unless it ``passes`` by a patch that comes with it.

        Raises:
            CaseError: there are no such tests of this kind, or none could show ``outcome``.
        """
        raise CaseError(f"case {case.identifier} is no program")

    # On the page of a campaign

    def listing(self, case: C) -> str:
        """The source that the page shows."""
        return self.text(case)

    def picture(self, case: C) -> Picture:
        """The graph of ``case``."""
        return NO_PICTURE

    def conditions(self, case: C) -> tuple[tuple[str, str], ...]:
        """Names and values of how ``case`` is run."""
        return ()

    def cells(self, case: C) -> Mapping[str, str]:
        """Coverage cells of ``case`` on axes that the page adds to those of its family."""
        return {}

    def attribution(self, case: C, attribution: Attribution, stage: str | None) -> str:
        """The ``attribution`` of a failure in ``stage``, as sentences."""
        return ""
