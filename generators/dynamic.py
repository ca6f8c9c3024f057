"""Programs over symbolic dimensions: random ones of 1 to 8 steps, and templates kept whole.

A random program follows from the case's seed: each step is drawn from all steps, and the last is
about the operator that the axis ``focus`` names. What a step requires of dimensions decides which
bindings are legal; a few of them are run, with 0 and 1 among them where that is legal. The axis
``relation`` writes the same program in another way (``generators.relations``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
from hypothesis import strategies as st

from generators import (
    dynamic_compute,
    dynamic_mismatch,
    dynamic_movement,
    dynamic_tir,
    dynamic_windows,
)
from generators.axes import Axis, Point, Value, run_axes
from generators.cases import AnyCase
from generators.dims import Dim
from generators.dynamic_draft import Draft, Draw, Unfit
from generators.dynamic_movement import Step
from generators.dynamic_templates import TEMPLATES
from generators.faults import Fault
from generators.points import Given, integer, point_of, text
from generators.program import Case, Program
from generators.relations import NONE, RELATIONS, related
from generators.tir_functions import CALL_TIR

STEPS: dict[str, Step] = {
    **dynamic_movement.STEPS,
    **dynamic_compute.STEPS,
    **dynamic_windows.STEPS,
    **dynamic_tir.STEPS,
}
"""Every step, by the operator that it is about."""

NAMED = {"broadcast": "subtract", "upsample": "broadcast_to"}
"""Steps that are no operator's by name, and the operator that each has."""

NAME = "dynamic"
FOCUS = "add"
RANDOM = "random"

DTYPES = ("float32", "float64", "float16")

PIPELINES = ("fixes-build", "fixes-pipeline", "fixes-bounded", "fixes-folded")
"""What it is compiled by: the pipelines that the passes of the fixes are in. Without fixes these
are TVM's own two, the second one with memory planned for the largest sizes, and the first one
after FoldConstant."""

_LEAST = 3
"""So many bindings are to be legal after every step."""

_TRIES = 12

_BINDINGS = 4

_STARTS: tuple[tuple[Dim, ...], ...] = (
    ("m",), ("m", 4), ("m", "n"), (3, "m"), ("b", 4, "m"), (2, "m", "n"), ("m", 1, "n"),
    ("b", 2, "m", "n"), (1, 4, "m", 5),
)  # fmt: skip

_ROOMY: tuple[Dim, ...] = ("b", 4, "m")
"""A shape on which every step fits."""


@dataclass(frozen=True, slots=True)
class Dynamic:
    """The family of programs over symbolic dimensions."""

    axes: tuple[Axis, ...]

    @property
    def name(self) -> str:
        """``dynamic``."""
        return NAME

    def build(self, point: Point, seed: int) -> Case:
        """The case at ``point``: its program follows from ``seed``."""
        draft = drafted(point, seed)
        program, bindings = related(
            text(point, "relation"), draft.program(), _bindings(draft, seed), seed
        )
        return Case(
            family=NAME,
            program=program,
            bindings=bindings,
            seed=seed,
            **{name: point[name] for name in _run_names()},  # type: ignore[arg-type]
        )

    def point(self, case: AnyCase) -> Point:
        """The point of ``case``, or of the valid case that it calls wrongly.

        Raises:
            ValueError: no point of this family builds ``case``.
        """
        if not isinstance(case, Case):
            raise ValueError(f"not a point of {NAME}: it is no program")
        called = dynamic_mismatch.corrected(case)
        for form, steps, focus in _readings(called.program):
            point: dict[str, Value] = {
                "form": form,
                "steps": steps,
                "focus": focus,
                "dtype": _dtype(called.program),
                "relation": NONE,
                **{name: getattr(case, name) for name in _run_names()},
            }
            draft = drafted(point, case.seed)
            bindings = _bindings(draft, case.seed)
            for relation in RELATIONS:
                program, rows = related(relation, draft.program(), bindings, case.seed)
                if program != called.program:
                    continue
                if called is not case:
                    # It is made at the first of the bindings.
                    called = msgspec.structs.replace(called, bindings=(*called.bindings, *rows[1:]))
                point["relation"] = relation
                return point_of(self, lambda _, point=point: point, called)  # type: ignore[misc]
        raise ValueError(f"not a point of {NAME}")

    @property
    def faults(self) -> tuple[Fault, ...]:
        """None: what is invalid here is a call, not a program (see ``invalid``)."""
        return ()

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        """Valid programs called with an argument of a shape that they do not state."""
        return (dynamic_mismatch.cases(self),)


def drafted(point: Point, seed: int) -> Draft:
    """The draft of the program at ``point``, with the shapes that its steps worked out."""
    form, dtype = text(point, "form"), text(point, "dtype")
    if form == RANDOM:
        return _random(seed, dtype, integer(point, "steps"), text(point, "focus"))
    draft = Draft(Draw(f"{seed}/{form}"), dtype)
    TEMPLATES[form](draft)
    return draft


def _bindings(draft: Draft, seed: int) -> tuple[dict[str, int], ...]:
    return chosen(draft.legal(), Draw(f"{seed}/bindings"))


def _run_names() -> tuple[str, ...]:
    return tuple(axis.name for axis in run_axes(("",)))


def _dtype(program: Program) -> str:
    """That of ``x0``: a program begins with a tensor of its own dtype.

    Raises:
        ValueError: it has none; a part of a program may.
    """
    try:
        return program.input("x0").dtype
    except KeyError as error:
        raise ValueError(f"not a point of {NAME}: no input x0") from error


def family(pipelines: Sequence[str]) -> Dynamic:
    """The family, compiled by ``pipelines``."""
    random = Given(("form",), lambda form, value: form == RANDOM or value == FOCUS)
    one_step = Given(("form",), lambda form, value: form == RANDOM or value == 1)
    return Dynamic(
        (
            Axis("form", (RANDOM, *TEMPLATES), RANDOM, default_weight=3 * len(TEMPLATES)),
            Axis("steps", tuple(range(1, 9)), 1, one_step, least=(1,)),
            Axis("focus", (FOCUS, *(name for name in STEPS if name != FOCUS)), FOCUS, random),
            Axis("dtype", DTYPES, DTYPES[0], default_weight=4),
            Axis("relation", tuple(RELATIONS), NONE, default_weight=len(RELATIONS)),
            *run_axes(pipelines),
        )
    )


def _readings(program: Program) -> Iterator[tuple[str, int, str]]:
    """Form, steps and focus of the points that may have built ``program``."""
    last = max((int(node.name[1:].partition("_")[0]) for node in program.nodes), default=0)
    if last == 0:
        yield from ((form, 1, FOCUS) for form in TEMPLATES)
        return
    of_last = {node.operator for node in program.nodes if node.name.startswith(f"n{last}_")}
    for focus in STEPS:
        if NAMED.get(focus, focus) in of_last:
            yield RANDOM, last, focus
    # In a static program, what a function of TIR computes is an operator's call.
    if CALL_TIR not in of_last and of_last & dynamic_tir.MEANINGS:
        yield RANDOM, last, CALL_TIR


def _random(seed: int, dtype: str, steps: int, focus: str) -> Draft:
    """A draft of ``steps`` steps, the last one about ``focus``."""
    names = tuple(STEPS)
    draft = Draft(Draw(f"{seed}/program"), dtype)
    draft.start(draft.draw.choice(_STARTS))
    for number in range(1, steps):
        draft.step = number
        for _ in range(_TRIES):
            grown = _taken(draft, draft.draw.choice(names))
            if grown is not None:
                draft = grown
                break
        else:
            draft = _afresh(draft, FOCUS)
    draft.step = steps
    for _ in range(_TRIES):
        grown = _taken(draft, focus)
        if grown is not None:
            return grown
    return _afresh(draft, focus)


def _taken(draft: Draft, name: str) -> Draft | None:
    """``draft`` with a step more; None where that cannot be."""
    fork = draft.fork()
    try:
        STEPS[name](fork)
    except Unfit:
        return None
    return fork if _is_legal(fork) else None


def _is_legal(draft: Draft) -> bool:
    legal = draft.legal()
    return len(legal) >= _LEAST and any(min(each.values()) > 0 for each in legal if each)


def _afresh(draft: Draft, name: str) -> Draft:
    """``draft`` with the step ``name`` on a new input, the values so far being outputs."""
    fork = draft.fork()
    fork.start(_ROOMY)
    for _ in range(_TRIES):
        grown = _taken(fork, name)
        if grown is not None:
            return grown
    # What came before rules it out: it is left away.
    alone = Draft(draft.draw, draft.dtype, step=draft.step)
    alone.start(_ROOMY)
    for _ in range(10 * _TRIES):
        grown = _taken(alone, name)
        if grown is not None:
            return grown
    raise AssertionError(f"step {name} does not fit {_ROOMY}")


def chosen(legal: Sequence[dict[str, int]], draw: Draw) -> tuple[dict[str, int], ...]:
    """A few of the ``legal`` bindings: one without 0 first, then the smallest, then any."""
    plain = [each for each in legal if not each or min(each.values()) > 0]
    found = [draw.choice(plain or legal)]
    found.append(legal[0])
    ones = [each for each in legal if 1 in each.values()]
    found.append(draw.choice(ones or legal))
    found += [draw.choice(legal) for _ in range(_BINDINGS)]
    unique = [each for at, each in enumerate(found) if each not in found[:at]]
    return tuple(unique[:_BINDINGS])
