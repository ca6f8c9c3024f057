"""Maps our definitions to places in TVM's own sources, by the recipes of the fixes."""

from collections.abc import Callable, Collection, Iterable
from importlib import import_module
from typing import Any

from relaxcheck import fixes
from relaxcheck.fixes.framework.patch import (
    Body,
    Checking,
    Entry,
    Import,
    Lowering,
    NewFile,
    Override,
    Step,
    Wrapping,
)
from relaxcheck.fixes.upstream.slices import Definition
from relaxcheck.fixes.upstream.source import PatchError

_PACKAGE = f"{fixes.__name__}."

_BELOW_THE_FRAMEWORK = {
    "tvm_api": NewFile("relax/op/exprs.py", "Types, shapes and dimensions of expressions."),
    "tvm_api.shapes": NewFile(
        "relax/op/dimensions.py", "Symbolic dimensions, and the types that hold them."
    ),
    "tvm_api.functions": NewFile(
        "relax/op/programs.py", "Constants, bindings and functions of programs."
    ),
    "tvm_api.layout_decisions": NewFile(
        "relax/op/layout_decisions.py",
        "Layouts as ConvertLayout asks for them and decides on them.",
    ),
}
"""These modules import nothing of the framework, and so have no constant ``UPSTREAM``."""

STEPS: dict[str, tuple[Step, ...]] = {fix.name: fix.patch for fix in fixes.ALL}
"""The steps of each fix's patch; none for a fix that is made of passes."""

_OF_ONE_FAULT = {fix.name for fix in fixes.ALL if fix.mends_one_fault}


def steps_for(name: str, operators: Collection[str] = ()) -> tuple[Step, ...]:
    """The steps of the fix ``name`` for ``operators``; all without any.

    A step that is of no operator is for each. All steps are taken of a fix that mends one fault,
    and of one that has none for these operators.
    """
    steps = STEPS[name]
    if not operators or name in _OF_ONE_FAULT:
        return steps
    wanted = set(operators)
    owned = [step for step in steps if wanted & _operators(step)]
    if not owned:
        return steps
    return tuple(step for step in steps if step in owned or not _operators(step))


def _operators(step: Step) -> frozenset[str]:
    match step:
        case Lowering() | Wrapping():
            return frozenset([step.operator])
        case Checking():
            return frozenset([f"relax.nn.{step.constructor}"])
        case Override():
            return frozenset(step.operators)
    return frozenset()


def definition(function: Callable[..., Any]) -> Definition:
    """The definition of ``function`` in our modules."""
    return function.__module__.removeprefix(_PACKAGE), function.__qualname__


def new_file(module: str) -> NewFile | None:
    """The new file of TVM that ``module`` of ours becomes, or None."""
    if module in _BELOW_THE_FRAMEWORK:
        return _BELOW_THE_FRAMEWORK[module]
    value = getattr(import_module(_PACKAGE + module), "UPSTREAM", None)
    return value if isinstance(value, NewFile) else None


def file_of(module: str) -> str:
    """The file of TVM that receives the definitions of ``module`` of ours.

    Raises:
        PatchError: there is none.
    """
    new = new_file(module)
    if new is not None:
        return new.path
    for steps in STEPS.values():
        for step in steps:
            if isinstance(step, Body) and definition(step.function)[0] == module:
                return step.file
    raise PatchError(f"{_PACKAGE}{module} has no place in TVM")


def public_names() -> dict[Definition, str]:
    """Upstream names of definitions that are private in our modules but used by others in TVM."""
    named = (
        definition(step.value if isinstance(step, Entry) else step.function)
        for steps in STEPS.values()
        for step in steps
        if not isinstance(step, Body | Override | Import)
    )
    return {name: name[1].lstrip("_") for name in named if name[1].startswith("_")}


def over_cpp(steps: Iterable[Step]) -> bool:
    """True if a patch of ``steps`` overrides functions of TVM's C++, and does nothing else."""
    steps = tuple(steps)
    return bool(steps) and all(_is_over_cpp(step) for step in steps)


def note_on_cpp(steps: Iterable[Step]) -> str:
    """A note on what a patch of ``steps`` registers beside what TVM's C++ does; may be empty."""
    steps = tuple(steps)
    overrides = [step for step in steps if isinstance(step, Override)]
    above = [name for step in overrides if step.registered for name in step.operators]
    notes = []
    if above:
        where = "" if over_cpp(steps) else f" of {', '.join(above)}"
        notes.append(
            f"The fault{where} is in C++. This changes no C++: it registers another function above"
            " the one that is registered there."
        )
    notes += [
        f"TVM registers no {step.key} of {', '.join(step.operators)}. This registers one in Python."
        for step in overrides
        if not step.registered
    ]
    return " ".join(notes)


def _is_over_cpp(step: Step) -> bool:
    return isinstance(step, Override) and step.registered
