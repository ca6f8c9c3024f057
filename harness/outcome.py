"""Verdicts and outcomes: what came of a case, as plain data."""

import enum

import msgspec

from generators.expression_cases import Member


class Verdict(enum.StrEnum):
    """What came of a case. Exclusive; ``DESCRIPTIONS`` says what each one means."""

    PASS = "pass"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"
    SILENT_BAIL = "silent-bail"
    OPAQUE_CRASH = "opaque-crash"
    ACCEPTS_INVALID = "accepts-invalid"
    WRONG_SHAPE = "wrong-shape"
    WRONG_DTYPE = "wrong-dtype"
    WRONG_VALUE = "wrong-value"
    PROCESS_DEATH = "process-death"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    ORACLE_SPLIT = "oracle-split"
    NO_ORACLE = "no-oracle"
    HARNESS_ERROR = "harness-error"

    @property
    def is_failure(self) -> bool:
        """Whether this verdict counts against TVM."""
        return self not in NOT_TVMS_FAULT


NOT_TVMS_FAULT = frozenset(
    {
        Verdict.PASS,
        Verdict.REJECTED,
        Verdict.ORACLE_SPLIT,
        Verdict.NO_ORACLE,
        Verdict.HARNESS_ERROR,
    }
)

DESCRIPTIONS = {
    Verdict.PASS: "every output at every binding within its bound, right shape and dtype",
    Verdict.REJECTED: "an invalid program, refused with an error that names operator and fault",
    Verdict.UNSUPPORTED: "a valid program, refused with an error that names operator and attribute",
    Verdict.SILENT_BAIL: "after LegalizeOps a high-level call is still there, without an error",
    Verdict.OPAQUE_CRASH: "an exception that does not say what is unsupported",
    Verdict.ACCEPTS_INVALID: "TVM accepts what the operator's definition rejects",
    Verdict.WRONG_SHAPE: "an output's shape differs from the oracles'",
    Verdict.WRONG_DTYPE: "an output's dtype differs from the oracles'",
    Verdict.WRONG_VALUE: "an output element lies outside its error bound, and the oracles agree",
    Verdict.PROCESS_DEATH: "the worker died of a signal",
    Verdict.TIMEOUT: "past the deadline",
    Verdict.OUT_OF_MEMORY: "past the memory limit",
    Verdict.ORACLE_SPLIT: "an oracle lies outside the reference's bound: no verdict on TVM",
    Verdict.NO_ORACLE: "no oracle could run, or correct results differ everywhere: no verdict",
    Verdict.HARNESS_ERROR: "relaxcheck itself failed on this case: a fault of ours",
}


ALL_ROOM = "every element has room: correct implementations differ at all of them"
"""The message of a ``no-oracle`` whose oracles did run, and had nothing to say."""

_OUR_STAGES = frozenset({"read", "oracle", "compare", "idle"})


def blamed_on_us(stage: str) -> Verdict | None:
    """``harness-error`` where ``stage`` is none of TVM's, or None: then TVM is to blame."""
    return Verdict.HARNESS_ERROR if stage in _OUR_STAGES else None


class Check(msgspec.Struct, frozen=True):
    """One output at one binding, of inputs in one ``regime``, held against its bound.

    ``ratio`` is the largest |actual - reference| / bound over the elements (above 1 is wrong);
    ``None`` stands for an infinite one. ``oracles`` names those that ran and agreed. ``room`` of
    the output's ``elements`` were held against nothing: correct implementations differ there.
    """

    binding: dict[str, int]
    output: str
    ratio: float | None
    oracles: tuple[str, ...]
    elements: int = 0
    room: int = 0
    regime: str = "normal"


class Computed(msgspec.Struct, frozen=True):
    """The value of a node by the reference: its dtype, and its shape at each binding."""

    dtype: str
    shapes: tuple[tuple[int, ...], ...]


class Reference(msgspec.Struct, frozen=True):
    """What the reference makes of a program: why it ``refused`` it ("": it did not), or ``values``.

    ``unknown``: it says nothing, for want of an operator; then ``refused`` says which.
    """

    refused: str = ""
    unknown: bool = False
    values: dict[str, Computed] = {}


class Outcome(msgspec.Struct, frozen=True):
    """What came of one case in one worker.

    ``stage`` is where it ended: ``emit``, the name of a pass, ``codegen``, ``load``, ``run``,
    ``compare`` or ``oracle``; ``None`` after a pass. ``operator`` is the operator at fault where
    that is known. ``message`` is the whole error text or the description of the difference.
    ``oracles`` names the oracles that ran at every binding; ``unsupported_oracles`` the others
    with their reason. ``seconds`` maps a part of the run to its CPU time. ``retried`` says what
    went wrong when the case ran together with others, if anything did; the rest is of the case
    alone. ``reference`` is there where it was asked before anything ran. In a campaign on several
    TVM releases ``release`` names its own, and ``elsewhere`` holds those on the others by name.
    ``gap`` names the declared gap that it fell into: then it neither passed nor failed.
    ``cause`` is what tells a wrong value from others, where that was found out where it ran;
    ``smallest`` is then what the case was reduced to there. Of a block ``checked`` expressions were
    checked, for the others there was nothing to check, and ``parts`` of them have to be run as
    cases of their own; of an expression that fails for several causes, what is about the others.
    """

    verdict: Verdict
    stage: str | None = None
    operator: str | None = None
    message: str = ""
    checks: tuple[Check, ...] = ()
    oracles: tuple[str, ...] = ()
    unsupported_oracles: dict[str, str] = {}
    seconds: dict[str, float] = {}
    environment: dict[str, str] = {}
    retried: str = ""
    reference: Reference | None = None
    release: str = ""
    elsewhere: dict[str, "Outcome"] = {}
    gap: str = ""
    cause: str = ""
    smallest: Member | None = None
    checked: int = 0
    parts: tuple[Member, ...] = ()
