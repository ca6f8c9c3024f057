"""Every step of a model on the framework's operands, in one program and one run."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.shapes import dims_of, name_of, substitute, symbols_of
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.building import Progress
from relaxcheck.harness.models.compiling import Way, compiled, run
from relaxcheck.harness.models.forcing import Part, bindings, forced, operands
from relaxcheck.harness.models.imported import Imported, Step
from relaxcheck.harness.models.judging import STEP_LIMIT, Measured, kind, measured
from relaxcheck.harness.models.values import Values

_INFINITE = float("inf")


@dataclass(frozen=True, slots=True)
class Wrong:
    """A step that is wrong on the framework's operands."""

    step: Step
    measured: Measured


@dataclass(frozen=True, slots=True)
class Stepped:
    """The steps that are ``wrong``, the worst first, and the ``ratios`` of the right ones.

    ``borders`` are the variables that can be forced. ``special`` says where NaN or infinity first
    arises.
    """

    wrong: tuple[Wrong, ...]
    borders: frozenset[str]
    checked: int
    ratios: tuple[float, ...] = ()
    special: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """An imported model at one run: the arguments of ``main`` by name, and the steps' values."""

    imported: Imported
    arguments: Mapping[str, Array]
    values: Values

    def held(self) -> dict[str, Array]:
        """The values of parameters and of the steps' variables, by the variable's name."""
        own = self.values.own
        return dict(self.arguments) | {
            step.variable: own[step.name] for step in self.imported.steps if step.name in own
        }


def arguments(imported: Imported, arrays: Collection[Array]) -> dict[str, Array]:
    """The arguments of ``main`` by parameter; ``arrays`` are the user's inputs."""
    names = [name_of(each) for each in imported.module["main"].params]
    every = [*arrays, *imported.parameters.values()]
    return dict(zip(names, every, strict=True))


def stepped(setting: Setting, way: Way, progress: Progress = lambda stage: None) -> Stepped:
    """Run every step of the model on the framework's operands, and measure it.

    A step whose static type contradicts the framework's value is wrong, and is not forced; steps
    that only follow from such a step are not listed.

    Raises:
        StageError: TVM raised.
        SilentBail: LegalizeOps left a high-level call behind.
    """
    steps = [step for step in setting.imported.steps if step.name in setting.values.own]
    contradicting = dict(_contradicting(setting, steps))
    follows = _following(setting, contradicting)
    wrong = [
        Wrong(step, Measured(_INFINITE, difference=contradicting[step.variable]))
        for step in steps
        if step.variable in contradicting and step.variable not in follows
    ]
    borders = frozenset(
        step.variable
        for step in steps
        if step.variable not in contradicting and step.variable not in follows
    )
    part = forced(setting.imported.module, borders)
    results = dict(zip(part.outputs, ran(part, setting, way, progress), strict=True))
    special, ratios = "", []
    for step in steps:
        if step.variable not in results:
            continue
        own = setting.values.own[step.name]
        each = measured(results[step.variable], own, setting.values.double.get(step.name))
        if each.ratio > STEP_LIMIT:
            wrong.append(Wrong(step, each))
        else:
            ratios.append(each.ratio)
        special = special or _special(step, results[step.variable], own)
    wrong.sort(key=lambda each: -each.measured.ratio)
    return Stepped(tuple(wrong), borders, len(results), tuple(ratios), special)


def ran(
    part: Part, setting: Setting, way: Way, progress: Progress = lambda stage: None
) -> list[Array]:
    """The outputs of ``part`` on the framework's values.

    Raises:
        StageError: TVM raised.
        SilentBail: LegalizeOps left a high-level call behind.
    """
    main = compiled(part.module, way, progress)
    progress("run")
    held = setting.held()
    return run(main, [held[name] for name in part.inputs])


def _special(step: Step, result: Array, own: Array) -> str:
    """A sentence, where a value that is no number arises; masks hold infinities on purpose."""
    if own.dtype.kind != "f" or result.shape != own.shape:
        return ""
    if np.isnan(own).any():
        return f"NaN first arises in {step.name} ({step.operator}), in the framework too"
    if np.isfinite(own).all() and not np.isfinite(result).all():
        kind = "NaN" if np.isnan(result).any() else "infinity"
        return f"{kind} first arises in {step.name} ({step.operator}), in TVM alone"
    return ""


def _contradicting(setting: Setting, steps: list[Step]) -> Iterator[tuple[str, str]]:
    """The variables whose static type the framework's value contradicts, and in which way."""
    module = setting.imported.module
    made = {name_of(each.var): each.var for each in bindings(module)}
    sizes: dict[Any, Any] = {}
    for parameter in module["main"].params:
        _fits(tvm_api.type_of(parameter), setting.arguments[name_of(parameter)].shape, sizes)
    for step in steps:
        own = setting.values.own[step.name]
        type_ = tvm_api.type_of(made[step.variable])
        dtype = tvm_api.dtype_of(type_)
        rank_fits = int(type_.ndim) in (-1, own.ndim)
        fits = rank_fits and (not dtype or dtype == str(own.dtype))
        if not fits or not _fits(type_, own.shape, sizes):
            at = ", ".join(f"{name_of(symbol)} = {size}" for symbol, size in sizes.items())
            text = f"{tvm_api.show_type(type_)} instead of {kind(own)}"
            yield step.variable, f"{text} at {at}" if at and symbols_of(type_) else text


def _fits(type_: Any, shape: tuple[int, ...], sizes: dict[Any, Any]) -> bool:
    """True unless ``shape`` contradicts ``type_``; puts the sizes of new symbols into ``sizes``."""
    dims = dims_of(type_)
    if dims is None:
        return True
    if len(dims) != len(shape):
        return False
    for dim, size in zip(dims, shape, strict=True):
        if tvm_api.is_variable(dim) and dim not in sizes:
            sizes[dim] = tvm_api.integer(size)
            continue
        known = tvm_api.as_int(substitute(dim, sizes)) if _is_symbolic(dim) else tvm_api.as_int(dim)
        if known is not None and known != size:
            return False
    return True


def _is_symbolic(dim: Any) -> bool:
    """True if ``dim`` is symbolic."""
    return tvm_api.as_int(dim) is None


def _following(setting: Setting, contradicting: Mapping[str, str]) -> set[str]:
    """The steps with an operand, not forced, that a contradicting step makes wrong."""
    if not contradicting:
        return set()
    steps = {step.variable for step in setting.imported.steps}
    tainted: set[str] = set()
    follows: set[str] = set()
    for name, used in operands(setting.imported.module).items():
        if any(each in tainted for each in used):
            if name not in steps:
                tainted.add(name)
            elif name in contradicting:
                tainted.add(name)
                follows.add(name)
        if name in contradicting:
            tainted.add(name)
    return follows
