"""A script compares with the reference's values, whatever is drawn."""

import base64
import zlib

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.rewrites.static import static
from relaxcheck.generators.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.oracles.reference.evaluate import evaluate
from relaxcheck.reports.programs.expected import expected_of

FAMILIES = {
    family.name: family
    for family in families(tuple(PIPELINES))
    if family.record.own is not None
    or family.name in ("cumsum", "split", "softmax", "floor_divide")
}
PASSES = Outcome(Verdict.PASS)


def assert_right(case: Case, outcome: Outcome = PASSES) -> bool:
    """Hold what a script of ``case`` expects against the reference; whether PyTorch computes it."""
    repro = reproduction(case, outcome)
    own = [
        *(tensor.name for tensor in case.program.inputs),
        *(node.name for node in case.program.nodes),
    ]
    result = expected_of(repro, {name: name for name in own})
    modules = {"np": np, "torch": torch, "F": torch.nn.functional, "base64": base64, "zlib": zlib}
    scope = {**modules, **repro.runs[0].inputs}
    exec("\n".join(result.reference), scope)
    value = eval(result.value, scope)
    assert isinstance(value, np.ndarray)
    bound, least = eval(result.bound, scope), repro.values[repro.output].bound
    assert np.isscalar(bound) is result.single
    assert (bound >= least).all()
    if repro.outcome.verdict.is_failure:
        assert least.any()
        assert repro.ratio is None or (repro.ratio * least > bound)[least > 0].all()
    wanted = evaluate(static(case.program, case.bindings[0]), repro.runs[0].inputs)[0]
    assert value.shape == wanted.value.shape
    # Where mixed precision may do anything the script need not know better.
    free = np.isinf(wanted.bound) | np.isinf(least)
    same = (value == wanted.value) | (np.isnan(value) & np.isnan(wanted.value)) | free
    with np.errstate(invalid="ignore"):
        close = np.abs(value - wanted.value) <= wanted.bound
    assert (same | close).all()
    return bool(result.reference)


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=15)
@given(data=st.data())
def test_expected_values_are_the_reference_s(name: str, data: st.DataObject) -> None:
    assert_right(msgspec.structs.replace(data.draw(cases(FAMILIES[name])), also=()))


def case(dtype: str, *nodes: Node, shape: tuple[int, ...] = (3, 3)) -> Case:
    inputs = tuple(Input(name, shape, dtype) for name in ("a", "b"))
    return Case("toy", Program(inputs, nodes, (nodes[-1].name,)), seed=5)


@pytest.mark.parametrize("ratio", [1.0001, 1.009, 1.5, 1e9, None])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_no_bound_hides_a_wrong_value(dtype: str, ratio: float | None) -> None:
    multiplied = case(dtype, Node("c", "matmul", ("a", "b")))
    check = Check({}, "c", ratio, (), regime="boundary")
    wrong = Outcome(Verdict.WRONG_VALUE, "compare", checks=(check,))
    assert_right(msgspec.structs.replace(multiplied, regime="boundary"), wrong)


DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "uint8")
NODES = (
    Node("c", "add", ("a", "b")),
    Node("c", "multiply", ("a", "b")),
    Node("c", "matmul", ("a", "b")),
    Node("c", "matmul", ("a", "b"), {"out_dtype": "float16"}),
    Node("c", "matmul", ("a", "b"), {"out_dtype": "int16"}),
    Node("c", "nn.relu", ("a",)),
    Node("c", "permute_dims", ("a",)),
    Node("c", "permute_dims", ("a",), {"axes": (0, 1)}),
)


def exists(dtype: str, node: Node) -> bool:
    """True if TVM has it: there is no cast between floats and integers."""
    narrow = node.attributes.get("out_dtype")
    return narrow is None or ("int" in dtype) is ("int" in str(narrow))


@pytest.mark.parametrize(
    ("dtype", "node"),
    [(dtype, node) for dtype in DTYPES for node in NODES if exists(dtype, node)],
    ids=lambda subject: (
        subject if isinstance(subject, str) else f"{subject.operator}-{len(subject.attributes)}"
    ),
)
def test_every_operator_s_text_is_right(dtype: str, node: Node) -> None:
    assert assert_right(case(dtype, node))


def test_computations_without_pytorch_are_written_out() -> None:
    added, relu = Node("c", "add", ("a", "b")), Node("d", "nn.relu", ("c",))
    assert assert_right(case("float32", added, relu))
    assert not assert_right(case("int8", added, relu))
    assert not assert_right(case("uint64", added))
    assert not assert_right(case("float32", added, shape=(0, 3)))
    special = msgspec.structs.replace(case("float16", added, shape=(40, 3)), regime="special")
    infinite = [msgspec.structs.replace(special, seed=seed) for seed in range(8)]
    assert False in [assert_right(case) for case in infinite]
