"""The messages between the engine, the zygote and the workers: one JSON object each."""

import enum

import msgspec

from relaxcheck.extensions.entry_points import Broken
from relaxcheck.harness.kind import Tracing

SCRATCH = "RELAXCHECK_SCRATCH"
"""The environment variable of the zygote that names its folder for temporary files."""


class Command(msgspec.Struct, frozen=True):
    """A command: ``fork`` a worker, or ``reap``: wait for the worker ``pid`` to exit.

    A worker is forked for cases of ``kinds``, by name.
    """

    verb: str
    pid: int = 0
    memory_limit: int = 0
    kinds: tuple[str, ...] = ()


class BundledFix(msgspec.Struct, frozen=True):
    """A bundled fix by its name, and the operators that it concerns; none: it may concern any.

    Of each of ``single`` it mends one fault alone that gives wrong results. ``one_fault``: it mends
    one fault at all.
    """

    name: str
    operators: tuple[str, ...] = ()
    single: tuple[str, ...] = ()
    one_fault: bool = False


class Reply(msgspec.Struct, frozen=True):
    """The ``pid`` of a new worker; or of a reaped one, with its signal or its exit code.

    The first reply has the versions of the ``environment``, the ``fixes``, and the entry points
    that are ``broken`` there.
    """

    pid: int = 0
    signal: int | None = None
    exit_code: int | None = None
    environment: dict[str, str] = {}
    fixes: tuple[BundledFix, ...] = ()
    broken: tuple[Broken, ...] = ()


class Ask(enum.StrEnum):
    """The action on a case."""

    RUN = "run"
    VETTED = "vetted"
    """Run it if the reference finds it as valid or invalid as it says (``Kind.validate``)."""
    VET = "vet"
    """Only ask the reference."""
    APPLY = "apply"
    """Only apply its passes, and check their results (``Kind.apply``)."""


class Order(msgspec.Struct, frozen=True):
    """Cases for a worker, as JSON; it answers with an ``Outcome`` for each, in their order.

    ``plain``: compile as every user of TVM does, without shortcuts that make a compile cheaper.
    With ``tracing``, or with ``fixes``, there is one case: the fixes alone that are on where it has
    fixes on.
    """

    cases: tuple[msgspec.Raw, ...]
    plain: bool = False
    ask: Ask = Ask.RUN
    tracing: Tracing | None = None
    fixes: tuple[str, ...] = ()
