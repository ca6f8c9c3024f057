from collections.abc import Sequence

import pytest
import tvm
from msgspec.structs import replace
from tvm import relax
from tvm.script import relax as R
from tvm.script import tirx as T

from relaxcheck.generators.calls import form
from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.families import families
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.harness.known.corpus import Entry, entries
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.reports.programs.tvmscript import conditions, tvmscript
from tests.fixes.framework.lots import answers

# The text of a call has no body of a function.
FAMILIES = [family for family in families(("build",)) if family.record.form in ("call", "cast")]


def readable(entry: Entry) -> bool:
    """True if TVM does not die of it, and its parser takes it: each symbol is a dimension."""
    if not isinstance(entry.case, Case):
        return False
    program, outcome = entry.case.program, entry.expected.outcome
    bare = {dim for tensor in program.inputs for dim in tensor.shape}
    cast = {
        dim
        for node in program.nodes
        for value in node.attributes.values()
        if node.operator == "match_cast" and isinstance(value, ShapeValue)
        for dim in value.dims
    }
    died = outcome is not None and outcome.verdict is Verdict.PROCESS_DEATH
    # The text of a call has no body of a TIR function.
    calls = any(form(node.operator) not in ("call", "cast", "bare") for node in program.nodes)
    return set(program.symbols) <= bare | cast and not died and not calls


LOT = 8
"""Entries of the corpus that one process is asked about."""

READABLE = [entry for entry in entries() if readable(entry)]
LOTS = [READABLE[at : at + LOT] for at in range(0, len(READABLE), LOT)]


def alive(drawn: Sequence[Case]) -> list[Case]:
    """Those that TVM does not die of."""
    dead = answers([lambda case=case: emit(case) is None for case in drawn])
    return [case for case, dies in zip(drawn, dead, strict=True) if not dies]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_tvm_reads_the_text_as_the_program_that_it_is_given(family: OperatorFamily) -> None:
    read = alive(draw(cases(family), 3, 4))
    if not read:
        pytest.skip("TVM dies of the programs themselves")
    for case in read:
        assert_is_read(case)


@pytest.mark.parametrize("lot", LOTS, ids=lambda lot: lot[0].name)
def test_tvm_reads_the_text_of_the_corpus(lot: Sequence[Entry]) -> None:
    for case in alive([entry.case for entry in lot if isinstance(entry.case, Case)]):
        assert_is_read(case)


def assert_is_read(case: Case) -> None:
    # In the text constants are parameters, where they are declared.
    run_time = tuple(replace(tensor, constant=False) for tensor in case.program.inputs)
    emitted = emit(replace(case, program=replace(case.program, inputs=run_time)))
    # A type that TVM itself infers from a shape in a variable it takes for ill-formed.
    read = tvm.script.from_source(
        tvmscript(case.program),
        extra_vars={"R": R, "T": T, "relax": relax, "tvm": tvm},
        check_well_formed=False,
    )
    # Emission gives each output a name of its own.
    plain = tvm.relax.transform.CanonicalizeBindings()
    tvm.ir.assert_structural_equal(plain(tvm.IRModule({"main": read})), plain(emitted))


def test_a_symbol_of_an_attribute_is_declared_and_a_constant_is_marked() -> None:
    program = Program(
        (Input("x", ("B", 4), "float16"), Input("w", (4, 2), "float16", constant=True)),
        (
            Node("y", "matmul", ("x", "w"), {"out_dtype": "float32"}),
            Node("z", "reshape", ("y",), {"shape": ShapeValue(("2*B",))}),
        ),
        ("y", "z"),
    )
    assert tvmscript(program).splitlines() == [
        "@R.function",
        "def main(",
        '    x: R.Tensor(("B", 4), "float16"),',
        '    w: R.Tensor((4, 2), "float16"),  # constant',
        "):",
        "    B = T.int64()",
        "    with R.dataflow():",
        '        y = R.matmul(x, w, out_dtype="float32")',
        "        z = R.reshape(y, shape=R.shape([2*B]))",
        "        R.output(y, z)",
        "    return (y, z)",
    ]


def test_conditions_leave_out_what_a_static_program_does_not_have() -> None:
    program = Program((Input("x", ("B",), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",))
    text = dict(conditions(Case("toy", program, ({"B": 1}, {"B": 3}), also=("exact",), fixes=True)))
    assert text["bindings"] == "B = 1; B = 3"
    assert text["inputs"] == "normal, exact"
    assert text["fixes"] == "on"
    static = Program((Input("x", (2,), "float32"),), program.nodes, ("y",))
    assert "bindings" not in dict(conditions(Case("toy", static)))
