"""Bisection of real programs: of corpus entries whose culprit is known, and of planted passes."""

import re
from collections.abc import Iterator

import msgspec
import pytest

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.known import corpus
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.triage.bisection.running import bisected
from relaxcheck.harness.triage.bisection.search import Evidence
from relaxcheck.harness.workers.pool import Pool

PREFIX, RAISED, DIRECT = Evidence.PREFIX, Evidence.RAISED, Evidence.DIRECT
ILL_FORMED = Evidence.ILL_FORMED


@pytest.mark.parametrize(
    ("entry", "verdict", "culprit", "evidence", "difference"),
    [
        # A crash in a pass, without which the program is left unlowered.
        ("conv1d-transpose-packed-convert-layout", "opaque-crash", "ConvertLayout", RAISED, ""),
        # A call left unlowered, in a layout that an earlier pass has given it.
        (
            "conv3d-transpose-convert-layout",
            "silent-bail",
            "ConvertLayout",
            PREFIX,
            'data_layout="NDHWC"',
        ),
        # The same without such a pass: the program asks for the layout itself.
        ("conv3d-transpose-data-layout", "silent-bail", "LegalizeOps", RAISED, ""),
        # A legalization that ignores that there are fewer heads of key and value.
        ("attention-grouped-query", "wrong-value", "LegalizeOps", DIRECT, "def attention("),
        # Attention whose scale is lost where it comes to be computed in float16.
        (
            "attention-scale-mixed-precision",
            "wrong-value",
            "ToMixedPrecision",
            PREFIX,
            'dtype="float16"',
        ),
    ],
)
def test_an_entry_s_culprit(
    pool: Pool, entry: str, verdict: str, culprit: str, evidence: Evidence, difference: str
) -> None:
    case = msgspec.structs.replace(corpus.entry(entry).case, fixes=False)
    result = bisected(pool, case)
    assert (result.verdict, result.culprit, result.evidence) == (verdict, culprit, evidence)
    assert result.before
    added = [line for line in result.difference.splitlines() if line.startswith("+")]
    assert any(difference in line for line in added) or not difference


def test_a_call_to_a_function_that_a_pass_forgot_is_that_pass_s(pool: Pool) -> None:
    """FoldConstant lowers a call to several, and keeps some of them where it folds nothing."""
    values = Literal((0,)), Literal((1,)), Literal((1,))
    bounds = [Input(f"c{at}", (1,), "int64", fill=fill) for at, fill in enumerate(values)]
    arguments = ("x", *(tensor.name for tensor in bounds))
    node = Node("y", "dynamic_strided_slice", arguments)
    program = Program((Input("x", (1,), "float32"), *bounds), (node,), ("y",))
    result = bisected(pool, Case("dynamic", program, pipeline="fixes-folded"))
    assert (result.verdict, result.stage) == ("opaque-crash", "RewriteDataflowReshape")
    assert (result.culprit, result.evidence) == ("FoldConstant", ILL_FORMED)
    assert result.why == (
        "after FoldConstant, TVM's `well_formed` refuses the module, as it did not before, and "
        "the program raises an error in RewriteDataflowReshape; without FoldConstant it is right; "
        "it goes wrong on y (dynamic_strided_slice) of main: with nothing else to rewrite the "
        "program fails alike, with these calls held back from it it is right"
    )
    assert [str(each) for each in result.rewrites] == ["y (dynamic_strided_slice)"]


@pytest.fixture(scope="module")
def wrong() -> Iterator[Pool]:
    with Pool(1, zygote="tests.harness.triage.bisection.wrong_pass_zygote") as started:
        yield started


def product(dtype: str, mode: str = "bytecode") -> Case:
    """A product of two matrices, which is another one with its factors the wrong way round."""
    factors = tuple(Input(name, (2, 2), dtype) for name in ("a", "b"))
    program = Program(factors, (Node("c", "matmul", ("a", "b")),), ("c",))
    return Case("product", program, exec_mode=mode)


@pytest.mark.tvm
@pytest.mark.parametrize(
    ("case", "culprit", "evidence", "pattern"),
    [
        (product("float32", "compiled"), "SwapArguments", PREFIX, r"matmul, \(b, a\), "),
        (product("float16"), "LegalizeOps", DIRECT, r"matmul, \(b, a\), "),
        # Nothing compiles without it: the module after it is wrong, the one before it right.
        (product("float64"), "CallTIRRewrite", DIRECT, r"\(b, a, alloc\)"),
        (product("int32"), "Abort", PREFIX, ""),
        # Later passes and code generation miss them.
        (product("uint8"), "Drop", ILL_FORMED, "(?m)^-.*def matmul"),
    ],
    ids=["optional", "lowering", "needed", "death", "ill-formed"],
)
def test_a_wrong_pass_is_found(
    wrong: Pool, case: Case, culprit: str | None, evidence: Evidence, pattern: str
) -> None:
    result = bisected(wrong, case)
    assert (result.culprit, result.evidence) == (culprit, evidence), result.why
    assert re.search(pattern, result.difference if culprit else result.why)


@pytest.mark.tvm
def test_passing_programs_have_no_culprit(wrong: Pool) -> None:
    heard = []
    result = bisected(wrong, product("bfloat16"), lambda n, trial, outcome: heard.append(n))
    assert (result.verdict, result.culprit, heard) == (Verdict.PASS, None, [1])
