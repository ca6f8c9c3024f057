"""Findings that share a cause: of sibling operators, of one place, of one blame."""

import msgspec

from relaxcheck.generators.core.axes import PIPELINE, complete
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.families import family
from relaxcheck.generators.operators.groups import group_of
from relaxcheck.harness.compiling.undefined import UNDEFINED
from relaxcheck.harness.outcomes.appearance import NAN, PLACE
from relaxcheck.harness.outcomes.errors import normalise
from relaxcheck.harness.outcomes.outcome import Check, Ending, Outcome, Verdict
from relaxcheck.harness.outcomes.severity import Severity
from relaxcheck.harness.triage.causes import by_cause
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of, unreduced
from tests.harness.outcomes.test_deviation import wrong

MEMBER = family("conv1d_transpose", ("build",))
CASE = MEMBER.build(complete(MEMBER.axes, {}), 0)
LOGGED = "left after LegalizeOps: R.nn.x(a)\nlogged at level INFO: TOPI {} does not support {}"


def bail(operator: str, layouts: str, blame: dict[str, str] | None = None) -> Finding:
    message = LOGGED.format(operator.removeprefix("nn."), layouts)
    cause = normalise(message)
    outcome = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", operator, message, cause=cause)
    return finding_of(Reduced(CASE, outcome, blame or {}))


def test_groups_leave_the_number_of_spatial_dimensions_out() -> None:
    assert {group_of(f"nn.conv{n}d_transpose") for n in (1, 2, 3)} == {"nn.conv_transpose"}
    assert group_of("nn.conv2d") != group_of("nn.conv2d_transpose")
    assert group_of("nn.attention") == group_of("nn.attention_var_len")
    assert group_of("image.resize2d") == "image.resize"
    assert group_of("matmul") == "matmul"
    assert group_of("nn.batch_norm") != group_of("nn.layer_norm")


def test_siblings_with_one_message_share_a_cause() -> None:
    first = bail("nn.conv1d_transpose", "input layout other than NCW")
    two = bail("nn.conv2d_transpose", "input layout other than NCHW", {"data_layout": "NHWC"})
    other_message = bail("nn.conv2d_transpose", "different input-output layouts")
    other_group = bail("nn.conv1d", "input layout other than NCW")
    causes = by_cause((first, two, other_message, other_group))
    assert sorted(cause.findings for cause in causes if len(cause.findings) > 1) == [(first, two)]
    assert len(causes) == 3


def test_the_operators_in_the_messages_count_as_one() -> None:
    template = "RuntimeError: Legalization of {} op is not supported yet."
    results = [
        finding_of(Reduced(CASE, Outcome(Verdict.UNSUPPORTED, "LegalizeOps", name, text), {}))
        for name in ("nn.attention", "nn.attention_var_len")
        for text in (template.format(name.removeprefix("nn.")),)
    ]
    (cause,) = by_cause(results)
    assert set(cause.operators) == {"nn.attention", "nn.attention_var_len"}


def test_siblings_with_wrong_values_share_a_cause_by_what_they_are_blamed_on() -> None:
    def wrong(operator: str, blame: dict[str, str]) -> Finding:
        return finding_of(Reduced(CASE, Outcome(Verdict.WRONG_VALUE, "compare", operator), blame))

    first = wrong("nn.conv1d_transpose", {"stride.w": "2"})
    two = wrong("nn.conv2d_transpose", {"stride.h": "3"})
    three = wrong("nn.conv3d_transpose", {"groups": "2"})
    assert [cause.findings for cause in by_cause((first, two, three))] == [(first, two), (three,)]


def test_a_failed_check_of_a_pass_is_one_cause_whatever_the_operator() -> None:
    def crash(operator: str, stage: str, message: str) -> Finding:
        return finding_of(
            Reduced(CASE, Outcome(Verdict.OPAQUE_CRASH, stage, operator, message), {})
        )

    check = "InternalError: Check failed: (updated.count(var)) is false: Error: it was rewritten"
    first, second = (crash(name, "ConvertLayout", check) for name in ("split", "stack"))
    other = crash("split", "ConvertLayout", check.replace("updated", "known"))
    bare = [crash(name, "ConvertLayout", "IndexError: Index 1") for name in ("split", "stack")]
    lowered = [crash(name, "LegalizeOps", check) for name in ("split", "stack")]
    causes = by_cause((first, second, other, *bare, *lowered))
    assert [len(cause.findings) for cause in causes if first in cause.findings] == [2]
    assert len(causes) == 6


def test_a_check_that_fails_below_two_lowerings_is_two_causes() -> None:
    def crash(operator: str, place: str) -> Finding:
        message = "InternalError: Check failed: pb->value != 0 (0 vs. 0) : Divide by zero"
        details = {PLACE: place}
        outcome = Outcome(OPAQUE, "DispatchSortScan", operator, message, details=details)
        return finding_of(Reduced(CASE, outcome, {}))

    search = crash("bucketize", "topi/searchsorted.py:searchsorted > ir/expr.h:operator/")
    scan = crash("cumprod", "topi/scan.py:scanop > ir/expr.h:operator/")
    assert len(by_cause((search, scan))) == 2
    own = [crash(name, "transform/to.cc:VisitBinding_") for name in ("outer", "matmul")]
    assert len(by_cause(own)) == 1


def test_one_check_that_two_passes_run_on_one_operator_is_one_cause() -> None:
    message = "ValueError: Check failed: (is_int) is false: IntImm supports only int"
    crashes = [
        finding_of(Reduced(CASE, Outcome(OPAQUE, stage, "image.resize2d", message), {}))
        for stage in ("tirx.LowerIntrin", "codegen")
    ]
    assert len(by_cause(crashes)) == 1
    other = Outcome(OPAQUE, "codegen", "image.resize2d", message.replace("only", "none but"))
    assert len(by_cause((*crashes, finding_of(Reduced(CASE, other, {}))))) == 2


def test_wrong_results_that_one_fix_of_one_fault_cures_are_one_cause() -> None:
    def wrong(
        operator: str, blame: dict[str, str], fix: str, verdict: Verdict = Verdict.WRONG_VALUE
    ) -> Finding:
        finding = finding_of(Reduced(CASE, Outcome(verdict, "compare", operator), blame))
        return msgspec.structs.replace(finding, mended_by=fix)

    half = wrong("atanh", {"dtype": "float16"}, "functions")
    small = wrong("atanh", {"regime": "moderate"}, "functions")
    assert len(by_cause((half, small))) == 1
    for other in (
        wrong("acos", {"regime": "moderate"}, "functions"),
        wrong("atanh", {"regime": "moderate"}, "special"),
        wrong("atanh", {"regime": "moderate"}, ""),
        wrong("atanh", {"regime": "moderate"}, "functions", Verdict.WRONG_DTYPE),
    ):
        assert len(by_cause((half, other))) == 2
    broad = (wrong("nn.attention", {axis: "0"}, "") for axis in ("kv_len", "group"))
    assert len(by_cause(tuple(broad))) == 2


def test_errors_of_two_checks_that_one_fix_cures_are_two_causes() -> None:
    """As of packed layouts, of which ConvertLayout makes nothing, in one way or another."""

    def crash(operator: str, check: str, place: str = "") -> Finding:
        message = f"InternalError: Check failed: ({check}) is false: of {operator}"
        outcome = Outcome(OPAQUE, "ConvertLayout", operator, message, details={"place": place})
        finding = finding_of(Reduced(CASE, outcome, {"layout": operator}))
        return msgspec.structs.replace(finding, mended_by="packed")

    inner = "utils.cc:TransposeLike"
    rule = crash("nn.conv2d_transpose", "GetStoreRule")
    sibling = crash("nn.conv3d_transpose", "GetStoreRule")
    assert len(by_cause((rule, sibling))) == 1
    for other in (
        crash("nn.conv1d_transpose", "src.ndim == dst.ndim"),
        crash("nn.conv1d_transpose", "GetStoreRule", inner),
    ):
        assert sorted(len(cause.findings) for cause in by_cause((rule, other, sibling))) == [1, 2]
    # Whether or not somebody has a fix.
    places = ("utils.cc:AsNested", "a.cc:Map"), ("utils.cc:AsNested", "utils.cc:AsNested")
    for each in places:
        both = [
            msgspec.structs.replace(crash(operator, "IsNested", place), mended_by="")
            for operator, place in zip(("split", "nn.dropout"), each, strict=True)
        ]
        assert len(by_cause(both)) == len(set(each))
    # Two lowerings reach one check.
    through = [
        crash(f"nn.conv{rank}d_transpose", "rank == 4", f"topi/nn.py:conv{rank}d > {inner}")
        for rank in (1, 3)
    ]
    assert len(by_cause(through)) == 1


def test_a_cause_is_led_by_what_comes_again() -> None:
    outcome = Outcome(Verdict.SILENT_BAIL, "LegalizeOps", "sum", "left")

    def bail(size: int, count: int, confirmed: bool | None) -> Finding:
        nodes = (Node("y", "sum", ("x",)),)
        case = Case("toy", Program((Input("x", (size,), "int32"),), nodes, ("y",)))
        found = finding_of(Reduced(case, outcome, {}))
        return msgspec.structs.replace(found, count=count, confirmed=confirmed)

    (cause,) = by_cause((bail(3, 9, False), bail(2, 1, True)))
    assert (cause.confirmed, cause.lead.count, cause.count) == (True, 1, 10)
    assert [by_cause((bail(3, 9, alone),))[0].confirmed for alone in (False, None)] == [False, None]


def test_an_error_and_a_death_over_nothing_that_one_fix_cures_are_one_cause() -> None:
    def failing(verdict: Verdict, stage: str, operator: str, size: int, fix: str) -> Finding:
        nodes = (Node("y", operator, ("x",)),)
        case = Case("toy", Program((Input("x", (3, size), "int32"),), nodes, ("y",)))
        message = "E: Check failed: b != 0 (0 vs. 0) : Divide by zero"
        finding = finding_of(Reduced(case, Outcome(verdict, stage, operator, message), {}))
        return msgspec.structs.replace(finding, mended_by=fix)

    raises = failing(Verdict.OPAQUE_CRASH, "DispatchSortScan", "cumprod", 0, "scans")
    dies = failing(Verdict.PROCESS_DEATH, "run", "cumsum", 0, "scans")
    came, unseen = (
        msgspec.structs.replace(finding, confirmed=finding is raises) for finding in (raises, dies)
    )
    (cause,) = by_cause((came, unseen))
    # It is chance if the process dies.
    assert cause.confirmed is True
    assert by_cause((unseen,))[0].confirmed is False
    for other in (
        failing(Verdict.PROCESS_DEATH, "run", "cumsum", 2, "scans"),
        failing(Verdict.PROCESS_DEATH, "run", "cumsum", 0, ""),
        failing(Verdict.PROCESS_DEATH, "run", "sort", 0, "scans"),
    ):
        assert len(by_cause((raises, other))) == 2


def test_an_error_of_code_that_serves_all_operators_is_one_cause() -> None:
    def crash(operator: str, stage: str, message: str, verdict: Verdict) -> Finding:
        return finding_of(Reduced(CASE, Outcome(verdict, stage, operator, message), {}))

    intrinsic = 'InternalError: unknown intrinsic ir.Op(span=None, name="tirx.{0}", level=10)'
    call = "InternalError: {1} cannot emit it.\nOffending call:\nR.{0}(x)\n# Metadata omitted."
    refusal = "InternalError: Check failed: (data_type) is false: only support float32 for now"
    sort = "InternalError: Unsupported input dtype: int8"
    crashes = [
        *(crash(name, "codegen", intrinsic.format(name), OPAQUE) for name in ("acos", "sinh")),
        *(crash("erf", "codegen", call.format("erf", name), OPAQUE) for name in GENERATORS),
        crash("ewise_fma", "codegen", call.format("ewise_fma", "CodeGenVM"), OPAQUE),
        *(
            crash(name, "LegalizeOps", refusal, UNCLEAR)
            for name in ("nn.group_norm", "nn.rms_norm")
        ),
        *(crash(name, "run", sort, OPAQUE) for name in ("sort", "median")),
        crash("unique", "run", sort, OPAQUE),
    ]
    together = sorted(sorted(set(cause.operators)) for cause in by_cause(crashes))
    assert together == [
        ["acos", "sinh"],
        ["erf"],
        ["ewise_fma"],
        ["median", "sort"],
        ["nn.group_norm", "nn.rms_norm"],
        ["unique"],
    ]


def test_errors_from_one_place_with_one_message_are_one_cause() -> None:
    def crash(message: str, place: str, blame: dict[str, str]) -> Finding:
        outcome = Outcome(OPAQUE, "LegalizeOps", "index_put", message, details={PLACE: place})
        return finding_of(Reduced(CASE, outcome, blame))

    message = "ValueError: Cannot broadcast index shapes: [{}]"
    pair, triple = message.format("(m,), (m,)"), message.format("(k,), (k,), (k,)")
    first = crash(pair, "index_put.py:index_put", {"count": "symbol"})
    second = crash(triple, "index_put.py:index_put", {"symbolic": "first"})
    elsewhere = crash(pair, "index_put.py:other", {"count": "symbol", "depth": "2"})
    assert by_cause((first, second))[0].findings in ((first, second), (second, first))
    assert len(by_cause((first, second, elsewhere))) == 1, "one message of one operator"
    other = crash("ValueError: Cannot do it", "index_put.py:index_put", {})
    assert len(by_cause((first, second, other))) == 2
    # Without words an error at one place may have several reasons.
    place = "index_put.py:index_put"
    wordless = [crash("AssertionError:", place, {axis: "2"}) for axis in ("rank", "depth")]
    assert len(by_cause(wordless)) == 2


def test_sums_and_products_over_nothing_are_one_cause() -> None:
    def wrong(operator: str, blame: dict[str, str], m: int, *details: str) -> Finding:
        checks = tuple(
            Check({"m": size}, "out", None if size == m else 0.5, ("pytorch",)) for size in (4, m)
        )
        facts = dict.fromkeys(details, True)
        outcome = Outcome(Verdict.WRONG_VALUE, "compare", operator, checks=checks, details=facts)
        return finding_of(Reduced(CASE, outcome, blame))

    total = wrong("sum", {"symbolic": "first", "axis": "0"}, 0, UNDEFINED)
    inner = wrong("matmul", {"symbolic": "last"}, 0, UNDEFINED)
    assert len(by_cause((total, inner))) == 1
    # They are apart if they fail at another size, if they always come out alike, and from copies.
    assert len(by_cause((total, wrong("matmul", {"symbolic": "last"}, 5, UNDEFINED)))) == 2
    assert len(by_cause((total, wrong("matmul", {"symbolic": "last"}, 0)))) == 2
    assert len(by_cause((total, wrong("flip", {"symbolic": "last"}, 0, UNDEFINED)))) == 2
    # A pass that is blamed is a cause of its own, and so is NaN.
    passes = wrong("sum", {"symbolic": "last", PIPELINE: "x"}, 0, UNDEFINED)
    assert len(by_cause((total, passes))) == 2
    nan = [wrong("sum", {axis: "0"}, 0, NAN) for axis in ("axis", "rank")]
    assert len(by_cause(nan)) == 2


def test_undefined_memory_of_one_operator_over_empty_inputs_is_one_cause() -> None:
    def wrong(shape: tuple[int, ...], blame: dict[str, str]) -> Finding:
        program = Program((Input("x", shape, "float32"),), (Node("y", "flip", ("x",)),), ("y",))
        check = Check({}, "y", None, ("pytorch",))
        outcome = Outcome(
            Verdict.WRONG_VALUE, "compare", "flip", checks=(check,), details={UNDEFINED: True}
        )
        return finding_of(Reduced(Case("toy", program), outcome, blame))

    empty = [wrong((0, 2), {"axis": "0"}), wrong((3, 0), {"rank": "2"})]
    assert len(by_cause(empty)) == 1
    assert len(by_cause((*empty, wrong((3, 1), {"keepdims": "True"})))) == 2


def test_a_heap_that_two_siblings_overwrite_is_one_cause() -> None:
    def died(operator: str, shape: tuple[int, ...], blame: dict[str, str]) -> Finding:
        program = Program((Input("x", shape, "float32"),), (Node("y", operator, ("x",)),), ("y",))
        ending = Ending(signal="SIGABRT")
        outcome = Outcome(
            Verdict.PROCESS_DEATH, "run", operator, "free(): invalid next size", ending=ending
        )
        return finding_of(Reduced(Case("toy", program), outcome, blame))

    pair = (died("cumsum", (0,), {"axis": "0"}), died("cumprod", (0, 2), {"exclusive": "True"}))
    assert len(by_cause(pair)) == 1
    assert len(by_cause((*pair, died("cumsum", (3,), {"dtype": "int8"})))) == 2
    assert len(by_cause((*pair, died("flip", (0,), {"axis": "0"})))) == 2


def test_values_that_are_wrong_for_the_blame_of_another_finding_are_its_cause() -> None:
    def wrong(blame: dict[str, str], *details: str, operator: str = "index_tensor") -> Finding:
        facts = dict.fromkeys(details, True)
        outcome = Outcome(Verdict.WRONG_VALUE, "compare", operator, details=facts)
        return finding_of(Reduced(CASE, outcome, blame))

    first, more = wrong({"negative": "True"}), wrong({"negative": "True", "rank": "1"})
    assert len(by_cause((first, more))) == len(by_cause((more, first))) == 1
    # Memory out of bounds looks like anything, NaN only like NaN.
    assert len(by_cause((first, wrong({"negative": "True", "rank": "1"}, UNDEFINED)))) == 1
    assert len(by_cause((first, wrong({"negative": "True", "rank": "1"}, NAN)))) == 2
    # Neither another value, nor no blame at all, nor another operator, nor a pass says so.
    assert len(by_cause((more, wrong({"negative": "True", "rank": "3", "depth": "2"})))) == 2
    assert len(by_cause((wrong({}), first))) == 2
    assert len(by_cause((first, wrong({"negative": "True", "rank": "1"}, operator="take")))) == 2
    assert len(by_cause((wrong({PIPELINE: "x"}), wrong({PIPELINE: "x", "rank": "1"})))) == 1
    # One in the middle joins two that say nothing of each other.
    apart = wrong({"negative": "True", "depth": "2"})
    assert len(by_cause((more, apart))) == 2
    assert len(by_cause((more, apart, first))) == 1
    # A wider blame does not join the two that it contains.
    depth = wrong({"depth": "2"})
    rows = by_cause((first, depth, apart))
    assert sorted(len(row.findings) for row in rows) == [1, 1, 1]
    widest = wrong({"negative": "True", "rank": "1", "dtype": "int8"})
    assert [len(row.findings) for row in by_cause((widest, first, more))] == [3]


OPAQUE, UNCLEAR = Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED
NORMS = ("nn.group_norm", "nn.rms_norm")
GENERATORS = ("CodeGenVM", "CodeGenVMTIR")


def test_a_regression_is_not_the_cause_of_what_always_failed() -> None:
    bailing = bail("nn.conv1d_transpose", "input layout other than NCW")
    two = bail("nn.conv2d_transpose", "input layout other than NCHW")
    passed = {"0.25": Outcome(Verdict.PASS, release="0.25")}
    broke = msgspec.structs.replace(two.outcome, release="0.26", elsewhere=passed)
    assert len(by_cause((bailing, msgspec.structs.replace(two, outcome=broke)))) == 2


def test_the_worst_sibling_gives_a_cause_its_severity() -> None:
    invalid = msgspec.structs.replace(CASE, expect=Invalid("nn.x", ("dilation",)))

    def unchecked(verdict: Verdict, operator: str, count: int) -> Finding:
        result = unreduced(invalid, Outcome(verdict, "run", operator))
        return msgspec.structs.replace(result, count=count, confirmed=True)

    raises = unchecked(Verdict.OPAQUE_CRASH, "nn.conv1d_transpose", 9)
    accepts = unchecked(Verdict.ACCEPTS_INVALID, "nn.conv2d_transpose", 2)
    (cause,) = by_cause((raises, accepts))
    assert cause.findings == (accepts, raises)
    assert (cause.severity, cause.count, cause.confirmed) == (Severity.WRONG_RESULT, 11, True)


def test_maxima_and_averages_that_one_type_rule_does_not_check_are_one_cause() -> None:
    def unchecked(operator: str) -> Finding:
        invalid = msgspec.structs.replace(CASE, expect=Invalid(operator, ("pool_size",)))
        return unreduced(invalid, Outcome(Verdict.ACCEPTS_INVALID, "run", operator))

    pools = ("nn.avg_pool1d", "nn.avg_pool2d", "nn.max_pool3d")
    assert len(by_cause([unchecked(name) for name in pools])) == 1
    # Type rules of their own.
    others = ("nn.adaptive_avg_pool1d", "nn.conv2d", "nn.conv2d_transpose")
    assert len(by_cause([unchecked(name) for name in (*pools, *others)])) == 4
    # Their lowerings are two functions.
    wrong = [Outcome(Verdict.WRONG_VALUE, "compare", name) for name in pools]
    assert len(by_cause([finding_of(Reduced(CASE, each, {})) for each in wrong])) == 2


def test_causes_are_ordered_by_severity_then_by_how_common_they_are() -> None:
    def counted(verdict: Verdict, count: int) -> Finding:
        made = finding_of(Reduced(CASE, Outcome(verdict, "x", f"nn.{verdict}"), {}))
        return msgspec.structs.replace(made, count=count)

    split, value = counted(Verdict.ORACLE_SPLIT, 9), counted(Verdict.WRONG_VALUE, 1)
    crash, death = counted(Verdict.OPAQUE_CRASH, 3), counted(Verdict.PROCESS_DEATH, 5)
    clear = counted(Verdict.UNSUPPORTED, 7)
    causes = by_cause((split, clear, crash, death, value))
    assert [cause.lead for cause in causes] == [value, death, crash, clear, split]


def test_an_error_that_may_pass_for_rounding_leads_no_cause() -> None:
    slight, clear, rare = (
        msgspec.structs.replace(finding_of(Reduced(CASE, outcome, blame)), count=count)
        for outcome, blame, count in (
            (wrong(1.0000002, 1.0, 1e-8), {"beta": "2"}, 9),
            (wrong(1.1, 1.0, 1e-8), {"beta": "3"}, 2),
            (wrong(1.2, 1.0, 1e-8), {"beta": "4"}, 1),
        )
    )
    (cause,) = by_cause((slight, rare, clear))
    assert cause.findings == (clear, rare, slight)
