"""An instrument that follows the passes of a compilation, and the calls that LegalizeOps left."""

from collections.abc import Callable, Set
from functools import cache
from typing import Any

import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.passes.left_calls import left_calls
from relaxcheck.harness.compiling.kernels import LAUNCHED, SPLIT, launches
from relaxcheck.harness.native.opencl import Launch

# TVM has no type information of its own.
Module = Any
Progress = Callable[[str], None]


def unlowered(module: Module) -> list[tuple[str, str]]:
    """The calls in ``module`` whose operator has a legalization: (operator, call as text).

    After LegalizeOps there must be none: an operator that registers ``FLegalize`` has no other way
    to executable code. Operators of the runtime (``call_tir``, ``memory.*``, ``vm.*``) have none.
    """
    return [(str(call.op.name), _printed(call)) for call in left_calls(module)]


def unknown_shape(module: Module) -> str:
    """The shape that is not known of the first call that ``unlowered`` lists: "" if all are."""
    for call in left_calls(module):
        if not all(map(_has_shape, call.args)):
            return "unknown shape of an argument"
        return "" if _has_shape(call) else "unknown shape of the result"
    return ""


def _has_shape(value: Any) -> bool:
    """True unless ``value`` is a tensor, or a shape, without dimensions."""
    if tvm_api.is_tensor(value):
        return tvm_api.has_shape(value)
    kind = tvm_api.type_of(value)
    return not isinstance(kind, relax.ShapeType) or kind.values is not None


def _printed(call: Any) -> str:
    # The printer puts a remark about constants before the call.
    return " ".join(line for line in str(call).splitlines() if not line.startswith("#"))


@tvm.instrument.pass_instrument
class Watch:
    """Follows the passes: the running one, and the calls that LegalizeOps left.

    ``lowered`` is the module that LegalizeOps returned, if it is kept, and ``scheduled`` the one
    with ``kernels`` before they are split off, whose ``launches`` are their signatures. Passes that
    are ``over`` do not run, ``ended`` are those that did. One instrument serves all programs, since
    TVM never frees an instrument, nor anything that it holds.
    """

    def __init__(self) -> None:
        self.begin(lambda stage: None, keeps=False)

    def begin(self, progress: Progress, *, keeps: bool, kernels: bool = False) -> None:
        """Follow the passes of another program, and forget the last one."""
        self.progress = progress
        self.keeps, self.kernels = keeps, kernels
        self.running: list[str] = []
        self.left: list[tuple[str, str]] = []
        self.unknown = ""
        self.lowered: Module | None = None
        self.scheduled: Module | None = None
        self.launches: dict[str, Launch] = {}
        self.ended: set[str] = set()
        self.over: Set[str] = frozenset()

    def should_run(self, module: Module, info: Any) -> bool:
        """False of a pass that a step before ``relax.build`` has run once for all."""
        return str(info.name) not in self.over

    def run_before_pass(self, module: Module, info: Any) -> None:
        """Report the pass that begins."""
        name = str(info.name)
        self.running.append(name)
        if self.kernels and name.endswith(SPLIT):
            self.scheduled = module
        self.progress(name)

    def run_after_pass(self, module: Module, info: Any) -> None:
        """Report the pass around the one that ended, and look at what LegalizeOps left."""
        # Passes that began after this one and did not end have failed, and a pass caught that.
        while self.running[-1] != str(info.name):
            self.running.pop()
        self.running.pop()
        self.ended.add(str(info.name))
        if self.kernels and str(info.name).endswith(LAUNCHED):
            self.launches.update(launches(module))
        if str(info.name) == "LegalizeOps" and not self.left:
            self.left = unlowered(module)
            self.unknown = unknown_shape(module) if self.left else ""
            self.lowered = module if self.keeps else None
        self.progress(self.running[-1] if self.running else "codegen")

    @property
    def stage(self) -> str:
        """The innermost running pass; code generation runs outside all passes.

        ``sequential`` and the unnamed pass around a pipeline do not count.
        """
        named = [name for name in self.running if name not in ("sequential", "_pipeline")]
        return named[-1] if named else "codegen"


@cache
def the_watch() -> Any:
    """The one instrument of this process."""
    return Watch()
