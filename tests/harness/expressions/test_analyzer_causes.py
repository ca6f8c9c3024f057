"""Findings about the analyzer are put together by the cause that their cases look like."""

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.cli.actions.algebra import causes as command
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.expressions.cases import ExpressionCase
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import Expression, Variable, variable
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.generators.expressions.text import parse
from relaxcheck.harness.expressions.analyzer_causes import (
    CAUSES,
    UNKNOWN,
    Cause,
    grouped,
    likely_cause,
)
from relaxcheck.harness.expressions.end_to_end import Compiled, of_the_analyzer
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.kinds import read
from relaxcheck.harness.outcomes.outcome import Ending, Outcome, Verdict
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.triage.finding import Finding, Reduced, finding_of
from relaxcheck.reports.expressions.analyzer_causes import Kernels, markdown, result_counts
from tests.harness.expressions.named_checks import asked

AXES = family().axes


def made(
    text: str,
    check: str = "simplify",
    message: str = "it is wrong",
    *,
    where: str | None = None,
    dtype: str = "int32",
    position: str = "analyzer",
    verdict: Verdict = Verdict.WRONG_VALUE,
    low: int = 0,
    ranges: str = "range",
) -> Finding:
    """A finding about ``text`` over x, of which ``check`` says ``message``."""
    x = Variable("x", dtype, low, 3)

    def parsed(each: str) -> Expression:
        return parse(each, {"x": variable(x)}, dtype)

    subject = Problem((x,), parsed(text), () if where is None else (parsed(where),), means=ranges)
    at = dict(complete(AXES, {"position": position}))
    case = ExpressionCase(family="algebra", at=at, subject=subject)
    details = msgspec.to_builtins(asked("raises" if verdict is CRASH else check))
    signal = "SIGFPE" if "SIGFPE" in message else ""
    ending = Ending(signal) if signal else None
    outcome = Outcome(
        verdict, "analysis", check, message, cause=text, ending=ending, details=details
    )
    made = finding_of(Reduced(case, outcome, {"expression": text}))
    return replace(made, confirmed=True)


CRASH = Verdict.OPAQUE_CRASH
LOOKS: Mapping[str, Finding] = {
    "a division by a constant 0 is computed by what compiles it": made(
        "if_then_else(x == 0, 0 // 0, 0)", "value", "Divide by zero", verdict=CRASH
    ),
    "a divisor or scale that becomes 0 in rewriting": made(
        "x % 8 - x", "index", "Check failed: pb->value != 0 (0 vs. 0) : Divide by zero"
    ),
    "an iterator gets two ranges (`rmod`, `rdiv`): a divisor that is negative": made(
        "x // (-1)", "index", "Binding of variable rmod as", position="index", verdict=CRASH
    ),
    "a division is taken out of its condition": made(
        "if_then_else(x == 0, 0, 1 // x)", "algebra", "worker ended with SIGFPE in compiled"
    ),
    "a division by a symbol that is 0 ends the process": made("1 % x", "algebra", "SIGFPE"),
    "a size without symbols is not folded": made(
        "15 // 8", "shape", "PrimExpr … is not computed", position="shape"
    ),
    "a size that is a condition within a condition": made(
        "if_then_else(x > 0, x, 0)", "shape", "Cannot find the FInferType attribute"
    ),
    "an extent that is negative": made("x - 1", "extent", "std::bad_alloc", position="extent"),
    "unsigned integers, and casts to them": made("int32(uint8(x)) > 0"),
    "int8 and int16, and casts to them": made("x * 3", "int_set", dtype="int16"),
    "what a remainder by a negative number tells, once it is assumed": made(
        "x % 3", where="x % (-3) == (-1)"
    ),
    "a shift by what may be negative": made("1 >> x", "const_int_bound", low=-1),
    "near the ends of the dtype": made("x >= (-2147483648)"),
    "a range that was told before stays": made("x * 6", "simplify-after-value"),
    "a truncated remainder is taken for one that is never negative, in a set": made(
        "truncmod(x, 2)", "int_set", low=-3
    ),
    "truncating division is taken for one that rounds down": made("truncmod(x, 2) < x + x"),
    "an index that counts down, divided": made("(1 - x) % 2", "iter_map_simplify"),
    "what `detect_iter_map` promises": made("x // 2 % 2", "detect_iter_map-surjective"),
    "an offset is dropped by what `detect_iter_map` takes for a bijection": made(
        "x % 4", "detect_iter_map", "gives x - 2", where="x >= 2"
    ),
    "two paddings are taken for one, in an index": made(
        "(x + 1) % 2 + x % 2", "index", position="index"
    ),
    "quotients and remainders by negative numbers": made(
        "x % (-2) // 2", "shape", position="shape"
    ),
    "the bounds of a remainder by a negative number": made("max(x, x % (-2)) >= 0"),
}


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.title)
def test_a_finding_of_each_cause_is_recognised(cause: object) -> None:
    title = cause.title  # type: ignore[attr-defined]
    (group,) = grouped([LOOKS[title]])
    assert group.title == title


def test_a_title_says_what_the_expression_has_and_what_tvms_users_call() -> None:
    narrow = LOOKS["int8 and int16, and casts to them"]
    again = LOOKS["a range that was told before stays"]
    titles = [likely_cause(each.case, each.outcome) for each in (narrow, again)]
    assert [each and each.title for each in titles] == [
        "TVM mishandles numbers near the ends of their dtype: x * 3 (int_set)",
        "the analyzer mishandles a second bind of a variable: x * 6 (simplify)",
    ]


def test_a_title_without_variables_has_the_dtypes_of_the_constants() -> None:
    failure = LOOKS["unsigned integers, and casts to them"]
    assert isinstance(failure.case, ExpressionCase)
    cast = parse("uint8(0 - 1)", {}, "int16")
    subject = replace(failure.case.subject, expression=cast, variables=())
    likely = likely_cause(replace(failure.case, subject=subject), failure.outcome)
    assert likely is not None
    assert ": uint8(0 - 1) of constants of int16 (" in likely.title


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.title)
def test_a_finding_of_each_cause_has_a_sentence_for_a_title(cause: Cause) -> None:
    failure = LOOKS[cause.title]
    likely = likely_cause(failure.case, failure.outcome)
    assert likely is not None
    assert isinstance(failure.case, ExpressionCase)
    cast = re.sub(",? or casts to (it|them)", "", cause.wrong)
    wrong = cause.wrong if "int32(uint8(x))" in str(failure.case.subject) else cast
    assert likely.title.startswith(f"{wrong}: {failure.case.subject.expression}")
    assert re.search(r" (mishandles|promises|raises|ends|does not compile)\b", cause.wrong)
    assert (CHECKOUT or Path()).joinpath(likely.page).is_file()
    assert set(likely.fixes) <= {fix.stem for fix in Path("fixes").rglob("*.py")}
    # What is asked of the analyzer alone passes no fix.
    assert not (likely.fixes and failure.case.position == "analyzer")


@pytest.mark.parametrize("text", ["x + 1", "x * 2 // 3", "min(x, 2) - x", "x << 2", "x % 5"])
def test_unlike_findings_have_no_cause(text: str) -> None:
    failure = made(text)
    (group,) = grouped([failure])
    assert group.title == UNKNOWN
    assert likely_cause(failure.case, failure.outcome) is None


@pytest.mark.parametrize(
    "finding",
    [
        made("x", "iter_map_simplify"),
        made("x // 2", "iter_map_simplify"),
        made("x // 2 + x % 2", "iter_map_simplify"),
        made("(x + 1) // 2 % 2", "iter_map_simplify"),
        made("x + 1", "index", position="index"),
        made("x + 1", "detect_iter_map-surjective"),
        made("x", "detect_iter_map-bijective"),
        made("x + 1", "detect_iter_map"),
        made("x // 2 + 1", "detect_iter_map"),
        made("(x % 2 + 2) // 4", "detect_iter_map"),
        # Nothing meets what is assumed.
        made("x % 4", "detect_iter_map", where="x > 3"),
    ],
    ids=lambda failure: f"{failure.operator} of {failure.case.subject.expression}",
)
def test_an_index_is_of_no_known_cause_by_its_position_alone(finding: Finding) -> None:
    (group,) = grouped([finding])
    assert group.title == UNKNOWN


@pytest.mark.parametrize(
    ("text", "check", "position", "message"),
    [
        ("x + 1", "value", "value", "x + 1 at x = 1 is not computed, and should be 1"),
        ("x + 1", "value", "value", "x + 1 at x = 1 is 1, and should be not to be computed"),
        ("7 + 8", "shape", "shape", "7 + 8 without variables is not computed, and should be 15"),
        # One with symbols is not for want of folding.
        ("x + 1", "shape", "shape", "PrimExpr … in function main has not been computed"),
        ("7 + 8", "value", "value", "PrimExpr … is not computed"),
    ],
)
def test_only_what_relax_says_of_a_size_without_symbols_is_one_that_is_not_folded(
    text: str, check: str, position: str, message: str
) -> None:
    (group,) = grouped([made(text, check, message, position=position)])
    assert group.title == UNKNOWN


@pytest.mark.parametrize(
    ("finding", "negative"),
    [
        (made("1 >> x"), False),
        (made("1 << x", low=-1), True),
        (made("1 << x", low=-1, where="x >= 0"), False),
        (made("1 >> (x - 1)"), True),
        (made("1 >> min(x, 0)"), False),
        (made("0 << (0 - 1)"), True),
        # An amount of which TVM is told no range may be negative to it.
        (made("1 >> x", ranges="nothing"), True),
    ],
    ids=lambda value: str(value.case.subject) if isinstance(value, Finding) else "",
)
def test_a_shift_may_be_negative_by_its_range(finding: Finding, negative: bool) -> None:
    (group,) = grouped([finding])
    assert group.title == ("a shift by what may be negative" if negative else UNKNOWN)


@pytest.mark.parametrize(
    ("text", "zero"),
    [
        ("x // 0", True),
        ("x // (x * 0)", True),
        ("x % (0 // 1)", True),
        ("x // (1 // 0)", True),
        ("x // max(x, 0)", False),
        ("(x + 0) // x", False),
        ("x // 2", False),
    ],
)
def test_a_divisor_is_a_constant_0_where_it_is_0_everywhere(text: str, zero: bool) -> None:
    (group,) = grouped([made(text, "value", "Divide by zero", verdict=CRASH)])
    of_zero, of_rewriting = [cause.title for cause in CAUSES[:2]]
    assert group.title == (of_zero if zero else of_rewriting)


def test_the_smallest_that_came_again_stands_first() -> None:
    large, small = made("(x + 1) - (x + 2)"), made("x + 1")
    doubtful = replace(made("x"), confirmed=False)
    (group,) = grouped([large, doubtful, small])
    assert group.findings == (small, large, doubtful)


def test_the_order_is_that_of_the_causes_and_the_unknown_is_last() -> None:
    titles = [group.title for group in grouped([made("x + 1"), *LOOKS.values()])]
    assert titles == [*(cause.title for cause in CAUSES), UNKNOWN]


def test_results_of_compiled_code_are_counted_by_the_worst() -> None:
    falling, other = LOOKS["an index that counts down, divided"], made("(2 - x) // 2", "index")
    index = made("(3 - x) // 2", "index", position="index")
    first, second = of_the_analyzer([falling, other])
    assert isinstance(falling.case, ExpressionCase)
    first.failed = {
        "value": (falling.case, Outcome(CRASH, message="raised")),
        "index": (falling.case, Outcome(Verdict.WRONG_VALUE, message="wrong")),
    }
    second.right = {"value"}
    by_finding = {each.finding.fingerprint: each for each in (first, second)}
    groups = grouped([falling, index])
    assert result_counts(groups[0], by_finding) == "wrong 2"
    text = markdown(groups, {}, Kernels("0.27", by_finding))
    assert "`(3 - x) // 2 with x: int32 in [0, 3]`" in text
    (unknown,) = grouped([other])
    assert result_counts(unknown, by_finding) == "right 1"
    second.right = set()
    assert result_counts(unknown, by_finding) == "–"


def test_uncompiled_expressions_do_not_count_as_without_room() -> None:
    groups = grouped([made("x + 1"), made("x + 2")])
    compiled = of_the_analyzer(groups[0].findings)[0]
    compiled.right = {"value"}
    without = markdown(groups, {})
    assert "ompiled" not in without
    assert "–" not in without
    kernels = Kernels("0.27", {compiled.finding.fingerprint: compiled})
    interrupted = markdown(groups, {}, kernels)
    assert "| right 1, not reached 1 |" in interrupted
    assert "*Not reached*" in interrupted
    assert "*Not reached*" not in markdown(grouped([compiled.finding]), {}, kernels)


def test_the_page_names_all_releases_and_the_one_that_compiled() -> None:
    described = {
        "release": "0.26 0.27",
        "apache-tvm": "0.27.0",
        "apache-tvm on 0.26": "0.26.0",
        "seed": "3",
    }
    groups = grouped([made("x + 1")])
    assert "apache-tvm 0.26.0, 0.27.0, seed 3: 1 finding, 0 known causes." in markdown(
        groups, described
    )
    assert "Compiled by" not in markdown(groups, described, Kernels("", {}))
    assert "Compiled by apache-tvm 0.25.0." in markdown(groups, described, Kernels("0.25.0", {}))


def campaign(folder: Path, *findings: Finding) -> Path:
    with Journal(folder, Mode.NEW) as journal:
        for finding in findings:
            journal.write_finding(finding.fingerprint, msgspec.json.encode(finding))
    return folder


def test_the_command_tells_what_is_new_and_writes_the_page(tmp_path: Path) -> None:
    runs = campaign(tmp_path / "runs", made("x + 1"), *LOOKS.values())
    page = tmp_path / "new" / "causes.md"
    ended = CliRunner().invoke(app, ["algebra", "causes", str(runs), "--out", str(page)])
    assert ended.exit_code == 0, ended.output
    assert f"{len(LOOKS) + 1} findings, 1 of no known cause" in ended.output
    text = page.read_text()
    assert text.count("\n## ") == len(CAUSES) + 1
    assert all(finding.fingerprint in text for finding in LOOKS.values())
    rows = [line for line in text.splitlines() if line.startswith("| none of these |")]
    assert rows == ["| none of these | 1 | 1 | 1 | `x + 1 with x: int32 in [0, 3]` |"]


def test_the_smallest_case_of_each_cause_is_written(tmp_path: Path) -> None:
    runs = campaign(tmp_path / "runs", made("x + 1"), *LOOKS.values())
    folder = tmp_path / "smallest"
    command = ["algebra", "causes", str(runs), "--cases", str(folder)]
    ended = CliRunner().invoke(app, command)
    assert ended.exit_code == 0, ended.output
    files = sorted(folder.iterdir())
    assert files[-1].name == f"{len(CAUSES) + 1}-none-of-these.json"
    assert [read(file) for file in files] == [
        group.findings[0].case for group in grouped([made("x + 1"), *LOOKS.values()])
    ]
    (tmp_path / "file").touch()
    ended = CliRunner().invoke(app, [*command[:-1], str(tmp_path / "file")])
    assert (ended.exit_code, "cannot write to" in ended.output) == (2, True)


@pytest.mark.tvm
def test_the_command_compiles_where_it_is_asked_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_of_them(pool: object, wanted: list[Compiled], screen: object) -> list[Compiled]:
        wanted[0].failed["index"] = wanted[0].case, Outcome(Verdict.WRONG_VALUE)
        return wanted[:1]

    monkeypatch.setattr(command, "compiled", one_of_them)
    falling = LOOKS["an index that counts down, divided"]
    for findings, code in (((falling,), 0), ((falling, made("x + 1")), 130)):
        runs = campaign(tmp_path / str(code), *findings)
        ended = CliRunner().invoke(app, ["algebra", "causes", str(runs), "--compile"])
        assert ended.exit_code == code, ended.output
        assert "wrong 1" in ended.output
        assert "compiled by apache-tvm 0." in ended.output
        assert ("not reached 1" in ended.output) == (code == 130)


@pytest.mark.tvm
def test_a_fault_of_ours_in_compiling_ends_it_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ours(pool: object, wanted: list[Compiled], screen: object) -> list[Compiled]:
        wanted[0].failed["index"] = wanted[0].case, Outcome(Verdict.HARNESS_ERROR)
        return wanted

    monkeypatch.setattr(command, "compiled", ours)
    runs = campaign(tmp_path / "runs", made("x + 1"))
    ended = CliRunner().invoke(app, ["algebra", "causes", str(runs), "--compile"])
    assert ended.exit_code == 3, ended.output
    assert "fails 1" in ended.output


def test_a_folder_is_refused_before_anything_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object) -> list[Compiled]:
        raise AssertionError

    monkeypatch.setattr(command, "compiled", never)
    runs = campaign(tmp_path / "runs", made("x + 1"))
    asked = ["algebra", "causes", str(runs), "--compile", "--out", str(tmp_path)]
    ended = CliRunner().invoke(app, asked)
    assert ended.exit_code == 2
    assert f"cannot write to {tmp_path}: it is a folder" in ended.output.replace("\n", "")


def test_without_a_finding_or_a_campaign_it_says_so(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["algebra", "causes", str(campaign(tmp_path / "none"))])
    assert ended.exit_code == 2
    assert "has no finding of the algebra family" in " ".join(ended.output.split())
    assert CliRunner().invoke(app, ["algebra", "causes", str(tmp_path / "no")]).exit_code == 2
