"""Stages of a compilation: passes in a context, and TVM's errors, each with its stage."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import tvm

from relaxcheck.generators.core.case import CaseError
from relaxcheck.harness.compiling.legalization_log import collected
from relaxcheck.harness.compiling.watching import Module, the_watch
from relaxcheck.harness.outcomes.errors import disowns, error_text
from relaxcheck.harness.outcomes.sources import SourceLine

Logged = Mapping[str, SourceLine | None]
"""Messages of legalizations, and their lines."""


@dataclass(slots=True)
class StageError(Exception):
    """An exception of TVM's, and its stage: a pass's name, or ``codegen``."""

    stage: str
    cause: BaseException


@dataclass(slots=True)
class SilentBail(Exception):
    """LegalizeOps left ``calls``, high-level operator calls, without an error.

    ``logged`` are the messages of legalizations until then, and their lines. ``symptom`` is the
    error in which ``relax.build`` then ends, as a user sees it; None where it was not run.
    ``unknown`` says which shape of the first call is not known, if one is not.
    """

    stage: str
    operators: tuple[str, ...]
    calls: tuple[str, ...]
    logged: Logged
    symptom: BaseException | None = None
    unknown: str = ""


class OwnFault(Exception):
    """A fault of ours, while passes run."""


@contextmanager
def staged(
    arguments: Mapping[str, Any], instruments: Sequence[Any], held: AbstractContextManager[object]
) -> Iterator[Logged]:
    """A block in a ``PassContext`` of these ``arguments``, and in ``held``.

    Yields what legalizations log, as it grows. The watch, which is one of the ``instruments``, has
    begun.

    Raises:
        StageError: TVM raised.
        SilentBail: it did so over a high-level call that LegalizeOps had left.
    """
    watch = the_watch()
    logged: dict[str, SourceLine | None] = {}
    try:
        context = tvm.transform.PassContext(instruments=[*instruments], **arguments)
        with context, held, collected() as logged:
            yield logged
    except (SilentBail, StageError, OwnFault, CaseError):
        raise
    except Exception as error:
        # Code generation dies of a call that LegalizeOps left: report the cause, not the symptom,
        # unless the error is clear about it.
        if not any(disowns(error_text(error), operator) for operator, _ in watch.left):
            _raise_if_left(watch, logged, error)
        raise StageError(watch.stage, error) from error


def stepped(
    module: Module, steps: Sequence[Callable[[Module], Module]], where: Any, logged: Logged
) -> Module:
    """``module`` after ``steps``, for the target ``where``.

    Raises:
        SilentBail: LegalizeOps left a high-level call behind in one of them.
    """
    for step in steps:
        with where:
            module = step(module)
        _raise_if_left(the_watch(), logged)
    return module


def _raise_if_left(watch: Any, logged: Logged, symptom: BaseException | None = None) -> None:
    if watch.left:
        operators, calls = zip(*watch.left, strict=True)
        raise SilentBail("LegalizeOps", operators, calls, dict(logged), symptom, watch.unknown)
