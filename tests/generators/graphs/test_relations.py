"""Relations: the same program written in another way, and nothing else."""

import numpy as np
import pytest
from hypothesis import strategies as st
from msgspec.structs import replace

from relaxcheck.generators.core.axes import complete, point_of
from relaxcheck.generators.core.fills.kinds import Below, Fill, LongestSegment, Misfit, Offsets
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.core.sampling import example
from relaxcheck.generators.core.values import Array, arrays, constants
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.families import family
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.mismatch import mismatched, stated, wrong
from relaxcheck.generators.graphs.relations import NAMES, NONE, RELATIONS, Bindings, related
from relaxcheck.generators.graphs.whole import family as whole
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute
from relaxcheck.oracles.reference.evaluate import evaluate
from tests.generators.drawn import at_random

FAMILY = dynamic.family(("build",))

BY_NODES = ("computed again", "inlined", "constants", "tuple", "dead code", "split")
"""The relations that change the nodes of a program, or which of its inputs are constants."""


@st.composite
def _written(
    draw: st.DrawFn, name: str, program: Program, bindings: Bindings
) -> tuple[Program, Bindings]:
    return related(name, program, bindings, Choices(draw))


def related_at(
    name: str, program: Program, bindings: Bindings, seed: int
) -> tuple[Program, Bindings]:
    return example(_written(name, program, bindings), seed)


PROGRAM = Program(
    (
        Input("x", ("2*m", "n"), "float32"),
        Input("y", ("m", 4), "float32"),
        Input("at", ("m",), "int64", fill=Below("n")),
        Input("c", (3,), "float32", constant=True),
    ),
    (
        Node("a", "nn.relu", ("x",)),
        Node("b", "full", (), {"shape": ShapeValue(("4*m",))}),
        Node("d", "nn.relu", ("at",)),
    ),
    ("a", "b", "d"),
)
BINDINGS = ({"m": 2, "n": 3}, {"m": 0, "n": 1})


def _shapes(name: str) -> list[tuple[object, ...]]:
    program, rows = related_at(name, PROGRAM, BINDINGS, 0)
    assert rows == BINDINGS
    attribute = program.nodes[1].attributes["shape"]
    assert isinstance(attribute, ShapeValue)
    return [*(tensor.shape for tensor in program.inputs), attribute.dims]


def test_symbols_are_left_where_they_are_set() -> None:
    zero = [("2*m + 0", "n"), ("m", 4), ("m + 0",), (3,), ("4*m + 0",)]
    assert _shapes("plus zero") == zero
    assert _shapes("times one") == [("1*(2*m)", "n"), ("m", 4), ("1*m",), (3,), ("1*(4*m)",)]


def test_a_symbol_has_another_name_everywhere() -> None:
    program, rows = related_at("renamed", PROGRAM, BINDINGS, 0)
    m, n = program.inputs[1].shape[0], program.inputs[0].shape[1]
    assert {m, n} <= set(NAMES)
    assert m != n
    assert program.inputs[0].shape == (f"2*{m}", n)
    assert program.inputs[2].fill == Below(n)
    assert program.nodes[1].attributes["shape"] == ShapeValue((f"4*{m}",))
    assert rows == ({m: 2, n: 3}, {m: 0, n: 1})


@pytest.mark.parametrize("fill", [Offsets("m"), Misfit(("m", 1))])
def test_it_has_it_in_what_values_depend_on(fill: Fill) -> None:
    tensor = Input("x", ("m",), "int32", fill=fill)
    program, _ = related_at("renamed", Program((tensor,), (), ("x",)), ({"m": 1},), 0)
    (name,) = program.symbols
    assert name in NAMES


def test_a_static_program_is_one_of_the_bindings() -> None:
    shapes = set()
    for seed in range(8):
        program, rows = related_at("static", PROGRAM, BINDINGS, seed)
        assert rows == ({},)
        assert not program.symbols
        shapes.add(program.inputs[0].shape)
    assert shapes == {(4, 3), (0, 1)}


def test_no_reshape_of_a_static_program_is_to_0() -> None:
    nodes = (PROGRAM.nodes[0], replace(PROGRAM.nodes[1], operator="reshape"), PROGRAM.nodes[2])
    program = replace(PROGRAM, nodes=nodes)
    for seed in range(8):
        assert related_at("static", program, BINDINGS, seed)[0].inputs[0].shape == (4, 3)
    assert related_at("static", program, BINDINGS[1:], 0) == (program, BINDINGS[1:])


def test_the_parameters_are_in_another_order() -> None:
    orders = set()
    for seed in range(20):
        program, _ = related_at("permuted", PROGRAM, BINDINGS, seed)
        assert sorted(tensor.name for tensor in program.inputs) == ["at", "c", "x", "y"]
        orders.add(tuple(tensor.name for tensor in program.inputs))
    assert ("x", "y", "at", "c") not in orders
    assert len(orders) > 8


def test_a_longest_segment_stays_behind_its_offsets() -> None:
    orders = set()
    for seed in range(40):
        point = {"focus": "nn.attention_var_len", "relation": "permuted", "steps": 2}
        case = FAMILY.build(complete(FAMILY.axes, point), seed)
        orders.add(tuple(tensor.name for tensor in case.program.inputs))
    assert len(orders) > 8


@pytest.mark.parametrize("relation", BY_NODES)
def test_other_nodes_compute_the_same(relation: str) -> None:
    family, changed = whole.family(("build",)), 0
    for seed, point in enumerate(at_random(family.axes, 60)):
        # Few graphs have a batch to split.
        if seed >= 12 and changed:
            break
        case = family.build({**point, "relation": NONE}, seed)
        other = family.build({**point, "relation": relation}, seed)
        changed += other.program != case.program
        for at in range(len(case.bindings)):
            ours, theirs = _results(case, at), _results(other, at)
            if relation == "constants":
                # Constants have other values than inputs of their names.
                assert [each.dtype for each in ours] == [each.dtype for each in theirs]
                continue
            assert all(
                np.array_equal(a, b, equal_nan=True) for a, b in zip(ours, theirs, strict=True)
            )
    assert changed >= (1 if relation in ("inlined", "split") else 6)


@pytest.mark.parametrize("relation", [name for name in RELATIONS if name not in (NONE, *BY_NODES)])
def test_the_reference_says_the_same(relation: str) -> None:
    """Of input values and results: at each binding as before, or at one of them where static."""
    changed = 0
    for seed, form in enumerate(("random", "random", "function", "padded", "derived: sum")):
        steps = 4 if form == "random" else 1
        point = complete(FAMILY.axes, {"form": form, "steps": steps})
        case = FAMILY.build(point, seed)
        other = FAMILY.build({**point, "relation": relation}, seed)
        changed += other.program != case.program
        assert FAMILY.build(point_of(FAMILY, other), seed) == other
        if other.bindings == ({},):
            # Values are told apart by the number of the binding: that is 0 here.
            case = replace(case, bindings=(_made_static(case, other),))
        for at in range(len(case.bindings)):
            ours, theirs = _results(case, at), _results(other, at)
            assert all(
                np.array_equal(a, b, equal_nan=True) for a, b in zip(ours, theirs, strict=True)
            )
    assert changed >= 3


def _made_static(case: Case, other: Case) -> dict[str, int]:
    shapes = {tensor.name: tensor.shape for tensor in other.program.inputs}
    (binding, *_) = (
        row
        for row in case.bindings
        if all(
            case.shape(tensor.name, row) == shapes[tensor.name] for tensor in case.program.inputs
        )
    )
    return binding


def _results(case: Case, at: int) -> list[Array]:
    program = static(case.program, case.bindings[at])
    return [each.value for each in evaluate(program, arrays(case, at))]


@pytest.mark.parametrize("form", ["shape", "scalars"])
def test_the_sizes_of_symbols_are_passed_before_the_inputs(form: str) -> None:
    relation = {"shape": "told a shape", "scalars": "told scalars"}[form]
    case = FAMILY.build(complete(FAMILY.axes, {"form": "tutorial", "relation": relation}), 1)
    program, binding = case.program, case.bindings[0]
    symbols = program.symbols
    assert len(symbols) == 3
    main = emit(case)["main"]
    leading = len(main.params) - sum(not tensor.constant for tensor in program.inputs)
    sizes = tuple(binding[name] for name in symbols)
    wanted = ((sizes,), 1) if form == "shape" else (sizes, 3)
    assert (program.size_arguments(binding), leading) == wanted
    # Whatever an input's dimension is made of, it is known before.
    assert all(target.decided for target in stated(program))
    assert {target.dim for target in stated(program)} >= set(symbols)
    bare = replace(program, size_parameters="")
    assert bare.size_arguments(binding) == ()


def test_there_is_no_other_way_to_tell_sizes() -> None:
    program = FAMILY.build(complete(FAMILY.axes, {"form": "tutorial"}), 1).program
    with pytest.raises(ValueError, match="told 'twice' is unknown"):
        replace(program, size_parameters="twice")


@pytest.mark.parametrize("relation", ["told a shape", "told scalars"])
@pytest.mark.parametrize("form", ["derived: a fifth", "derived: product", "tutorial"])
def test_a_program_with_size_arguments_runs_and_refuses_others(relation: str, form: str) -> None:
    point = {"form": form, "relation": relation, "pipeline": "fixes-build"}
    family = dynamic.family(("fixes-build",))
    case = replace(family.build(complete(family.axes, point), 2), fixes=True)
    assert execute(case, lambda _: None).verdict is Verdict.PASS
    for target, off in wrong(case)[:4]:
        outcome = execute(mismatched(case, target, off), lambda _: None)
        assert outcome.verdict is Verdict.REJECTED, outcome.message


def test_a_constant_is_not_computed_from_what_is_passed() -> None:
    sequences = family("attention_var_len", ("build",))
    program = sequences.build(complete(sequences.axes, {}), 0).program
    lengths = {each.name for each in program.inputs if isinstance(each.fill, LongestSegment)}
    assert lengths
    for seed in range(4):
        written, bindings = related_at("constants", program, ({},), seed)
        case = Case("any", written, bindings=bindings)
        assert constants(case).keys() == {each.name for each in written.inputs if each.constant}
