"""Compiling a Relax module to an executable that runs, in distinct stages.

Everything goes through plain ``relax.build``: a pass instrument reports the running pass, and keeps
the module that LegalizeOps returned, so that no list of passes is copied from any release.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.generators.core.values import Array, numpy_dtype
from relaxcheck.generators.targets import LLVM, TARGETS, Target
from relaxcheck.harness.compiling.direct import NotDirect, called
from relaxcheck.harness.compiling.extending.passes import own_passes
from relaxcheck.harness.compiling.judgement import SHAPE
from relaxcheck.harness.compiling.kernels import RefusedKernel, checked, launched, threads
from relaxcheck.harness.compiling.late_linking import (
    Left,
    hand_over,
    leaving_code,
    link_together,
    named,
)
from relaxcheck.harness.compiling.passes.stages import OwnFault, StageError, staged, stepped
from relaxcheck.harness.compiling.room import Roomy, placed
from relaxcheck.harness.compiling.tracing import Tracer
from relaxcheck.harness.compiling.watching import Module, Progress, the_watch
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.native.c_code import RefusedCode, with_compiled_c
from relaxcheck.harness.native.devices import device, end_process, is_lost
from relaxcheck.harness.native.link import LinkError, host_alone, linked
from relaxcheck.harness.native.memory import USUAL, filled
from relaxcheck.harness.native.opencl import Kernels
from relaxcheck.harness.native.stack import on_filled_stack
from relaxcheck.harness.native.target import target


@dataclass(frozen=True, slots=True)
class Compiled:
    """An executable, the name of its main function, and the native code left for later, if any.

    ``direct``: the module that LegalizeOps returned, to run in place of the executable.
    ``results``: the positions of its outputs where it returns a target and its gradients.
    ``opt_level`` is that of the native code, ``device`` the device that runs the kernels, if any.
    ``checked`` says how kernels without a device were checked, ``kernels`` are those that are run
    all the same.
    """

    executable: tvm.runtime.Executable
    main: str = "main"
    left: Left | None = None
    direct: Module | None = None
    results: tuple[int, ...] = ()
    opt_level: int = 0
    device: Any = None
    checked: str = ""
    kernels: Kernels | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to compile a module.

    ``steps`` run on it before ``relax.build``, which then runs the default pipeline of a CPU, or
    the one of the target, where it is ``fused``, or that of the user's function ``own``.
    ``with_fixes``: the first two with the passes of the fixes. ``results`` are the positions of the
    outputs where it returns a target and its gradients. ``target`` is another one than that of the
    ``opt_level`` and the name ``kind``. ``once`` are passes that ``relax.build`` leaves out where a
    step has run them. ``context`` are arguments of TVM's ``PassContext``.
    """

    opt_level: int = 0
    exec_mode: str = "bytecode"
    steps: tuple[Callable[[Module], Module], ...] = ()
    fused: bool = False
    with_fixes: bool = False
    results: tuple[int, ...] = ()
    target: tvm.target.Target | None = None
    kind: str = LLVM
    once: frozenset[str] = frozenset()
    context: Mapping[str, Any] = field(default_factory=dict)
    own: str = ""


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
    where = recipe.target or target(recipe.opt_level, recipe.kind)
    known = TARGETS[recipe.kind]
    the_watch().begin(progress, keeps=tracing is not None and tracing.direct, kernels=known.kernels)
    compiled = _compiled(module, recipe, where, late, tracing)
    return _for_device(compiled, known, where) if known.kernels else compiled


def applied(module: Module, recipe: Recipe, progress: Progress) -> Module:
    """``module`` after the steps of ``recipe``, which end there: nothing is compiled.

    Raises:
        StageError, SilentBail: as ``build``.
    """
    where = recipe.target or target(recipe.opt_level, recipe.kind)
    watch = the_watch()
    watch.begin(progress, keeps=False, kernels=False)
    with staged(recipe.context, [watch], nullcontext()) as logged:
        return stepped(module, recipe.steps, where, logged)


def _compiled(
    module: Module,
    recipe: Recipe,
    where: tvm.target.Target,
    late: str | None,
    tracing: Tracing | None,
) -> Compiled:
    watch = the_watch()
    if late is not None:
        module = named(module, late)
    tracer = None if tracing is None else Tracer(tracing)
    instruments = [watch] if tracer is None else [watch, tracer]
    held = nullcontext() if tracer is None else tracer.holding()
    with staged(recipe.context, instruments, held) as logged:
        module = stepped(module, recipe.steps, where, logged)
        # One that was left out is not to run later either.
        ran = watch.ended if tracer is None else watch.ended | tracer.left
        watch.over = ran & recipe.once
        passes = _passes(recipe, where)
        finished = partial(relax.build, module, where, exec_mode=recipe.exec_mode)
        if late is None:
            return Compiled(
                finished(relax_pipeline=passes),
                direct=watch.lowered if tracer is None else tracer.kept or watch.lowered,
                results=recipe.results,
                opt_level=recipe.opt_level,
            )
        if passes == "default":
            # The default of relax.build on a CPU.
            passes = relax.get_pipeline("default")
        with leaving_code(where) as left:
            executable = finished(relax_pipeline=hand_over(passes, late))
        return Compiled(executable, late + "main", left, results=recipe.results)


def _for_device(compiled: Compiled, known: Target, where: tvm.target.Target) -> Compiled:
    """``compiled`` with the device that runs its kernels; without one they are checked."""
    used = device(known.device)
    if used is not None:
        return replace(compiled, device=used)
    scheduled = the_watch().scheduled
    blocks = {} if scheduled is None else threads(scheduled)
    try:
        sources = checked(compiled.executable, known, where, blocks)
        kernels, words = launched(sources, known, the_watch().launches)
        if kernels is not None:
            host_alone(compiled.executable.mod)
        return replace(compiled, kernels=kernels, checked=words)
    except RefusedKernel as error:
        raise StageError("codegen", error) from error


def _passes(recipe: Recipe, where: tvm.target.Target) -> Any:
    """The pipeline to give to ``relax.build``."""
    if recipe.own:
        return own_passes(recipe.own, where)
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
            executable = with_compiled_c(compiled.executable, compiled.opt_level)
            if cheaply and compiled.device is None:
                # The code of a device is a module of its own, which the linker would leave out.
                executable = linked(executable)
            function = _machine(executable, compiled.device)[compiled.main]
            if compiled.device is not None:
                function = partial(_on_device, function, compiled.device)
            if compiled.kernels is not None:
                function = partial(_launching, function, compiled.kernels)
    except LinkError:
        raise
    except RefusedCode as error:
        raise StageError("codegen", error) from error
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


def _on_device(function: Callable[..., Any], used: Any, *arguments: Any) -> Any:
    """The result of ``function`` on the device ``used``, where tensors are copied to.

    A process whose device is lost ends: nothing that runs in it afterwards means anything.
    """
    try:
        result = function(*(_copied(argument, used) for argument in arguments))
        used.sync()
        return result
    except Exception as error:
        if is_lost(used):
            end_process(error)
        raise


def _launching(function: Callable[..., Any], kernels: Kernels, *arguments: Any) -> Any:
    with kernels.registered():
        try:
            return function(*arguments)
        except Exception as error:
            if kernels.faults:
                raise OwnFault(f"launching a kernel: {kernels.faults.pop()}") from error
            raise


def _copied(argument: Any, used: Any) -> Any:
    if not hasattr(argument, "copyto"):
        return argument
    return argument.copyto(tvm.runtime.empty(argument.shape, argument.dtype, used))


def _machine(executable: tvm.runtime.Executable, used: Any = None) -> Any:
    devices = tvm.cpu() if used is None else [used, tvm.cpu()]
    return relax.VirtualMachine(executable, devices, memory_cfg="naive")


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
        OwnFault: a kernel could not be launched for a fault of ours.
    """
    try:
        result = called_on(main, arguments, fresh)
        single = isinstance(result, int | tvm.runtime.ShapeTuple) or hasattr(result, "numpy")
        return tuple(map(_array, [result] if single else result))
    except (NotDirect, OwnFault):
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
    """``output`` as an array; a scalar is an int64, whatever its type in the module.

    A shape is an array of its sizes with the dtype ``SHAPE``.
    """
    if isinstance(output, int):
        return np.array(output, np.int64)
    if isinstance(output, tvm.runtime.ShapeTuple):
        return np.array(list(output), np.int64).view(SHAPE)
    array: Array = output.numpy()
    # TVM hands out a tensor of int4 as an array of int8. A result need not be TVM's.
    packed = isinstance(output, tvm.runtime.Tensor) and str(output.dtype) == "int4"
    return array.astype(numpy_dtype("int4")) if packed else array


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
