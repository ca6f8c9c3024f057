"""Verdicts and outcomes: the result of running a case, as plain data."""

import enum
from typing import Any

import msgspec

from relaxcheck.generators.core.case import AnyCase


class Verdict(enum.StrEnum):
    """The result of a case. Verdicts are exclusive; ``DESCRIPTIONS`` explains each."""

    PASS = "pass"
    BUILT = "built"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"
    SILENT_BAIL = "silent-bail"
    OPAQUE_CRASH = "opaque-crash"
    BROKEN_MODULE = "broken-module"
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
        """True if this verdict counts against TVM."""
        return self not in NOT_TVMS_FAULT

    @property
    def is_right(self) -> bool:
        """True if TVM does what it should: a valid program is right, an invalid one refused.

        Where the target's code cannot run here, nothing but that it was generated is known.
        """
        return self in (Verdict.PASS, Verdict.BUILT, Verdict.REJECTED)


NOT_TVMS_FAULT = frozenset(
    {
        Verdict.PASS,
        Verdict.BUILT,
        Verdict.REJECTED,
        Verdict.ORACLE_SPLIT,
        Verdict.NO_ORACLE,
        Verdict.HARNESS_ERROR,
    }
)

DESCRIPTIONS = {
    Verdict.PASS: "every output is within its bound at every binding; shape and dtype are right",
    Verdict.BUILT: "code is generated and checked for a target that cannot run here",
    Verdict.REJECTED: "a check refuses an invalid program before it runs and says what is wrong",
    Verdict.UNSUPPORTED: "a valid program is refused, and the error says what is not supported",
    Verdict.SILENT_BAIL: "a high-level call is still there after LegalizeOps, without an error",
    Verdict.OPAQUE_CRASH: "an exception that does not say what is unsupported or invalid",
    Verdict.BROKEN_MODULE: "a pass returns a module that is ill-formed, or fails another check",
    Verdict.ACCEPTS_INVALID: "TVM compiles and runs what the operator's definition rejects",
    Verdict.WRONG_SHAPE: "an output's shape differs from the oracles'",
    Verdict.WRONG_DTYPE: "an output's dtype differs from the oracles'",
    Verdict.WRONG_VALUE: "an output element is outside its error bound, and the oracles agree",
    Verdict.PROCESS_DEATH: "the worker died of a signal",
    Verdict.TIMEOUT: "the case ran past its deadline",
    Verdict.OUT_OF_MEMORY: "the case ran past its memory limit",
    Verdict.ORACLE_SPLIT: "an oracle is outside the reference's bound: no verdict on TVM",
    Verdict.NO_ORACLE: "no oracle ran, or correct results may differ everywhere: no verdict on TVM",
    Verdict.HARNESS_ERROR: "relaxcheck itself failed on this case",
}

ALL_UNCONSTRAINED = "every element is unconstrained: correct implementations differ at all of them"
"""The message of a ``no-oracle`` whose oracles ran, but constrain no element."""

INSTALLING = "install-fixes"
"""The stage in which a process finds out which fixes its TVM needs, and puts them on."""

_OUR_STAGES = frozenset({"read", INSTALLING, "export", "oracle", "compare", "idle"})


def blamed_on_us(stage: str) -> Verdict | None:
    """``harness-error`` if ``stage`` is one of relaxcheck's own, or None if it is TVM's."""
    return Verdict.HARNESS_ERROR if stage in _OUR_STAGES else None


class Check(msgspec.Struct, frozen=True):
    """One output at one binding, for inputs of one ``regime``, compared with its bound.

    ``ratio`` is the largest |actual - reference| / bound over the elements (above 1 is wrong);
    ``None`` stands for infinity. ``oracles`` are those that ran and agreed. ``unconstrained`` of
    the output's ``elements`` were not compared: correct implementations differ there.
    """

    binding: dict[str, int]
    output: str
    ratio: float | None
    oracles: tuple[str, ...]
    elements: int = 0
    unconstrained: int = 0
    regime: str = "normal"


class Computed(msgspec.Struct, frozen=True):
    """A node's value according to the reference: its dtype, and its shape at each binding."""

    dtype: str
    shapes: tuple[tuple[int, ...], ...]


class Reference(msgspec.Struct, frozen=True):
    """The reference's judgement of a program: ``refused`` is the reason, "" if it accepts it.

    ``unknown``: it has no judgement because it lacks an operator, which ``refused`` then names.
    """

    refused: str = ""
    unknown: bool = False
    values: dict[str, Computed] = {}


class Ending(msgspec.Struct, frozen=True):
    """The end of a worker that gave no answer.

    ``signal`` is the name of the signal that it died of (``SIGSEGV``), "" if of none that is known.
    ``seconds`` is the deadline that it passed, ``grown`` the bytes of memory that it was allowed to
    grow by and outgrew; None if it did not.
    """

    signal: str = ""
    exit_code: int | None = None
    seconds: float | None = None
    grown: int | None = None


class Outcome(msgspec.Struct, frozen=True):
    """The result of one case in one worker.

    * ``stage`` is where it ended: ``emit``, the name of a pass, ``codegen``, ``load``, ``run``,
      ``compare`` or ``oracle``; None after a pass.
    * ``operator`` is the operator at fault, if known; ``message`` the whole error text, or a
      description of the difference, for people: code reads the other fields.
    * ``oracles`` ran at every binding; ``unsupported_oracles`` maps the others to their reason.
    * ``seconds`` maps parts of the run to CPU time. ``retried`` is the error of running together
      with other cases, if there was one; everything else is of the case alone.
    * ``reference`` is the reference's judgement, if it was asked before anything ran.
    * ``release`` is the TVM release in a campaign on several, ``elsewhere`` the outcomes on others.
    * ``expected_by`` names the declared failure that expects this one; it then counts as neither
      passing nor failing.
    * ``cause`` separates failures by cause, if the worker found it: of a wrong value, or TVM's
      logged reason of a silent bail; ``smallest`` is the case that the worker reduced it to.
    * ``checked`` is the number of expressions of a batch that were checked; ``parts`` are cases
      that have to run by themselves: failing expressions of a batch, or further causes.
    * ``ending`` is set if the worker gave no answer.
    * ``details`` are further facts, as JSON, that only the kind of the case reads.
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
    expected_by: str = ""
    cause: str = ""
    smallest: AnyCase | None = None
    checked: int = 0
    parts: tuple[AnyCase, ...] = ()
    ending: Ending | None = None
    details: dict[str, Any] = {}

    @property
    def nothing_compared(self) -> bool:
        """True if oracles ran, but constrain no element of any output."""
        elements = sum(check.elements for check in self.checks)
        unconstrained = sum(check.unconstrained for check in self.checks)
        return (
            self.verdict is Verdict.NO_ORACLE
            and bool(self.oracles)
            and 0 < elements == unconstrained
        )
