"""The record of a fix: a fault of TVM, probes for it, and its replacement, as data."""

import enum
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.asking import ask_child, stderr_discarded
from relaxcheck.fixes.framework.patch import NewFile, Step
from relaxcheck.fixes.tvm_api import Call, Legalization

UPSTREAM = NewFile(
    "relax/op/validation.py",
    "Errors of invalid and of unsupported calls.",
)

LEGALIZE = "FLegalize"
"""The operator attribute that holds the function to lower a call."""


@dataclass(frozen=True, slots=True)
class OperatorAttribute:
    """An entry of TVM's operator registry. ``replace`` maps the present entry (or None) to ours."""

    operator: str
    key: str
    replace: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Rebinding:
    """A Python function of TVM to replace under every name that TVM's modules bind it to."""

    original: Callable[..., Any]
    replacement: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class MethodRebinding:
    """A method to replace in the class ``owner`` of TVM, or in the base of it that defines it.

    ``replacement`` is called with the instance first, unless it is a ``staticmethod``.
    """

    owner: type
    name: str
    replacement: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class FaultPart:
    """One part of a fault. A release may cure it and leave the others.

    ``probe()`` is True if the running TVM has this part; it looks at behaviour with the fix off,
    never at the version. ``deadly``: the probe may kill a TVM that has it.
    """

    name: str
    probe: Callable[[], bool]
    deadly: bool = False

    def present(self) -> bool:
        """True if the running TVM has it; survives a deadly probe."""
        with stderr_discarded():
            return ask_child(self.probe)[0] if self.deadly else self.probe()


@dataclass(frozen=True, slots=True)
class ModulePass:
    """A module pass that runs first, right after TVM's pass ``after``, or last.

    A pipeline without fusion leaves out passes with ``after``.
    """

    run: Any
    after: str | None = None
    last: bool = False


class Need(enum.StrEnum):
    """The need for a fix: whether the running TVM has all, some or none of the fault."""

    NEEDED = "needed"
    PARTLY = "partly needed"
    UPSTREAM = "upstream already"

    @classmethod
    def of(cls, present: Sequence[bool]) -> "Need":
        """The need for a fix, from the presence of its parts, of which there is at least one."""
        if all(present):
            return cls.NEEDED
        return cls.PARTLY if any(present) else cls.UPSTREAM


@dataclass(frozen=True, slots=True)
class Fix:
    """A fault of TVM and its cure.

    ``issue`` is the upstream report ("apache/tvm#19696"), None if there is none. ``passes`` run
    within ``fixes.pipeline(target)``, in the order of the fixes. ``after`` names the fix that this
    one follows in ``fixes.ALL``; only the first has none. ``patch`` is the recipe of the upstream
    patch, empty for a fix that is made of passes. ``one_fault``: all parts are forms of one fault,
    in one place of TVM. Otherwise ``single`` names those of ``operators`` of which one part alone
    gives wrong results.
    """

    name: str
    operators: tuple[str, ...]
    fault: str
    issue: str | None
    parts: tuple[FaultPart, ...]
    attributes: tuple[OperatorAttribute, ...] = ()
    rebindings: Callable[[], tuple[Rebinding | MethodRebinding, ...]] = tuple
    passes: tuple[ModulePass, ...] = ()
    after: str | None = None
    patch: tuple[Step, ...] = ()
    one_fault: bool = False
    single: tuple[str, ...] = ()

    @property
    def mends_one_fault(self) -> bool:
        """True if whatever it cures has one cause."""
        return self.one_fault or len(self.parts) == 1

    @property
    def mends_one_fault_of(self) -> tuple[str, ...]:
        """The operators whose wrong results have one cause, if this fix alone makes them right."""
        return self.operators if self.mends_one_fault else self.single

    def needed(self) -> bool:
        """True if the running TVM has any part of the fault; call it with the fix off."""
        return any(part.present() for part in self.parts)


def checks(check: Callable[[dict[str, Any]], None]) -> Callable[..., Callable[..., Any]]:
    """Decorator for a constructor of calls: run ``check`` on its arguments, by name, first."""

    def decorate(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def construct(*args: Any, **kwargs: Any) -> Any:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            check(bound.arguments)
            return original(*args, **kwargs)

        return construct

    return decorate


def checked(original: Callable[..., Any], check: Callable[[dict[str, Any]], None]) -> Rebinding:
    """The constructor ``original``, preceded by ``check`` of its arguments by name."""
    return Rebinding(original, checks(check)(original))


def legalization(operator: str, function: Legalization) -> tuple[OperatorAttribute, ...]:
    """Make ``function`` lower every call of ``operator``, including those of unknown shape.

    TVM silently skips calls of unknown shape unless the operator declares that it needs no shapes.
    ``function`` then receives such calls and must refuse them.
    """
    return (
        OperatorAttribute(operator, LEGALIZE, lambda original: function),
        OperatorAttribute(operator, "RequiresArgumentShapes", lambda original: False),
    )


def refuse(operator: str, **attributes: object) -> Exception:
    """The error for a valid call that cannot be lowered; names operator, attributes and values."""
    return tvm_api.OpNotImplemented(_message("cannot be lowered", operator, attributes))


def invalid(operator: str, why: str, **attributes: object) -> ValueError:
    """The error for an invalid call; ``why`` explains, ``attributes`` are at fault."""
    return ValueError(f"{_message('is invalid', operator, attributes)}: {why}")


def _message(predicate: str, operator: str, attributes: dict[str, object]) -> str:
    text = ", ".join(f"{name}={tvm_api.plain(value)}" for name, value in attributes.items())
    return f"{operator} {predicate} with {text}"


def require_shapes(call: Call) -> None:
    """Raise ``OpNotImplemented`` for the first argument of unknown shape; the message names it."""
    for argument, info in zip(call.args, call.op.arguments, strict=True):
        if not tvm_api.has_shape(argument):
            shapes = {info.name: tvm_api.show_type(tvm_api.type_of(argument)), "shape": None}
            raise refuse(call.op.name, **shapes)
