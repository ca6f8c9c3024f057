"""Drafts of rows for failures that none expects."""

from relaxcheck.harness.onnx.suite.expectations import Expectation
from relaxcheck.harness.onnx.suite.proposing import Draft, common, drafts
from relaxcheck.harness.onnx.suite.results import Result
from relaxcheck.harness.outcomes.outcome import Verdict

CRASH, WRONG, UNSUPPORTED = Verdict.OPAQUE_CRASH, Verdict.WRONG_VALUE, Verdict.UNSUPPORTED


def by_name(*results: Result) -> dict[str, Result]:
    return {result.name: result for result in results}


def test_failures_of_one_message_are_one_row_over_operators_and_releases() -> None:
    def failing(name: str, operator: str, where: str) -> Result:
        message = f"ValueError: Type <class 'tvm.{where}.Var'> for scale 3 is not known here."
        return Result(name, operator, 13, CRASH, "import", message)

    old = by_name(failing("a", "Resize", "relax"))
    new = by_name(failing("a", "Resize", "relax"), failing("b", "Upsample", "relax"))
    assert list(drafts({"0.26": old, "0.27": new}, ())) == [
        Draft(
            "",
            "",
            CRASH,
            "ValueError: Type <class 'tvm.relax.Var'> for scale 3 is not known here.",
            {"0.26": 1, "0.27": 2},
            ("Resize", "Upsample"),
        )
    ]


def test_lists_of_missing_operators_are_one_row() -> None:
    start = "OpNotImplemented: The following operators are not supported for frontend ONNX: "
    results = by_name(
        Result("a", "Loop", 13, UNSUPPORTED, "import", f"{start}Loop"),
        Result("b", "Scan", 13, UNSUPPORTED, "import", f"{start}Scan, CastLike"),
    )
    (draft,) = drafts({"0.27": results}, ())
    assert draft.message == start.strip()
    assert draft.operators == ("Loop", "Scan")


def test_wrong_results_are_one_row_for_each_operator() -> None:
    results = by_name(
        Result("a", "IsInf", 13, WRONG, "compare", "output y: 1 of 6 elements differ"),
        Result("b", "IsInf", 13, WRONG, "compare", "output y: 2 of 6 elements differ"),
        Result("c", "Mod", 13, WRONG, "compare", "output z: 2 of 6 elements differ"),
        Result("d", "Mod", 13, Verdict.PASS),
    )
    found = [(draft.operators, draft.message) for draft in drafts({"0.27": results}, ())]
    assert found == [
        (("IsInf",), "of 6 elements differ"),
        (("Mod",), "output z: 2 of 6 elements differ"),
    ]


def test_what_a_row_expects_is_not_proposed() -> None:
    row = Expectation(
        name="mod",
        why="NaN.",
        verdict=WRONG,
        message="elements differ",
        releases={"0.27": 1},
        operators=("Mod",),
    )
    results = by_name(Result("c", "Mod", 13, WRONG, "compare", "output z: 2 of 6 elements differ"))
    assert list(drafts({"0.27": results}, (row,))) == []
    assert len(list(drafts({"0.26": results}, (row,)))) == 1


def test_the_part_that_messages_share_is_long_or_the_shortest_message() -> None:
    assert common(["node a: axes are constants", "node b: axes are constants!"]) == (
        ": axes are constants"
    )
    assert common(["KeyError: 'a'", "TypeError"]) == "TypeError"
