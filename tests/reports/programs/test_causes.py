"""Tests of an issue's sentences on the cause: siblings, and the fault in TVM's sources."""

import msgspec

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.issue import issue_text
from tests.cli.test_export import LEFT, failing


def test_an_issue_says_which_siblings_need_other_dimensions() -> None:
    def about(shape: tuple[int | str, ...]) -> str:
        program = Program((Input("x", shape, "float32"),), (Node("y", "exp", ("x",)),), ("y",))
        bindings = ({"m": 2},) if "m" in shape else ({},)
        left = msgspec.structs.replace(LEFT, operator="exp")
        repro = reproduction(Case("toy", program, bindings), left)
        return issue_text(
            repro, "It", "pass\n", {}, siblings=("asin", "acos"), symbolic=("acos", "exp")
        )

    both = "\nFailures of `relax.op.asin` and `relax.op.acos` have the same cause, as far as "
    both += "relaxcheck can tell; those of "
    assert f"{both}`relax.op.asin` need no symbolic dimension.\n" in about(("m",))
    assert f"{both}`relax.op.acos` were seen with symbolic dimensions alone.\n" in about((2,))


def test_an_issue_quotes_the_fault_in_the_sources() -> None:
    text = issue_text(reproduction(failing(), LEFT), "It", "pass\n", {}, fault="It is in `f.cc`.")
    assert "\n\nIt is in `f.cc`.\n\n" in text
