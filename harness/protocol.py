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


class Order(msgspec.Struct, frozen=True):
    """What a worker is given: cases as JSON; ``plain``: by the way every user of TVM goes.

    Otherwise shortcuts are allowed that make a compile cheaper. It answers with an ``Outcome`` for
    each case, in their order.
    """

    cases: tuple[msgspec.Raw, ...]
    plain: bool = False
    ask: Ask = Ask.RUN
