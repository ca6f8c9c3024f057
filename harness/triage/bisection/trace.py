"""Traces: the passes that a worker ran, as plain data; and the verdicts by release.

A *step* is a pass that takes the program from one state to the next. A pass that only runs others
on the program (a pipeline, a named sequence) is no step: those are. Neither is a pass on something
that another pass compiles on the side, a constant's value, say. A step's *path* names it and all
passes around it: the same path is the same step in every run of a case, whatever is left out.
"""

from pathlib import Path

import msgspec

from relaxcheck.harness.outcomes.outcome import Verdict


class PassBegun(msgspec.Struct, frozen=True, tag="begun"):
    """A pass began; ``text`` is the module before it, if wanted."""

    path: str
    name: str
    text: str | None = None


class PassEnded(msgspec.Struct, frozen=True, tag="ended"):
    """The pass that began last ended.

    ``step``: it was a step. ``changed``: it changed the module. ``text``: the module after it, if
    wanted. ``breaks``: TVM's ``well_formed`` was asked, and refuses the module after this step as
    the first of all.
    """

    step: bool
    changed: bool = False
    text: str | None = None
    breaks: bool = False


class LeftOut(msgspec.Struct, frozen=True, tag="left-out"):
    """A step that was left out would have begun here."""

    path: str
    name: str


class Held(msgspec.Struct, frozen=True):
    """A binding that can be held back from a pass.

    It is the ``number``-th of the ``function``, from 0; ``name`` is its variable, ``called`` the
    operator or function that it calls.
    """

    function: str
    number: int
    name: str
    called: str

    @property
    def key(self) -> str:
        """The text that no other binding of the module has."""
        return f"{self.function}:{self.number}"

    def __str__(self) -> str:
        return f"{self.name} ({self.called})"


class Rewritable(msgspec.Struct, frozen=True, tag="rewritable"):
    """The ``bindings`` that can be held back from the step that begins."""

    bindings: tuple[Held, ...]


Line = PassBegun | PassEnded | LeftOut | Rewritable


class Step(msgspec.Struct, frozen=True):
    """A step by its path and its name; ``changed``: it changed the module.

    ``breaks``: it is the first whose module TVM's ``well_formed`` refuses, if that was asked.
    """

    path: str
    name: str
    changed: bool
    breaks: bool = False


class Trace(msgspec.Struct, frozen=True):
    """The steps that ended, in order, and the ``unfinished`` one in which the run ended, if any.

    ``before`` and ``after`` are the module as TVMScript around the step to show; None if it did not
    begin, or did not end. ``bindings`` can be held back from the step that was asked about.
    """

    steps: tuple[Step, ...] = ()
    unfinished: Step | None = None
    before: str | None = None
    after: str | None = None
    bindings: tuple[Held, ...] = ()


class OnRelease(msgspec.Struct, frozen=True):
    """The verdict on a case on ``release``; ``missing`` says why there is none."""

    release: str
    verdict: Verdict | None = None
    stage: str | None = None
    message: str = ""
    missing: str = ""


class ByRelease(msgspec.Struct, frozen=True):
    """A case on all ``releases``, the oldest first.

    ``first_bad`` is the first release on which it fails though an earlier one passes; None if no
    earlier one is known to pass. ``good_again`` is the first after a failure (that of ``first_bad``
    if there is one) on which it passes. Releases on which it did not run do not count.
    """

    releases: tuple[OnRelease, ...]
    first_bad: str | None
    good_again: str | None

    @property
    def failing(self) -> tuple[str, ...]:
        """The releases on which it fails."""
        return tuple(
            row.release
            for row in self.releases
            if row.verdict is not None and row.verdict.is_failure
        )


def read(file: Path) -> Trace:
    """The trace in ``file``; empty if the worker wrote none.

    Raises:
        msgspec.DecodeError: a line other than the last does not belong to a trace.
    """
    if not file.exists():
        return Trace()
    # The last line may be incomplete: a worker may die while it writes.
    lines = file.read_bytes().split(b"\n")[:-1]
    steps: list[Step] = []
    running: list[PassBegun] = []
    before = after = None
    bindings: tuple[Held, ...] = ()
    for line in lines:
        match entry := msgspec.json.decode(line, type=Line):
            case PassBegun() as begun:
                running.append(begun)
                before = begun.text or before
            case PassEnded() as ended:
                began = running.pop()
                after = ended.text or after
                if ended.step:
                    steps.append(Step(began.path, began.name, ended.changed, ended.breaks))
            case Rewritable():
                bindings = entry.bindings
            case LeftOut():
                continue
    last = Step(running[-1].path, running[-1].name, True) if running else None
    return Trace(tuple(steps), last, before, after, bindings)
