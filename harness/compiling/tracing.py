"""A pass instrument: writes a trace (``harness.triage.bisection.trace``), leaves out passes."""

import os
from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import msgspec
import tvm
import tvm_ffi

from relaxcheck import fixes
from relaxcheck.fixes.tvm_api.functions import is_well_formed
from relaxcheck.harness.compiling import holding
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.triage.bisection.trace import (
    LeftOut,
    Line,
    PassBegun,
    PassEnded,
    Rewritable,
)

# TVM has no type information of its own.
Module = Any


@dataclass(slots=True)
class _Running:
    """A running pass: on the program, or ``aside``, on a module of its own.

    ``children`` counts the passes that it ran, by name; ``before`` is the state at its start.
    """

    name: str
    path: str
    aside: bool
    before: int
    children: Counter[str] = field(default_factory=Counter)
    program: bool = False


@tvm.instrument.pass_instrument
class Tracer:
    """Follows the state of the program, from pass to pass, by its structural hash.

    A pass inside another one runs on the program if it starts in the state that the last one left.
    A pass that has run such passes is a step of its own only if it ends in another state than the
    last of them. Not every change is a pass's: a module that became ill-formed between two passes
    is the fault of neither.
    """

    def __init__(self, tracing: Tracing) -> None:
        self.tracing = tracing
        # Unbuffered: all that was written is there, whatever ends this process. Truncated: a killed
        # worker may have left a trace of the same case.
        self.file = os.open(tracing.file, os.O_WRONLY | os.O_TRUNC | os.O_CREAT, 0o600)
        self.outermost = Counter[str]()
        self.running: list[_Running] = []
        self.state = 0
        self.formed = tracing.formed
        self.asked: int | None = None
        self.kept: Module | None = None
        self.left = set[str]()

    def exit_pass_ctx(self) -> None:
        """All passes are done."""
        os.close(self.file)

    def should_run(self, module: Module, info: Any) -> bool:
        """True if the pass has to run; TVM asks once for each pass, before it begins."""
        name = str(info.name)
        around = self.running[-1] if self.running else None
        now = int(tvm_ffi.structural_hash(module))
        aside = around is not None and (around.aside or now != self.state)
        if not aside:
            self.state = now
            self._is_formed(module)
        counted = around.children if around else self.outermost
        counted[name] += 1
        number = f"#{counted[name]}" if counted[name] > 1 else ""
        path = f"{around.path}/{name}{number}" if around else f"{name}{number}"
        if not aside:
            if path in self.tracing.without:
                self.left.add(name)
                self._write(LeftOut(path, name))
                return False
            if around is not None:
                around.program = True
            self._write(PassBegun(path, name, self._text(path, module)))
            if path in self.tracing.fixed:
                # The fixes compile something to see if they are needed: do not trace that.
                with tvm.transform.PassContext():
                    fixes.install()
        self.running.append(_Running(name, path, aside, now))
        return True

    def run_after_pass(self, module: Module, info: Any) -> None:
        """Record the end of the pass."""
        while (ended := self.running.pop()).name != str(info.name):
            # It raised, and the pass around it continued: FoldConstant may.
            if not ended.aside:
                self._write(PassEnded(step=False))
        if ended.aside:
            return
        if ended.path in self.tracing.fixed:
            fixes.uninstall()
        now = int(tvm_ffi.structural_hash(module))
        step = now != self.state or not ended.program
        self.state = now
        if ended.path == self.tracing.after:
            self.kept = module
        text = self._text(ended.path, module)
        breaks = self.formed and not self._is_formed(module)
        self._write(PassEnded(step, changed=now != ended.before, text=text, breaks=breaks))

    def holding(self) -> AbstractContextManager[None]:
        """Hold bindings back from the pass ``within``, while passes are made and run."""
        if not self.tracing.within:
            return nullcontext()
        name = self.tracing.within.rpartition("/")[2].partition("#")[0]
        return holding.wrapped(name, self._held)

    def _held(self, own: Any, module: Module) -> Module:
        if not self.running or self.running[-1].path != self.tracing.within:
            return own(module)
        self._write(Rewritable(holding.bindings(module)))
        return holding.applied(own, module, self.tracing.held) if self.tracing.held else own(module)

    def _is_formed(self, module: Module) -> bool:
        """True if the program has been well formed so far; asks TVM about each state once."""
        if self.formed and self.state != self.asked:
            self.asked = self.state
            self.formed = is_well_formed(module)
        return self.formed

    def _text(self, path: str, module: Module) -> str | None:
        return str(module.script(show_meta=False)) if path == self.tracing.show else None

    def _write(self, line: Line) -> None:
        os.write(self.file, msgspec.json.encode(line) + b"\n")
