"""Compiling a Relax module to an executable that runs, in distinct stages.

Everything goes through plain ``relax.build``: a pass instrument reports the running pass, and keeps
the module that LegalizeOps returned, so that no list of passes is copied from any release.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.passes.left_calls import left_calls
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.direct import NotDirect, called
from relaxcheck.harness.compiling.late_linking import (
    Left,
    hand_over,
    leaving_code,
    link_together,
    named,
)
from relaxcheck.harness.compiling.legalization_log import collected
from relaxcheck.harness.compiling.room import Roomy, placed
from relaxcheck.harness.compiling.tracing import Tracer
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.native.link import LinkError, linked
from relaxcheck.harness.native.memory import USUAL, filled
from relaxcheck.harness.native.stack import on_filled_stack
from relaxcheck.harness.native.target import target
from relaxcheck.harness.outcomes.errors import disowns, error_text
from relaxcheck.harness.outcomes.sources import SourceLine

# TVM has no type information of its own.
Module = Any
Progress = Callable[[str], None]


@dataclass(slots=True)
class StageError(Exception):
    """An exception of TVM's, and its stage: a pass's name, or ``codegen``."""

    stage: str
    cause: BaseException


@dataclass(slots=True)
class SilentBail(Exception):
    """LegalizeOps left ``calls``, high-level operator calls, without an error.

    ``logged`` are the messages of legalizations until then, and their lines. ``symptom`` is the
    error in which ``relax.build`` then ends, as a user sees it; None where it was not run.
    ``unknown`` says which shape of the first call is not known, if one is not.
    """

    stage: str
    operators: tuple[str, ...]
    calls: tuple[str, ...]
    logged: Mapping[str, SourceLine | None]
    symptom: BaseException | None = None
    unknown: str = ""


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
class _Watch:
    """Follows the passes: the running one, and the calls that LegalizeOps left.

    ``lowered`` is the module that LegalizeOps returned, if it is kept. One instrument serves all
    programs, since TVM never frees an instrument, nor anything that it holds.
    """

    def __init__(self) -> None:
        self.begin(lambda stage: None, keeps=False)

    def begin(self, progress: Progress, *, keeps: bool) -> None:
        """Follow the passes of another program, and forget the last one."""
        self.progress = progress
        self.keeps = keeps
        self.running: list[str] = []
        self.left: list[tuple[str, str]] = []
        self.unknown = ""
        self.lowered: Module | None = None

    def run_before_pass(self, module: Module, info: Any) -> None:
        name = str(info.name)
        self.running.append(name)
        self.progress(name)

    def run_after_pass(self, module: Module, info: Any) -> None:
        # Passes that began after this one and did not end have failed, and a pass caught that.
        while self.running[-1] != str(info.name):
            self.running.pop()
        self.running.pop()
        if str(info.name) == "LegalizeOps" and not self.left:
            self.left = unlowered(module)
            self.unknown = unknown_shape(module)
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
def _watch() -> Any:
    return _Watch()


@dataclass(frozen=True, slots=True)
class Compiled:
    """An executable, the name of its main function, and the native code left for later, if any.

    ``direct``: the module that LegalizeOps returned, to run in place of the executable.
    ``results``: the positions of its outputs where it returns a target and its gradients.
    """

    executable: tvm.runtime.Executable
    main: str = "main"
    left: Left | None = None
    direct: Module | None = None
    results: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to compile a module.

    ``steps`` run on it before ``relax.build``, which then runs the default pipeline of a CPU, or
    the one of the target, where it is ``fused``. ``with_fixes``: those with the passes of the
    fixes. ``results`` are the positions of the outputs where it returns a target and its gradients.
    ``target`` is another one than that of the ``opt_level``.
    """

    opt_level: int = 0
    exec_mode: str = "bytecode"
    steps: tuple[Callable[[Module], Module], ...] = ()
    fused: bool = False
    with_fixes: bool = False
    results: tuple[int, ...] = ()
    target: tvm.target.Target | None = None


def build(
    module: Module,
    recipe: Recipe,
    progress: Progress,
    *,
    late: str | None = None,
    tracing: Tracing | None = None,
) -> Compiled:
    """Compile ``module`` as ``recipe`` says.

    ``progress`` gets the name of each stage as it begins. With ``late``, native code is left for
    ``link``, to be generated with that of other modules of other names. ``tracing`` says what to
    record, and which passes to leave out.

    Raises:
        StageError: TVM raised.
        SilentBail: LegalizeOps left a high-level call behind.
    """
    where = recipe.target or target(recipe.opt_level)
    watch = _watch()
    watch.begin(progress, keeps=tracing is not None and tracing.direct)
    if late is not None:
        module = named(module, late)
    instruments = [watch] if tracing is None else [watch, Tracer(tracing)]
    logged: dict[str, SourceLine | None] = {}
    try:
        with tvm.transform.PassContext(instruments=instruments), collected() as logged:
            for step in recipe.steps:
                with where:
                    module = step(module)
                _raise_if_left(watch, logged)
            passes = _passes(recipe, where)
            if late is None:
                return Compiled(
                    relax.build(module, where, relax_pipeline=passes, exec_mode=recipe.exec_mode),
                    direct=watch.lowered,
                    results=recipe.results,
                )
            if passes == "default":
                # The default of relax.build on a CPU.
                passes = relax.get_pipeline("default")
            with leaving_code(where) as left:
                passes = hand_over(passes, late)
                executable = relax.build(
                    module, where, relax_pipeline=passes, exec_mode=recipe.exec_mode
                )
            return Compiled(executable, late + "main", left, results=recipe.results)
    except SilentBail:
        raise
    except Exception as error:
        # Code generation dies of a call that LegalizeOps left: report the cause, not the symptom,
        # unless the error is clear about it.
        if not any(disowns(error_text(error), operator) for operator, _ in watch.left):
            _raise_if_left(watch, logged, error)
        raise StageError(watch.stage, error) from error


def _passes(recipe: Recipe, where: tvm.target.Target) -> Any:
    """The pipeline to give to ``relax.build``."""
    if recipe.with_fixes:
        return fixes.pipeline(where if recipe.fused else None)
    return relax.get_default_pipeline(where) if recipe.fused else "default"


def link(compiled: Sequence[Compiled]) -> frozenset[int]:
    """Generate the native code that each of ``compiled`` left, all at once.

    Where that fails, halves are tried. Returns the numbers of those that fail alone.

    Raises:
        LinkError: the linker failed, which is no fault of any program's.
    """
    try:
        link_together(
            [(member.executable, member.left) for member in compiled if member.left is not None]
        )
    except LinkError:
        raise
    except Exception:
        # TVM's error is of one program: compiled alone, it says what it is about.
        if len(compiled) == 1:
            return frozenset({0})
        half = len(compiled) // 2
        second = link(compiled[half:])
        return link(compiled[:half]) | {half + number for number in second}
    return frozenset()


def load(compiled: Compiled, *, cheaply: bool = False) -> Callable[..., Any]:
    """The compiled module's ``main``, its native code ``cheaply`` through an object file.

    Each tensor is allocated when it is made, so that memory can be ``filled``.

    Raises:
        StageError: TVM raised; the stage is ``load``.
        LinkError: native code could not be linked, which need not be TVM's fault.
    """
    try:
        if compiled.direct is not None:
            function = called(compiled.direct, target(0))
        else:
            executable = linked(compiled.executable) if cheaply else compiled.executable
            function = _machine(executable)[compiled.main]
    except LinkError:
        raise
    except Exception as error:
        raise StageError("load", error) from error
    return partial(_chosen, function, compiled.results) if compiled.results else function


def _chosen(
    adjoint: Callable[..., Any], results: Sequence[int], *arguments: Any
) -> tuple[Any, ...]:
    """The ``results`` of a function that returns a target, and a tuple of its gradients."""
    value, made = adjoint(*arguments)
    every = (value, *made)
    return tuple(every[at] for at in results)


def _machine(executable: tvm.runtime.Executable) -> Any:
    return relax.VirtualMachine(executable, tvm.cpu(), memory_cfg="naive")


Argument = Array | int | tuple[int, ...]
"""A tensor, a scalar or a shape."""


def run(
    main: Callable[..., Any], arguments: Sequence[Argument], fresh: int = USUAL
) -> tuple[Array, ...]:
    """Call the compiled ``main`` on ``arguments``, where fresh memory holds the byte ``fresh``.

    So does the memory beside each tensor among them.

    Raises:
        StageError: TVM raised, or wrote beside a tensor; the stage is ``run``.
        NotDirect: the program cannot be run without the passes after LegalizeOps.
    """
    try:
        result = called_on(main, arguments, fresh)
        single = isinstance(result, int) or hasattr(result, "numpy")
        return tuple(map(_array, [result] if single else result))
    except NotDirect:
        raise
    except Exception as error:
        raise StageError("run", error) from error


def called_on(main: Callable[..., Any], arguments: Sequence[Argument], fresh: int) -> Any:
    """The values that ``main`` returns for ``arguments``, as TVM returns them; as ``run``.

    Raises:
        OutOfBounds: it wrote beside an argument.
        Exception: any that TVM raises.
    """
    rooms = [_argument(argument, fresh) for argument in arguments]
    passed = [each.tensor if isinstance(each, Roomy) else each for each in rooms]
    with filled(fresh):
        result = main(*passed)
    for each in rooms:
        if isinstance(each, Roomy):
            each.check("main")
    return result


def run_on_filled_stack(
    main: Callable[..., Any], arguments: Sequence[Argument], fresh: int = USUAL
) -> tuple[Array, ...]:
    """As ``run``, where the stack and the pool of workspaces hold the byte ``fresh``, too."""
    return on_filled_stack(fresh, partial(run, main, arguments, fresh))


def _array(output: Any) -> Array:
    """``output`` as an array; a scalar is an int64, whatever its type in the module."""
    array: Array = np.array(output, np.int64) if isinstance(output, int) else output.numpy()
    return array


def _argument(argument: Argument, fresh: int) -> Any:
    """``argument`` as TVM takes it; a tensor in a room that holds the byte ``fresh``."""
    match argument:
        case int():
            return argument
        case tuple():
            return tvm.runtime.ShapeTuple(argument)
    # TVM packs elements that are smaller than a byte in ways of its own.
    packed = tvm.DataType(argument.dtype.name).bits < 8 * argument.itemsize
    return tvm.runtime.tensor(argument) if packed else placed(argument, fresh)


def _raise_if_left(
    watch: Any, logged: Mapping[str, SourceLine | None], symptom: BaseException | None = None
) -> None:
    if watch.left:
        operators, calls = zip(*watch.left, strict=True)
        raise SilentBail("LegalizeOps", operators, calls, dict(logged), symptom, watch.unknown)
