"""What a worker wrote down of the passes that it ran, as plain data.

A *step* is a pass that takes the program from one state to the next. A pass that only runs others
on the program (a pipeline, a named sequence) is none: its steps are theirs. What a pass compiles on
the side, a constant's value say, is no step either. A step's *path* names it and all passes around
it: the same path is the same step in every run of a case, whatever other steps are left out.

What came of the case on each TVM release is written down beside it, where that was tried.
"""

from pathlib import Path

import msgspec

from harness.outcome import Verdict


class Begun(msgspec.Struct, frozen=True, tag="begun"):
    """A pass began; ``text`` is the module before it, where that is wanted."""

    path: str
    name: str
    text: str | None = None


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """The pass that began last ended.

    ``step``: it is one; ``changed``: the module is another one than before; ``text``: that module,
    where it is wanted.
    """

    step: bool
    changed: bool = False
    text: str | None = None


class LeftOut(msgspec.Struct, frozen=True, tag="left-out"):
    """A step that was to be left out would have begun."""

    path: str
    name: str


Line = Begun | Ended | LeftOut


class Step(msgspec.Struct, frozen=True):
    """A step by its path and its name, and whether the module is another one after it."""

    path: str
    name: str
    changed: bool


class Trace(msgspec.Struct, frozen=True):
    """The steps that ended, in order, and the one in which everything ended, if it was in one.

    ``before`` and ``after`` are the module as TVMScript around the step that was to be shown; None
    where it never began, or did not end.
    """

    steps: tuple[Step, ...] = ()
    unfinished: Step | None = None
    before: str | None = None
    after: str | None = None


class OnRelease(msgspec.Struct, frozen=True):
    """What came of a case on ``release``; ``missing`` says why nothing did, without a verdict."""

    release: str
    verdict: Verdict | None = None
    stage: str | None = None
    message: str = ""
    missing: str = ""


class ByRelease(msgspec.Struct, frozen=True):
    """A case on all ``releases``, the oldest first.

    ``first_bad`` is the first that it fails on, ``good_again`` the first after that which it passes
    on; None where there is none. Those that it did not run on say nothing.
    """

    releases: tuple[OnRelease, ...]
    first_bad: str | None
    good_again: str | None


def read(file: Path) -> Trace:
    """The trace in ``file``; an empty one where the worker wrote none.

    Raises:
        msgspec.DecodeError: a line other than the last is none of a trace's.
    """
    if not file.exists():
        return Trace()
    # The last line is whole only if it was ended: a worker may die while it writes.
    lines = file.read_bytes().split(b"\n")[:-1]
    steps: list[Step] = []
    running: list[Begun] = []
    before = after = None
    for line in lines:
        match msgspec.json.decode(line, type=Line):
            case Begun() as begun:
                running.append(begun)
                before = begun.text or before
            case Ended() as ended:
                began = running.pop()
                after = ended.text or after
                if ended.step:
                    steps.append(Step(began.path, began.name, ended.changed))
            case LeftOut():
                continue
    last = Step(running[-1].path, running[-1].name, True) if running else None
    return Trace(tuple(steps), last, before, after)
