"""The sentences that issues, scripts and texts of imported models and programs share."""

import msgspec
import pytest

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.reports.imported import behind, of_dtypes, run_to_show, seen, with_bindings

PROGRAM = Program((Input("x", ("n",), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
CASE = Case("relu", PROGRAM, ({"n": 1}, {"n": 2}), also=("exact",))
WRONG = Outcome(Verdict.WRONG_VALUE, "compare", None, "")


@pytest.mark.parametrize(
    ("blame", "end"),
    [
        ({}, ""),
        ({"opset": "13", "axis": "-1"}, " with opset 13, axis=-1"),
        ({"with value": "True", "with axes": "False"}, " with value, no axes"),
        ({"size": "0", "dims": "4"}, " with 0 among the sizes, 4 dimensions"),
        ({"axes of": "int32", "rank": "3"}, " with axes of int32, rank 3"),
        ({"size": "none"}, " with no elements"),
    ],
)
def test_the_end_of_a_title_has_the_settings(blame: dict[str, str], end: str) -> None:
    assert behind(blame, {("size", "none"): "no elements"}) == end


def test_dtypes_stand_behind_the_subject_of_a_title() -> None:
    assert of_dtypes([]) == ""
    assert of_dtypes(["int8", "float16"]) == " of int8, float16"


def test_bindings_stand_behind_the_way_to_run() -> None:
    assert with_bindings("as it is", CASE) == "# as it is; bindings n=1; n=2"
    static = Program((Input("x", (2,), "float32"),), PROGRAM.nodes, ("y",))
    assert with_bindings("as it is", Case("relu", static)) == "# as it is"


def test_a_script_shows_the_first_run_that_is_wrong() -> None:
    right = Check({"n": 1}, "y", 0.5, ())
    wrong = Check({"n": 2}, "y", None, (), regime="exact")
    assert run_to_show(CASE, WRONG) == (0, "normal")
    outcome = msgspec.structs.replace(WRONG, checks=(right, wrong))
    assert run_to_show(CASE, outcome) == (1, "exact")


def test_a_script_says_on_which_release_it_was_seen() -> None:
    on = {"apache-tvm": "0.27.0"}
    assert seen(WRONG, on) == "Seen with apache-tvm 0.27.0."
    assert seen(Outcome(Verdict.PASS, None, None, ""), on) == "Gone with apache-tvm 0.27.0."
    assert seen(WRONG, {}) == ""
