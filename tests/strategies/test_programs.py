"""Programs as users draw them: within their limits, none discarded, and shrunk to the smallest."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import UnsatisfiedAssumption

from relaxcheck.generators.core.case import Mismatch
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.sampling import draw, example
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.strategies import cases, expressions, invalid_calls, programs

SEARCH = settings(
    max_examples=3000,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)


def _follows(program: Program, later: str, earlier: str) -> bool:
    """Return True if a node of ``later`` takes the result of one of ``earlier``."""
    made = {node.name for node in program.nodes if node.operator == earlier}
    return any(node.operator == later and made & set(node.arguments) for node in program.nodes)


SOME = ("add", "nn.relu", "matmul", "nn.softmax", "sum", "permute_dims", "concat", "exp")


@pytest.mark.parametrize(
    ("later", "earlier"), [("nn.relu", "add"), ("nn.softmax", "matmul"), ("sum", "permute_dims")]
)
def test_a_failure_of_two_operators_shrinks_to_these_two(later: str, earlier: str) -> None:
    smallest = find(
        programs(SOME, max_nodes=8),
        lambda program: len(program.nodes) > 1 and _follows(program, later, earlier),
        settings=SEARCH,
    )
    assert [node.operator for node in smallest.nodes] == [earlier, later]


def test_a_failure_among_all_operators_shrinks_to_two_of_them() -> None:
    sums = ("sum", "mean", "prod", "cumsum", "matmul", "variance")

    def breaks(program: Program) -> bool:
        return any(_follows(program, later, sums_) for later in ELEMENTWISE for sums_ in sums)

    smallest = find(programs(max_nodes=8), breaks, settings=SEARCH)
    assert len(smallest.nodes) == 2
    assert len(smallest.outputs) == 1


ELEMENTWISE = ("add", "subtract", "multiply", "abs", "negative", "exp", "tanh", "nn.relu")


def test_a_failure_of_one_operator_shrinks_to_it_on_the_simplest_input() -> None:
    smallest = find(
        programs(max_nodes=8),
        lambda program: any(node.operator == "nn.relu" for node in program.nodes),
        settings=SEARCH,
    )
    assert smallest == Program(
        (Input("x0", (3,), "float32"),), (Node("n1_0", "nn.relu", ("x0",)),), ("n1_0",)
    )


def test_a_failure_that_needs_three_operators_keeps_three() -> None:
    def breaks(program: Program) -> bool:
        return {"concat", "tanh", "multiply"} <= {node.operator for node in program.nodes}

    result = find(
        programs(["concat", "tanh", "multiply", "add", "nn.relu", "exp"]), breaks, settings=SEARCH
    )
    assert sorted(node.operator for node in result.nodes) == ["concat", "multiply", "tanh"]


def test_programs_keep_to_their_limits() -> None:
    sizes: Counter[int] = Counter()
    for program in draw(programs(max_nodes=5), 200, 1):
        sizes[len(program.nodes)] += 1
        assert 1 <= len(program.nodes) <= 5
        assert {node.operator for node in program.nodes} <= {*OPERATORS}
    assert len(sizes) == 5
    wanted = {"add", "matmul", "nn.relu"}
    for program in draw(programs(wanted), 100, 2):
        assert {node.operator for node in program.nodes} <= wanted
    for program in draw(programs(symbolic=False), 100, 3):
        assert not program.symbols
    dtypes = {tensor.dtype for program in draw(programs(["add"], dtypes=["float64"]), 30, 4)
              for tensor in program.inputs}  # fmt: skip
    assert dtypes == {"float64"}


def test_every_operator_alone_makes_a_program_or_says_that_it_needs_others() -> None:
    needy = set()
    for name in OPERATORS:
        try:
            program = example(programs([name]), 0)
        except ValueError:
            needy.add(name)
        else:
            assert {node.operator for node in program.nodes} == {name}
    # Their records call others, too: shapes are values that other operators take.
    alone = {name for name, record in OPERATORS.items() if not record.is_in_graphs}
    assert needy == {"shape_of", "shape_to_tensor", "tensor_to_shape"} | alone


def test_an_operator_of_no_random_program_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="no random program has the operator nonzero, print"):
        programs(["print", "add", "nonzero"])


def test_undrawable_programs_are_a_value_error() -> None:
    with pytest.raises(ValueError, match="max_nodes is 0"):
        programs(max_nodes=0)
    with pytest.raises(ValueError, match=r"no record of an operator nn\.nothing"):
        programs(["add", "nn.nothing"])
    with pytest.raises(ValueError, match="none named"):
        programs([])
    with pytest.raises(ValueError, match="unknown positions nowhere"):
        expressions(["nowhere"])


@pytest.mark.parametrize(
    "strategy", [programs(), programs(["add", "log"], 3), cases(), invalid_calls(), expressions()]
)
def test_nothing_drawn_is_thrown_away(strategy: "st.SearchStrategy[object]") -> None:
    seen: list[str] = []

    # A run of Hypothesis also ends examples early by itself, where it looks for small ones.
    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def drawing(data: st.DataObject) -> None:
        try:
            data.draw(strategy)
        except UnsatisfiedAssumption:
            seen.append("discarded")
            raise
        seen.append("drawn")

    drawing()
    assert seen.count("drawn") > 0.95 * len(seen)


def test_cases_are_run_at_sizes_that_their_program_allows() -> None:
    zeros = 0
    for case in draw(cases(pipelines=["build", "default-pipeline"]), 100, 5):
        assert isinstance(case, Case)
        assert case.pipeline in ("build", "default-pipeline")
        assert 1 <= len(case.bindings) <= 4
        assert not case.bindings[0] or min(case.bindings[0].values()) > 0
        zeros += any(0 in row.values() for row in case.bindings)
    assert zeros > 10


def test_invalid_calls_break_one_dimension() -> None:
    for case in draw(invalid_calls(max_nodes=3), 50, 6):
        assert isinstance(case.expect, Mismatch)
        assert len(case.bindings) == 1


def test_a_seed_decides_an_example() -> None:
    seeds = range(20)
    once, again = ([example(programs(), seed) for seed in seeds] for _ in range(2))
    assert once == again
    assert len({program.nodes[0].operator for program in once}) > 5
