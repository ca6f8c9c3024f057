"""What a fix is: data that says what was wrong, and what replaces it while it is on."""

import enum
import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from fixes import tvm_api
from fixes.asking import asked, unheard
from fixes.tvm_api import Call, Legalization

LEGALIZE = "FLegalize"
"""The operator attribute under which TVM keeps the function that lowers a call."""


@dataclass(frozen=True, slots=True)
class OperatorAttribute:
    """One entry of TVM's operator registry: ``replace`` maps the entry found (or None) to ours."""

    operator: str
    key: str
    replace: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Rebinding:
    """A Python function of TVM, replaced under every name it is bound to in TVM's modules."""

    original: Callable[..., Any]
    replacement: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a fault, which a release may cure alone.

    ``probe()`` says whether the running TVM has it, by its behaviour with the fix off and never by
    its version. ``deadly``: a TVM that has it may die of the probe.
    """

    name: str
    probe: Callable[[], bool]
    deadly: bool = False

    def present(self) -> bool:
        """Whether the running TVM has it; this process outlives the question."""
        with unheard():
            return asked(self.probe)[0] if self.deadly else self.probe()


@dataclass(frozen=True, slots=True)
class ModulePass:
    """A pass over a module, which stands first, or right after TVM's pass ``after``, or last.

    Where the pipeline does not fuse, those that stand after a pass of TVM's are left out.
    """

    run: Any
    after: str | None = None
    last: bool = False


class Need(enum.StrEnum):
    """How much of a fault the running TVM has."""

    NEEDED = "needed"
    PARTLY = "partly needed"
    UPSTREAM = "upstream already"

    @classmethod
    def of(cls, present: Sequence[bool]) -> "Need":
        """The need for a fix of whose parts these are ``present``; there is at least one."""
        if all(present):
            return cls.NEEDED
        return cls.PARTLY if any(present) else cls.UPSTREAM


@dataclass(frozen=True, slots=True)
class Fix:
    """One fault of TVM and what cures it.

    ``issue`` is the upstream report ("apache/tvm#19696"), None where there is none yet. ``passes``
    are not put on but run, by ``fixes.pipeline(target)``: first those of the fixes that come first.
    """

    name: str
    operators: tuple[str, ...]
    fault: str
    issue: str | None
    parts: tuple[Part, ...]
    attributes: tuple[OperatorAttribute, ...] = ()
    rebindings: Callable[[], tuple[Rebinding, ...]] = tuple
    passes: tuple[ModulePass, ...] = ()

    def needed(self) -> bool:
        """Whether the running TVM has any part of the fault; asked with the fix off."""
        return any(part.present() for part in self.parts)


def checks(check: Callable[[dict[str, Any]], None]) -> Callable[..., Callable[..., Any]]:
    """Decorate a function that makes a call with ``check`` of its arguments by name before it."""

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
    """``original``, which makes a call, with ``check`` of its arguments by name before it."""
    return Rebinding(original, checks(check)(original))


def legalization(operator: str, function: Legalization) -> tuple[OperatorAttribute, ...]:
    """``function`` lowers every call of ``operator``, those of unknown shape included.

    TVM passes over calls whose shapes it does not know without a word, unless the operator says
    that it can do without them; ``function`` then sees such calls and must refuse them.
    """
    return (
        OperatorAttribute(operator, LEGALIZE, lambda original: function),
        OperatorAttribute(operator, "RequiresArgumentShapes", lambda original: False),
    )


def refuse(operator: str, **attributes: object) -> Exception:
    """The error for a valid call that cannot be lowered: operator, attributes, their values."""
    return tvm_api.OpNotImplemented(_message("cannot be lowered", operator, attributes))


def invalid(operator: str, why: str, **attributes: object) -> ValueError:
    """The error for a call that is invalid, as ``why`` says, because of these attributes."""
    return ValueError(f"{_message('is invalid', operator, attributes)}: {why}")


def _message(what: str, operator: str, attributes: dict[str, object]) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in attributes.items())
    return f"{operator} {what} with {given}"


def require_shapes(call: Call) -> None:
    """Raise ``OpNotImplemented`` where an argument's shape is not known, naming the argument."""
    for argument, info in zip(call.args, call.op.arguments, strict=True):
        if not tvm_api.has_shape(argument):
            given = {info.name: str(tvm_api.type_of(argument)), "shape": None}
            raise refuse(call.op.name, **given)
