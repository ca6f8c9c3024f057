"""Compile Relax modules, in child processes where TVM may die, and say how that fails."""

import os
import resource
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

import msgspec

from relaxcheck.harness.compiling.legalization_log import reason
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.models.compiling import Way, compiled
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.outcomes.appearance import place_of
from relaxcheck.harness.outcomes.errors import error_text, headline, normalise
from relaxcheck.harness.outcomes.outcome import Verdict

T = TypeVar("T")

# TVM has no type information of its own.
Module = Any
AndThen = Callable[[Module], Fault | None] | None

SECONDS = 60.0
"""Time limit of a child in seconds."""

_LENGTH = 2000
_SHORT = 300
_ANSWER, _RAISED = b"A", b"R"
_SIGNALS = (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)


def fault_of(module: Module, way: Way, progress: Callable[[str], None]) -> Fault | None:
    """The fault in which ``module`` ends when it is compiled in the ``way``; None if it compiles.

    ``progress`` gets the name of each stage. It compiles in this process, which TVM may kill.
    """
    try:
        compiled(module, way, progress)
    except SilentBail as bail:
        return left(bail)
    except StageError as error:
        return raised(error.stage, error.cause)
    return None


def telling(error: StageError | SilentBail) -> str:
    """The telling line of an error."""
    if isinstance(error, SilentBail):
        return f"left after {error.stage}: {'; '.join(error.calls)}"[:_SHORT]
    return headline(error_text(error.cause))[:_SHORT]


def raised(stage: str, error: BaseException) -> Fault:
    """The fault that TVM's exception ``error`` in ``stage`` is."""
    text = error_text(error)
    line = headline(text)[:_LENGTH]
    return Fault(Verdict.OPAQUE_CRASH, stage, line, normalise(text), place_of(error))


def left(bail: SilentBail) -> Fault:
    """The fault that LegalizeOps leaves calls without an error."""
    operators = tuple(dict.fromkeys(bail.operators))
    logged = reason(operators[0], bail.logged)
    why = f": {logged}" if logged else f": {bail.unknown}" if bail.unknown else ""
    message = f"LegalizeOps leaves {operators[0]} without an error{why}"
    call = " ".join(bail.calls[0].split())[: _LENGTH // 4]
    folded = normalise(f"{operators[0]}{why}")
    return Fault(
        *(Verdict.SILENT_BAIL, bail.stage, f"{message}; left is {call}", folded),
        operators=operators,
    )


def isolated_fault_of(
    module: Module, way: Way, seconds: float = SECONDS, and_then: AndThen = None
) -> Fault | None:
    """As ``fault_of``, in a child process that may die, or take longer than ``seconds``.

    ``and_then(module)`` runs the module besides, in the same child, and returns its own fault.
    """

    def question(progress: Callable[[str], None]) -> Fault | None:
        fault = fault_of(module, way, progress)
        if fault is None and and_then is not None:
            progress("run")
            return and_then(module)
        return fault

    return in_child(question, seconds)


class Died(Exception):
    """A child process gave no answer; ``fault`` says how it ended."""

    def __init__(self, fault: Fault):
        super().__init__(fault.message)
        self.fault = fault


def in_child(
    question: Callable[[Callable[[str], None]], Fault | None], seconds: float
) -> Fault | None:
    """The answer of ``question`` in a child process; the fault of the child where it dies.

    Raises:
        RuntimeError: the question raised, which is an error of ours.
    """
    try:
        return asked(question, seconds, Fault | None)  # type: ignore[arg-type]
    except Died as death:
        return death.fault


def asked(question: Callable[[Callable[[str], None]], T], seconds: float, kind: type[T]) -> T:
    """The answer of ``question``, of the type ``kind``, in a forked child.

    The question says its stages to the function that it is called with.

    Raises:
        Died: the child died, or gave no answer within ``seconds``.
        RuntimeError: the question raised, which is an error of ours.
    """
    answers, answer = os.pipe()
    stages, stage = os.pipe()
    child = os.fork()
    if not child:
        os.close(answers)
        os.close(stages)
        _answer(question, answer, stage, seconds)
    os.close(answer)
    os.close(stage)
    try:
        heard, last = _hear(answers, stages, time.monotonic() + seconds)
    finally:
        os.close(answers)
        os.close(stages)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if heard is None:
        message = f"no answer within {seconds:g} s in {last}"
        raise Died(Fault(Verdict.TIMEOUT, last, message, "no answer"))
    if heard.startswith(_ANSWER):
        return msgspec.json.decode(heard[1:], type=kind)
    if heard.startswith(_RAISED):
        raise RuntimeError(heard[1:].decode(errors="replace"))
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    message = f"the process ended with {name} in {last}"
    raise Died(Fault(Verdict.PROCESS_DEATH, last, message, "the process ended", signal=name))


def _hear(answers: int, stages: int, end: float) -> tuple[bytes | None, str]:
    """Everything written to ``answers``, None if that is not over by ``end``; the last stage."""
    heard, said = bytearray(), bytearray()
    over = False
    while not over:
        left = end - time.monotonic()
        ready, _, _ = select.select([answers, stages], [], [], max(left, 0))
        if not ready:
            return None, _last(said)
        if stages in ready:
            said += os.read(stages, 1 << 16)
        if answers in ready:
            chunk = os.read(answers, 1 << 16)
            heard += chunk
            over = not chunk
    return bytes(heard), _last(said)


def _last(said: bytearray) -> str:
    lines = said.decode(errors="replace").split("\n")
    return lines[-2] if len(lines) > 1 else "start"


def _answer(
    question: Callable[[Callable[[str], None]], object],
    answer: int,
    stage: int,
    seconds: float,
) -> NoReturn:
    try:
        for number in _SIGNALS:
            # A handler would write a stack trace to our standard error.
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # The parent may be gone by then.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(seconds) + 5)

        def progress(name: str) -> None:
            os.write(stage, f"{name}\n".encode())

        try:
            text = _ANSWER + msgspec.json.encode(question(progress))
        except Exception as error:
            text = _RAISED + " ".join(error_text(error).split()).encode()
        view = memoryview(text)
        while view:
            view = view[os.write(answer, view) :]
    finally:
        os._exit(0)
