"""A known gap turns exactly its failure into an expected one, and tells when it is stale."""

from pathlib import Path

import msgspec
import pytest

from generators.program import Case, CaseError, Input, Node, Program
from harness.gaps import Gap, Met, known_gaps
from harness.outcome import Outcome, Verdict

CASE = Case(
    "toy",
    Program((Input("x", (1,), "float32"),), (Node("y", "toy.op", ("x",)),), ("y",)),
    fixes=True,
)
GAP = Gap(
    name="toy-bfloat16",
    operator="toy.op",
    when={"dtype": ("bfloat16", "float16")},
    releases=("0.27",),
    verdict=Verdict.OPAQUE_CRASH,
    issue=None,
    expires="2027-01-01",
    reason="code generation of a runtime function that only C++ can add",
    message="undefined symbol",
    fixes=True,
)
POINT = {"dtype": "bfloat16", "size": 3}
TVM = {"apache-tvm": "0.27.0.post1"}
FAILED = Outcome(Verdict.OPAQUE_CRASH, "load", None, "RuntimeError: undefined symbol __x")


def test_the_declared_failure_is_expected_and_counted() -> None:
    met = Met()
    assert met.meet((GAP,), CASE, POINT, FAILED, TVM) == "toy-bfloat16"
    assert met.lines((GAP,), "2026-12-01") == {f"known gap toy-bfloat16: {GAP.reason}": 1}


@pytest.mark.parametrize(
    ("case", "point", "outcome", "tvm"),
    [
        (CASE, {**POINT, "dtype": "float32"}, FAILED, TVM),
        (CASE, {}, FAILED, TVM),
        (CASE, POINT, msgspec.structs.replace(FAILED, message="another"), TVM),
        (CASE, POINT, msgspec.structs.replace(FAILED, verdict=Verdict.WRONG_VALUE), TVM),
        (CASE, POINT, FAILED, {"apache-tvm": "0.28.0"}),
        (msgspec.structs.replace(CASE, fixes=False), POINT, FAILED, TVM),
    ],
)
def test_any_other_failure_is_not(
    case: Case, point: dict[str, object], outcome: Outcome, tvm: dict[str, str]
) -> None:
    met = Met()
    assert met.meet((GAP,), case, point, outcome, tvm) is None  # type: ignore[arg-type]
    assert met == Met()


def test_a_gap_that_passes_is_stale_unless_it_also_fails() -> None:
    met = Met()
    met.meet((GAP,), CASE, POINT, Outcome(Verdict.PASS), TVM)
    assert met.lines((GAP,), "2026-12-01") == {
        "stale gap toy-bfloat16: it passes now, remove it": 1
    }
    other = Met()
    other.meet((GAP,), CASE, POINT, FAILED, TVM)
    met.add(other)
    assert list(met.lines((GAP,), "2026-12-01")) == [f"known gap toy-bfloat16: {GAP.reason}"]


def test_an_expired_gap_says_so() -> None:
    met = Met({"toy-bfloat16": 2})
    (said,) = met.lines((GAP,), "2027-01-02")
    assert "expired on 2027-01-01" in said


def test_the_declared_gaps_can_be_read_and_a_malformed_file_is_one_line(tmp_path: Path) -> None:
    assert isinstance(known_gaps(), tuple)
    bad = tmp_path / "gaps.json"
    bad.write_text('[{"name": "x", "nonsense": 1}]')
    with pytest.raises(CaseError, match=r"gaps\.json") as error:
        known_gaps(bad)
    assert "\n" not in str(error.value)
