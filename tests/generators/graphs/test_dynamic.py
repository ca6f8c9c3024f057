"""Programs over symbolic dimensions: valid by construction, and read back as they were built."""

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.core.axes import Point, complete, is_valid, point_of
from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.dims import evaluate, symbols
from relaxcheck.generators.core.draft import Draft, Require, Unfit, candidates
from relaxcheck.generators.core.program import Case, ShapeValue, decode
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.sampling import example
from relaxcheck.generators.core.values import arrays
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.growth import Limits, begun
from relaxcheck.generators.graphs.idioms import ABOUT
from relaxcheck.generators.graphs.programs import NAMES, STEPS
from relaxcheck.generators.graphs.templates import TEMPLATES
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute
from relaxcheck.oracles.answer import Unsupported
from relaxcheck.oracles.compare import within
from relaxcheck.oracles.independent import ORACLES
from relaxcheck.oracles.reference.evaluate import evaluate as reference

FAMILY = dynamic.family(("build", "default-pipeline"))
REGIMES = ("normal", "exact", "moderate", "boundary", "special")


def _point(at: int, **chosen: Any) -> Point:
    source = Random(at)
    defaults = {
        "steps": 1 + at % 8,
        "focus": source.choice(NAMES),
        "dtype": source.choice(dynamic.DTYPES),
        "regime": REGIMES[at % 5],
    }
    return complete(FAMILY.axes, {**defaults, **chosen})


def _template(form: str) -> Point:
    return complete(FAMILY.axes, {"form": form})


def _holds(case: Case, draft: Draft) -> None:
    """Every value has the shape that its step worked out; every oracle is within its bound."""
    nodes = tuple(node.name for node in case.program.nodes)
    whole = replace(case.program, outputs=nodes)
    stated = {value.name: value for value in draft.values}
    for at, binding in enumerate(case.bindings):
        values, plain = arrays(case, at), static(whole, binding)
        wanted = reference(plain, values)
        for name, bounded in zip(nodes, wanted, strict=True):
            shape = tuple(evaluate(dim, binding) for dim in stated[name].shape)
            assert bounded.value.shape == shape, name
            assert bounded.dtype == stated[name].dtype, name
        for oracle in ORACLES.values():
            try:
                answers = oracle(plain, values)
            except Unsupported:
                continue
            for name, answer, bounded in zip(nodes, answers, wanted, strict=True):
                compared = within(answer, bounded)
                assert compared.ok, (name, compared)


@pytest.mark.parametrize("focus", STEPS)
def test_each_step_on_its_own(focus: str) -> None:
    for seed, dtype in enumerate(("float32", "float16")):
        point = complete(FAMILY.axes, {"focus": focus, "dtype": dtype})
        case, draft = FAMILY.build(point, seed), dynamic.drafted(point, seed)
        used = {node.operator for node in case.program.nodes}
        assert ABOUT.get(focus, focus) in used
        _holds(case, draft)


@pytest.mark.parametrize("focus", ["reshape", "upsample"])
def test_no_shape_that_reshape_is_given_has_a_dimension_0(focus: str) -> None:
    """There it means the argument's dimension of that place, which is another, or none."""
    growth = begun(Choices(_no_draw), "float32", Limits())
    growth.draft.start(("m", 0))
    with pytest.raises(Unfit, match=r"the number 0|no tensor"):
        STEPS[focus](growth, growth.draft)


def _no_draw(strategy: st.SearchStrategy[Any], label: object = None) -> Any:
    return example(strategy, 0)


@pytest.mark.parametrize("at", range(24))
def test_random_programs(at: int) -> None:
    point = _point(at)
    case = FAMILY.build(point, at)
    assert 1 <= len(case.bindings) <= 4
    assert decode(encode(case)) == case
    assert encode(decode(encode(case))) == encode(case)
    _holds(case, dynamic.drafted(point, at))


@pytest.mark.parametrize("form", [name for name in TEMPLATES if name != "decoder"])
def test_templates(form: str) -> None:
    for seed in range(2):
        _holds(FAMILY.build(_template(form), seed), dynamic.drafted(_template(form), seed))


def test_a_case_says_which_point_built_it() -> None:
    points = [_point(at) for at in range(40)] + [_template(form) for form in TEMPLATES]
    # Static, a function of TIR is an operator's call, which other steps make too.
    points += [_point(at, focus="call_tir", relation="static") for at in range(4)]
    for seed, point in enumerate(points):
        assert is_valid(FAMILY.axes, point)
        case = FAMILY.build(point, seed)
        assert FAMILY.build(point_of(FAMILY, case), seed) == case


def test_tvm_infers_the_ranks_that_the_steps_worked_out() -> None:
    for at in range(16):
        case = FAMILY.build(_point(at, dtype="float32"), at)
        module = emit(case)
        if not _takes_its_shape_from_a_value(case):
            assert relax.analysis.well_formed(module) is not False
        returned = tvm_api.type_of(module["main"]).ret
        outputs = returned.fields if hasattr(returned, "fields") else [returned]
        assert [_rank(each) for each in outputs] == _ranks(
            case, dynamic.drafted(_point(at, dtype="float32"), at)
        )


def _takes_its_shape_from_a_value(case: Case) -> bool:
    """TVM gives the result a shape that is a dataflow variable, and calls that ill-formed."""
    shaped = ("broadcast_to", "reshape")
    calls = (node for node in case.program.nodes if node.operator in shaped)
    return any(len(node.arguments) == 2 for node in calls)


def _rank(kind: Any) -> int:
    return int(kind.ndim)


def _ranks(case: Case, draft: Draft) -> list[int]:
    by_name = {value.name: value.rank for value in draft.values}
    return [by_name[name] for name in case.program.outputs]


@pytest.mark.parametrize("form", ["encoder", "unet", "cache", "perceptron", "function", "decoder"])
def test_templates_compile_and_are_right(form: str) -> None:
    case = FAMILY.build(_template(form), 1)
    smallest = min(case.bindings, key=lambda each: sum(each.values()))
    bindings = (smallest,) if form == "decoder" else case.bindings
    outcome = execute(replace(case, bindings=bindings))
    assert outcome.verdict is Verdict.PASS, outcome.message


def test_nothing_and_one_are_bound_where_that_is_legal() -> None:
    zeros = ones = 0
    for at in range(60):
        case = FAMILY.build(_point(at), at)
        zeros += any(0 in each.values() for each in case.bindings)
        ones += any(1 in each.values() for each in case.bindings)
        # The first one has no empty axis by choice.
        assert not case.bindings[0] or min(case.bindings[0].values()) > 0
    assert zeros > 15
    assert ones > 30


def test_requirements_of_a_step_rule_bindings_out() -> None:
    draft = Draft("float32")
    draft.start(("m",))
    draft.require("m - 3")
    draft.require("m", 0, 4)
    assert [each["m"] for each in draft.legal()] == [4, 8, 16]
    with pytest.raises(Unfit):
        draft.require(2, 3)
    draft.most = 10
    draft.input(("2*m",))
    assert [each["m"] for each in draft.legal()] == [4]


def test_requirements_hold_of_one_binding_and_of_many() -> None:
    requirement = Require("m//2 - 1", 1, 2)
    rows = candidates(("m",))
    held = requirement.holds({"m": rows[:, 0]})
    assert held.tolist() == [bool(requirement.holds({"m": m})) for m in rows[:, 0].tolist()]
    assert [m for m in rows[held, 0].tolist() if m < 13] == [7]


def test_choices_are_the_same_on_every_machine() -> None:
    @st.composite
    def several(draw: st.DrawFn) -> tuple[list[int], tuple[int, ...]]:
        choices = Choices(draw)
        return [choices.below(100) for _ in range(6)], choices.shuffled((1, 2, 3))

    drawn, shuffled = example(several(), 0)
    assert drawn == PINNED
    assert sorted(shuffled) == [1, 2, 3]


PINNED = [84, 75, 42, 25, 51, 40]


def test_pipelines_that_the_oracles_do_not_follow_are_left_out() -> None:
    (axis,) = (axis for axis in FAMILY.axes if axis.name == "pipeline")
    assert axis.values == ("build", "default-pipeline")


def test_no_step_takes_a_shape_for_a_tensor() -> None:
    takes = {"reshape", "broadcast_to", "shape_to_tensor"}
    seen = 0
    for at in range(60):
        program = FAMILY.build(_point(at, steps=8, focus="shape_of"), at).program
        shapes = {node.name for node in program.nodes if node.operator == "shape_of"}
        for node in program.nodes:
            if shapes & set(node.arguments):
                seen += 1
                assert node.operator in takes
    assert seen > 60


def test_dimensions_in_attributes_are_over_the_program_s_symbols() -> None:
    for at in range(40):
        program = FAMILY.build(_point(at), at).program
        shapes = [
            value
            for node in program.nodes
            for value in node.attributes.values()
            if isinstance(value, ShapeValue)
        ]
        stated = {name for tensor in program.inputs for name in _symbols(tensor.shape)}
        assert {name for each in shapes for name in _symbols(each.dims)} <= stated


def _symbols(shape: tuple[Any, ...]) -> set[str]:
    return {name for dim in shape for name in symbols(dim)}


def test_floating_point_begins_in_the_dtype_of_the_point() -> None:
    seen = set()
    for at in range(40):
        point = _point(at)
        program = FAMILY.build(point, at).program
        if not program.nodes[0].arguments:
            continue  # it begins with numbers that an operator makes, of any dtype
        if point["dtype"] not in OPERATORS[program.nodes[0].operator].hand.dtypes:
            continue  # it begins with an operator that is not defined for the dtype
        # Where it begins with truth values, an operator may make numbers of any dtype of them.
        first = program.inputs[0].dtype
        if first.startswith("float"):
            assert first == point["dtype"]
            seen.add(first)
    assert seen == set(dynamic.DTYPES)


def test_sizes_are_kept_small() -> None:
    for at in range(20):
        case = FAMILY.build(_point(at), at)
        for number in range(len(case.bindings)):
            assert all(np.size(each) <= 20_000 for each in arrays(case, number).values())


def test_a_product_is_bound_where_it_tells_its_factor() -> None:
    for seed in range(20):
        case = FAMILY.build(complete(FAMILY.axes, {"form": "derived: product"}), seed)
        assert all(binding["m"] for binding in case.bindings)
