"""The steps around a piece of a model, for a picture."""

from collections.abc import Collection

from relaxcheck.fixes import tvm_api
from relaxcheck.harness.models.explaining.uses import made, used
from relaxcheck.harness.models.imported import Imported
from relaxcheck.harness.models.report import Near

_STEPS = 2
"""Steps of distance from the piece that are shown."""

_MOST = 24
"""The number of steps that are shown."""


def around(imported: Imported, piece: Collection[str]) -> tuple[Near, ...]:
    """The steps at most two away from the steps ``piece``, by name, in the program's order."""
    steps = imported.borders()
    every = made(imported.module)
    operands: dict[str, tuple[str, ...]] = {}
    through: dict[str, tuple[str, ...]] = {}
    for variable, binding in every.items():
        reached: list[str] = []
        for name in used(binding.value):
            # A binding that is no step passes on what it uses.
            reached += [name] if name in steps or name not in every else through[name]
        through[variable] = tuple(dict.fromkeys(reached))
        if variable in steps:
            operands[variable] = through[variable]
    chosen = {step.variable for step in imported.steps if step.name in piece}
    for _ in range(_STEPS):
        before = {each for name in chosen for each in operands.get(name, ()) if each in steps}
        behind = {name for name, uses in operands.items() if chosen.intersection(uses)}
        if len(chosen | before | behind) > _MOST:
            break
        chosen |= before | behind
    names = {variable: step.name for variable, step in steps.items()}
    return tuple(
        Near(
            step.name,
            step.operator,
            tuple(names.get(each, each) for each in operands[step.variable]),
            tvm_api.show_type(tvm_api.type_of(every[step.variable].var)),
            step.name in piece,
        )
        for step in imported.steps
        if step.variable in chosen
    )
