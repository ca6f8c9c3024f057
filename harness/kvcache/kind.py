"""Paged KV caches as a kind of case: everything that the engine needs to know of them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from relaxcheck.generators.core.axes import OPERATIONS, Family
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.generators.kvcache.case import FORMAT, KvCase, replay
from relaxcheck.generators.kvcache.family import family
from relaxcheck.generators.kvcache.model import Refused, Unclear
from relaxcheck.generators.kvcache.operations import text_of
from relaxcheck.generators.kvcache.reduction import candidates, measure
from relaxcheck.harness.kind import Kind, Progress, Step, Tracing
from relaxcheck.harness.kvcache.naming import AT, kind_of, settings_off
from relaxcheck.harness.outcomes.appearance import NAN, PLACE
from relaxcheck.harness.outcomes.outcome import Outcome


class KvCaches(Kind[KvCase]):
    """Cases about a paged KV cache and a sequence of operations on it."""

    name = KvCase.kind
    formats: ClassVar[Mapping[int, type[AnyCase]]] = {FORMAT: KvCase}
    along_axes = False

    def check(self, case: KvCase) -> None:
        """Check that the model of the cache knows all operations. Raises ``CaseError``."""
        try:
            replay(case)
        except Refused as refusal:
            if refusal.number < len(case.operations) - 1:
                raise CaseError(
                    f"operation {refusal.number} has to be refused ({refusal}); only the last may"
                ) from refusal
        except Unclear as error:
            shown = text_of(case.operations[error.number])
            raise CaseError(f"operation {error.number}, {shown}: {error}") from error

    def families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """The one family."""
        return (family(),)

    def usual_families(self, pipelines: Sequence[str]) -> tuple[Family, ...]:
        """None: caches are drawn when the user names their family."""
        return ()

    # Executing imports TVM: only workers do that.

    def prepare(self) -> None:
        """Import TVM's frontend of language models."""
        from relaxcheck.harness.kvcache import execute, running  # noqa: F401

    def execute(
        self,
        case: KvCase,
        progress: Progress,
        *,
        plain: bool = False,
        tracing: Tracing | None = None,
    ) -> Outcome:
        """Apply the operations to TVM's cache; judge it after each. There are no shortcuts."""
        from relaxcheck.harness.kvcache import execute

        return execute.execute(case, progress)

    def operators(self, case: KvCase) -> tuple[str, ...]:
        """The kinds of operations, in the order in which they first come."""
        return tuple(dict.fromkeys(kind_of(at, case) for at in range(len(case.operations))))

    def way(self, case: KvCase) -> str:
        """The interface through which the cache is made."""
        return f"interface {case.model.interface}"

    def appearance(self, outcome: Outcome) -> str:
        """The place of an error in TVM, or "NaN"."""
        return "NaN" if NAN in outcome.details else str(outcome.details.get(PLACE, ""))

    def size(self, case: KvCase) -> int:
        """The number of operations."""
        return len(case.operations)

    def drawn_content(self, case: KvCase) -> object:
        """The operations."""
        return case.operations

    def noun(self, case: KvCase) -> str:
        """The word for a case."""
        return "KV cache"

    @property
    def steps(self) -> Sequence[Step[KvCase]]:
        """One step: fewer operations, plainer settings, shorter sequences, smaller numbers."""
        return (_simpler,)

    def measure(self, case: KvCase) -> tuple[float, ...]:
        """A measure of the effort to read ``case``."""
        return measure(case)

    def blame(self, case: KvCase) -> dict[str, str]:
        """The kinds of operations in their order, and settings off the plainest."""
        kinds = (kind_of(at, case) for at in range(len(case.operations)))
        return {OPERATIONS: ", ".join(kinds), **settings_off(case)}


def _simpler(case: KvCase, outcome: Outcome) -> Iterator[KvCase]:
    return candidates(case, int(outcome.details.get(AT, -1)))


KIND = KvCaches()
