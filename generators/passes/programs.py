"""Programs for passes: fragments, templates and random ones; static or not, with constants."""

from collections.abc import Mapping, Sequence

import msgspec
from hypothesis import strategies as st

from relaxcheck.generators.calls import expectation
from relaxcheck.generators.core.axes import RUN, Axis, Point, without_run
from relaxcheck.generators.core.case import Value
from relaxcheck.generators.core.contexts import CONTEXT_AXIS, drawn_context
from relaxcheck.generators.core.dims import symbols
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.pass_calls import PassCall
from relaxcheck.generators.core.points import Given, integer, text
from relaxcheck.generators.core.preconditions import with_run_axes
from relaxcheck.generators.core.program import Case, Input, Program
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.family import DTYPES, RANDOM
from relaxcheck.generators.graphs.fragments import FRAGMENTS, PASSES
from relaxcheck.generators.graphs.programs import NAMES, SIMPLEST, chosen, random_program
from relaxcheck.generators.graphs.templates import TEMPLATES, Template
from relaxcheck.generators.graphs.whole.structure import PLAIN, structured

_NO, _SOME, _EVERY = "none", "some", "all"
_SYMBOLIC, _STATIC = "symbolic", "static"

_STRUCTURES = (PLAIN, "function", "tuple of arguments", "tuple", "blocks")
"""The structures around programs. Branches of a conditional share memory by a fault of TVM's that
ends the process, whatever the pass."""

_DERIVED = "derived"
"""Templates of programs in which a symbol is no dimension by itself: TVM calls them ill-formed."""

_WIDE = "random, of every operator"
"""The form of random programs in which passes meet every operator, and the faults of each."""

CORE: tuple[str, ...] = (
    *(SIMPLEST, "multiply", "subtract", "maximum", "minimum", "divide", "equal", "greater"),
    *("nn.relu", "exp", "tanh", "sigmoid", "negative", "abs", "sqrt", "nn.gelu", "nn.silu"),
    *("matmul", "nn.softmax", "nn.layer_norm", "nn.conv2d", "nn.max_pool2d"),
    *("sum", "max", "mean", "reshape", "permute_dims", "expand_dims", "squeeze", "flatten"),
    *("concat", "split", "stack", "broadcast_to", "where", "astype", "clip", "flip", "tile"),
    *("zeros_like", "full_like", "take", "strided_slice"),
)
"""Operators that models are made of, of which most random programs are."""

_PLAIN_TEMPLATES = {name: made for name, made in TEMPLATES.items() if not name.startswith(_DERIVED)}

FORMS: Mapping[str, Template] = {**FRAGMENTS, **_PLAIN_TEMPLATES}
"""Forms of programs besides random ones, by name."""


def axes(
    own: Sequence[Axis],
    pipelines: Sequence[str],
    name: str = "",
    dtypes: Sequence[str] = (),
    *,
    functions: str = "",
    constants: bool = False,
) -> tuple[Axis, ...]:
    """The axes of a family of passes: its ``own``, those of the program and of how it is run.

    Of the fragments the pass ``name`` takes those that are for it, if there are any; ``functions``:
    the structure of private functions that most programs have. ``constants``: most have constants.
    """
    symbolic = Given(("dims",), lambda dims, value: dims == _SYMBOLIC or value == PLAIN)
    is_random = Given(("form",), lambda form, value: form == RANDOM or value == SIMPLEST)
    one_step = Given(("form",), lambda form, value: form in (RANDOM, _WIDE) or value == 1)
    kinds = tuple(dtypes) or DTYPES
    fragments = tuple(PASSES.get(name, FRAGMENTS))
    forms = (*fragments, *_PLAIN_TEMPLATES)
    # Half of the programs are fragments, a quarter random ones: steering would have every operator
    # with every value of the other axes first, and hardly any fragment.
    share = max(1, 36 // len(fragments))
    weights: dict[Value, int] = dict.fromkeys(fragments, share)
    return with_run_axes(
        (
            *own,
            Axis(
                "form",
                (RANDOM, *forms, _WIDE),
                RANDOM,
                default_weight=12,
                weights=weights,
                steered=False,
            ),
            Axis("steps", tuple(range(1, 9)), 1, one_step, least=(1,), steered=False),
            Axis("focus", CORE, SIMPLEST, is_random, steered=False),
            Axis("dtype", kinds, kinds[0], default_weight=4),
            # A static program has no functions.
            Axis("dims", (_SYMBOLIC, _STATIC), _SYMBOLIC, default_weight=4 if functions else 1),
            # Few patterns match constants.
            Axis(
                "constants",
                (_NO, _SOME, _EVERY),
                _NO,
                default_weight=1 if constants else 6,
                steered=constants,
            ),
            CONTEXT_AXIS,
            Axis(
                "structure",
                tuple(dict.fromkeys((*_STRUCTURES, functions or PLAIN))),
                PLAIN,
                symbolic,
                default_weight=1 if functions else 6,
                weights={functions: 8} if functions else {},
                steered=not functions,
            ),
        ),
        pipelines,
    )


@st.composite
def drafts_at(draw: st.DrawFn, point: Point) -> Draft:
    """Drafts of the form, dtype and steps that ``point`` says."""
    form, dtype = text(point, "form"), text(point, "dtype")
    if form in (RANDOM, _WIDE):
        steps, focus, names = integer(point, "steps"), text(point, "focus"), CORE
        if form == _WIDE:
            # No axis: steering would draw little else until it had met every operator.
            focus, names = Choices(draw).choice(NAMES), NAMES
        return random_program(draw, dtype, steps, focus, names)
    draft = Draft(dtype)
    FORMS[form](draft, Choices(draw))
    return draft


def case_at(
    family: str, point: Point, draft: Draft, choices: Choices, *, one_binding: bool = False
) -> Case:
    """The case of the program in ``draft`` at ``point``, without passes."""
    bindings = chosen(draft, choices)
    program = structured(text(point, "structure"), draft, draft.program(), choices)
    if text(point, "dims") == _STATIC:
        program, bindings = static(program, bindings[0]), ({},)
    program = _with_constants(program, text(point, "constants"), choices)
    fields: dict[str, Value] = {name: point[name] for name in RUN}
    return Case(
        family=family,
        program=program,
        bindings=bindings[:1] if one_binding else bindings,
        expect=expectation(program),
        at=without_run(point),
        context=drawn_context(point),
        **fields,  # type: ignore[arg-type]
    )


def with_passes(case: Case, passes: tuple[PassCall, ...]) -> Case:
    """``case`` that applies ``passes``."""
    return msgspec.structs.replace(case, passes=passes)


def _with_constants(program: Program, share: str, choices: Choices) -> Program:
    """``program`` with all or some of its inputs of static shapes as constants; one stays."""
    if share == _NO:
        return program
    fixed = [each for each in program.inputs if not each.constant and _is_fixed(each)]
    if len(fixed) == len([each for each in program.inputs if not each.constant]):
        fixed = fixed[1:]
    kept = {each.name for each in fixed if share == _EVERY or choices.rarely(2)}
    inputs = tuple(
        msgspec.structs.replace(each, constant=True) if each.name in kept else each
        for each in program.inputs
    )
    return msgspec.structs.replace(program, inputs=inputs)


def _is_fixed(tensor: Input) -> bool:
    limit = getattr(tensor.fill, "limit", 0)
    return not any(map(symbols, tensor.shape)) and not symbols(limit)
