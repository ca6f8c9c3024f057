"""Failures of TVM, made bigger on purpose, come back to the form that is known to be minimal."""

from collections.abc import Callable

import pytest

from relaxcheck.generators.core.program import Attribute, Case, Input, Node, Program
from relaxcheck.generators.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.known.corpus import entry
from relaxcheck.harness.known.known import Expectations
from relaxcheck.harness.known.tally import ExpectationTally
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.kind import defaults
from relaxcheck.harness.triage.fingerprint import same_signature, signature_of
from relaxcheck.harness.triage.reduction.running import reduced
from relaxcheck.harness.triage.reduction.search import Reduction, same_standing, search
from relaxcheck.harness.triage.reduction.trying import Budget, InWorkers, Trying, outcome_of
from relaxcheck.harness.workers.pool import Pool

FAMILIES = {family.name: family for family in families(tuple(PIPELINES))}
DEFAULTS = defaults()


def chained() -> Case:
    """A convolution between other nodes, of symbolic batch, with all that can be off default."""
    attributes: dict[str, Attribute] = {
        "strides": (2,),
        "padding": (1, 0),
        "groups": 2,
        "data_layout": "NCW",
        "kernel_layout": "IOW",
        "out_layout": "NWC",
    }
    nodes = (
        Node("a", "nn.relu", ("x",)),
        Node("b", "add", ("a", "y")),
        Node("c", "nn.conv1d_transpose", ("b", "w"), attributes),
        Node("d", "nn.relu", ("c",)),
        Node("e", "nn.relu", ("b",)),
    )
    inputs = (
        Input("x", ("B", 6, 7), "float16"),
        Input("y", ("B", 6, 7), "float16"),
        Input("w", (6, 4, 3), "float16", constant=True),
    )
    return Case(
        "conv1d_transpose",
        Program(inputs, nodes, ("e", "d")),
        bindings=({"B": 3}, {"B": 5}),
        pipeline="legalize-first",
        exec_mode="compiled",
        regime="boundary",
        also=("exact",),
        seed=77,
    )


def grouped_query() -> Case:
    """Four query heads over two key heads, more of everything, and values that do not matter."""
    return Case(
        "attention",
        Program(
            (
                Input("q", ("B", 3, 8, 5), "float32"),
                Input("k", ("B", 4, 2, 5), "float32"),
                Input("v", ("B", 4, 2, 6), "float32"),
            ),
            (
                Node("n", "nn.attention", ("q", "k", "v"), {"scale": 0.5}),
                Node("m", "nn.relu", ("n",)),
            ),
            ("m",),
        ),
        bindings=({"B": 2}, {"B": 3}),
        seed=5,
    )


def off_the_grid() -> Case:
    return entry("19694-conv2d-transpose-nhwc-hwio").case


def packed() -> Case:
    return entry("conv2d-transpose-packed-convert-layout").case


Shapes = list[tuple[int, ...]]

BIGGER: list[tuple[Callable[[], Case], Verdict, Shapes, dict[str, Attribute]]] = [
    (chained, Verdict.SILENT_BAIL, [(1, 1, 1), (1, 1, 1)], {"out_layout": "NWC"}),
    (grouped_query, Verdict.WRONG_VALUE, [(1, 1, 4, 1), (1, 1, 2, 1), (1, 1, 2, 1)], {}),
    (off_the_grid, Verdict.SILENT_BAIL, [(1, 1, 1, 1)] * 2, {"kernel_layout": "HWIO"}),
    # No less than 4: people know NCHW4c.
    (packed, Verdict.OPAQUE_CRASH, [(1, 1, 1, 1, 4), (4, 4, 1, 1)], {"data_layout": "NCHW4c"}),
]


@pytest.mark.parametrize(("make", "verdict", "shapes", "attributes"), BIGGER)
def test_a_bigger_case_comes_back_to_its_minimal_form(
    pool: Pool,
    make: Callable[[], Case],
    verdict: Verdict,
    shapes: Shapes,
    attributes: dict[str, Attribute],
) -> None:
    case = make()
    trier = InWorkers(pool)
    start = outcome_of(trier, case)
    assert start.verdict is verdict, start.message
    signature = signature_of(case, start)

    def keeps(case: Case, outcome: Outcome) -> bool:
        return same_signature(case, outcome, signature) and same_standing(outcome, start)

    reduction = Reduction(case, start)
    trying = Trying(trier, reduction, keeps, Budget(300, 300, lambda: False), lambda now: None)
    assert trying.search(search(case, start)) == ""
    result = reduction.case
    assert [tensor.shape for tensor in result.program.inputs] == shapes
    assert {tensor.dtype for tensor in result.program.inputs} == {"float32"}
    [node] = result.program.nodes
    assert node.attributes == attributes
    assert (result.bindings, result.exec_mode, result.also, result.seed) == (
        ({},),
        "bytecode",
        (),
        0,
    )
    assert reduction.minimal
    assert same_signature(result, reduction.outcome, signature)


def test_a_convolution_ends_at_3_by_3_along_its_axes_and_by_structure(pool: Pool) -> None:
    case = entry("conv2d-out-layout").case
    trier = InWorkers(pool)
    start = outcome_of(trier, case)
    assert start.verdict is Verdict.SILENT_BAIL, start.message
    ended = reduced(case, start, trier, FAMILIES.values(), Budget(300, 300, lambda: False))
    result = ended.reduction.case
    assert isinstance(result, Case)
    assert [tensor.shape for tensor in result.program.inputs] == [(1, 1, 3, 3)] * 2
    [node] = result.program.nodes
    assert node.attributes == {"out_layout": "NHWC"}
    assert (ended.why, ended.reduction.minimal, ended.stable) == ("", True, True)
    declared = Expectations(pool, FAMILIES, (), ExpectationTally())
    finding = declared.cause(case, start)
    assert finding.blame == {"out_layout": "NHWC"}
    assert isinstance(finding.case, Case)
    assert [tensor.shape for tensor in finding.case.program.inputs] == [(1, 1, 3, 3)] * 2
    assert finding.fingerprint == "b70b812d5e2a"
