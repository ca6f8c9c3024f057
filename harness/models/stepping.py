"""Every step of a model on the framework's operands, in one program and one run."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.shapes import name_of
from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.watching import Progress
from relaxcheck.harness.models.compiling import Way, compiled, run
from relaxcheck.harness.models.converting import (
    DTYPE,
    SHAPE,
    VALUE,
    Converted,
    Wrong,
    converted,
    sizes_of,
)
from relaxcheck.harness.models.forcing import Part, bindings, forced
from relaxcheck.harness.models.imported import Imported, Step
from relaxcheck.harness.models.judging import STEP_LIMIT, measured
from relaxcheck.harness.models.sources import Source
from relaxcheck.harness.models.values import Values


@dataclass(frozen=True, slots=True)
class Stepped:
    """The nodes that are ``wrong``, and the ``ratios`` of the right ones.

    Those of another shape or dtype come first, in the order of the framework's graph: what is
    behind them may only follow. The others are the worst first. ``borders`` are the variables that
    can be forced. ``behind`` counts the steps of which nothing is known, as they use the result of
    a wrong one. ``special`` says where NaN or infinity first arises.
    """

    wrong: tuple[Wrong, ...]
    borders: frozenset[str]
    checked: int
    ratios: tuple[float, ...] = ()
    special: str = ""
    behind: int = 0


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


def setting(source: Source, imported: Imported, arrays: Sequence[Array]) -> Setting:
    """The model ``source`` at the run on the user's inputs ``arrays``."""
    names = [each.name for each in imported.steps]
    names += [each.step.name for each in imported.conversions if each.type is not None]
    values = source.steps(arrays, list(dict.fromkeys(names)))
    return Setting(imported, arguments(imported, arrays), values)


def stepped(setting: Setting, way: Way, progress: Progress = lambda stage: None) -> Stepped:
    """Run every step of the model on the framework's operands, and measure it.

    A node that is wrong as soon as it is imported is not run, nor are those that use its result.

    Raises:
        StageError: TVM raised.
        SilentBail: LegalizeOps left a high-level call behind.
    """
    steps = [step for step in setting.imported.steps if step.name in setting.values.own]
    judged = contradictions(setting)
    wrong = list(judged.wrong)
    borders = frozenset(s.variable for s in steps if s.variable not in judged.variables)
    unknown = {step.variable for step in steps if step.name in judged.behind}
    results: dict[str, Array] = {}
    if outputs := tuple(s.variable for s in steps if s.variable in borders - unknown):
        part = forced(setting.imported.module, borders, only=outputs)
        results = dict(zip(outputs, ran(part, setting, way, progress), strict=True))
    special, ratios = "", []
    for step in steps:
        if step.variable not in results:
            continue
        own = setting.values.own[step.name]
        each = measured(results[step.variable], own, setting.values.double.get(step.name))
        if each.ratio > STEP_LIMIT:
            wrong.append(Wrong(step, each, _differs(results[step.variable], own)))
        else:
            ratios.append(each.ratio)
        special = special or _special(step, results[step.variable], own)
    return Stepped(
        tuple(_ordered(wrong, setting)),
        borders,
        len(results),
        tuple(ratios),
        special,
        len(borders & unknown),
    )


def contradictions(setting: Setting) -> Converted:
    """The nodes of the model that are wrong as soon as they are imported."""
    imported = setting.imported
    types = {name_of(each.var): tvm_api.type_of(each.var) for each in bindings(imported.module)}
    parameters = imported.module["main"].params
    return converted(
        imported.conversions,
        setting.values,
        setting.held(),
        types=types,
        owners={step.variable: step.name for step in imported.steps},
        sizes=sizes_of(
            [(tvm_api.type_of(each), setting.arguments[name_of(each)]) for each in parameters]
        ),
    )


def _differs(result: Array, own: Array) -> str:
    if result.shape != own.shape:
        return SHAPE
    return DTYPE if result.dtype != own.dtype else VALUE


def _ordered(wrong: list[Wrong], setting: Setting) -> list[Wrong]:
    order = {each.step.name: n for n, each in enumerate(setting.imported.conversions)}

    def key(each: Wrong) -> tuple[bool, float, int]:
        place = order.get(each.step.name, 0)
        is_value = each.differs == VALUE
        return is_value, -each.measured.ratio if is_value else 0.0, place

    return sorted(wrong, key=key)


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
