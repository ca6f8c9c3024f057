"""What the engine, the zygote and the workers say to each other, one JSON object a message."""

import enum

import msgspec

SCRATCH = "RELAXCHECK_SCRATCH"
"""The variable of the zygote's environment that names the folder which goes with it."""


class Command(msgspec.Struct, frozen=True):
    """``fork``: fork a worker; ``reap``: wait for the worker ``pid`` and say how it ended."""

    verb: str
    pid: int = 0
    memory_limit: int = 0


class Reply(msgspec.Struct, frozen=True):
    """``pid`` of a new worker; or of a reaped one, with its signal (or None) and exit code."""

    pid: int = 0
    signal: int | None = None
    exit_code: int | None = None
    environment: dict[str, str] = {}


class Ask(enum.StrEnum):
    """What is to become of a case; ``harness.vetting`` says what the reference is asked."""

    RUN = "run"
    VETTED = "vetted"
    """Run it, if the reference finds it as valid or invalid as it says it is."""
    VET = "vet"
    """Only ask the reference."""


class Tracing(msgspec.Struct, frozen=True):
    """What to write down of the passes of one case, and which of them to leave out.

    ``file`` is written while they run, so that it outlives the worker; ``harness.bisection.trace``
    reads it. A pass is named by its path there: those of ``without`` do
    not run, the module before and after ``show`` is written as text, and the fixes are on while
    those of ``fixed`` run, in a case that has them off. ``direct``: what LegalizeOps gives is not
    compiled any further, but its functions are built one by one and called
    (``harness.bisection.direct``).
    """

    file: str
    without: tuple[str, ...] = ()
    show: str | None = None
    fixed: tuple[str, ...] = ()
    direct: bool = False


class Order(msgspec.Struct, frozen=True):
    """What a worker is given: cases as JSON; ``plain``: by the way every user of TVM goes.

    Otherwise shortcuts are allowed that make a compile cheaper. It answers with an ``Outcome`` for
    each case, in their order. With ``tracing`` there is one case.
    """

    cases: tuple[msgspec.Raw, ...]
    plain: bool = False
    ask: Ask = Ask.RUN
    tracing: Tracing | None = None
