"""Cases whose native code is generated and linked at once give what each gives alone."""

from collections.abc import Iterator, Sequence
from itertools import islice

import msgspec
import pytest
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.families import families
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling import late_linking
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.native.link import LinkError
from relaxcheck.harness.outcomes.outcome import Check, Outcome, Verdict
from relaxcheck.harness.programs import compile as compiling
from relaxcheck.harness.programs.execute import execute, execute_together

SIZE = 8
Told = tuple[Verdict, str | None, str | None, str, tuple[Check, ...], tuple[str, ...]]


def groups(fixes: bool, seed: int, count: int) -> Iterator[list[Case]]:
    drawn = stream(families(tuple(PIPELINES)), seed)
    while count:
        count -= 1
        yield [msgspec.structs.replace(case, fixes=fixes) for case in islice(drawn, SIZE)]


def generating(cases: Sequence[Case]) -> tuple[list[Case], list[Outcome]]:
    """Those of ``cases`` whose code can be generated, each with its outcome alone.

    The others end the stage that all share; workers run such a group one by one.
    """
    alone = [(case, execute(case)) for case in cases]
    kept = [(case, outcome) for case, outcome in alone if outcome.stage != "codegen"]
    return [case for case, _ in kept], [outcome for _, outcome in kept]


def comparable(outcomes: Sequence[Outcome]) -> list[Told]:
    # A wrong value may be what was in memory before: the elements then differ each time.
    return [
        (
            outcome.verdict,
            outcome.stage,
            outcome.operator,
            outcome.message,
            outcome.checks,
            outcome.oracles,
        )
        if outcome.verdict is not Verdict.WRONG_VALUE
        else (outcome.verdict, outcome.stage, outcome.operator, "", (), outcome.oracles)
        for outcome in outcomes
    ]


@pytest.mark.parametrize("fixes", [True, False])
def test_outcomes_of_cases_together_are_those_of_each(fixes: bool) -> None:
    seen = []
    # By this seed three verdicts occur without the fixes, as the last line asks for.
    for cases in groups(fixes, seed=15, count=3):
        chosen, alone = generating(cases)
        together = list(execute_together(chosen, lambda number, stage: None))
        assert comparable(together) == comparable(alone)
        seen += together
    assert len(seen) > 2 * SIZE
    # Some reached native code, and without the fixes some failed.
    assert any(outcome.checks for outcome in seen)
    assert fixes or len({outcome.verdict for outcome in seen}) > 2


def test_functions_that_call_each_other_find_each_other() -> None:
    family = dynamic.family(("build",))
    point = complete(family.axes, {"form": "function"})
    cases = [family.build(point, seed) for seed in (0, 1)]
    outcomes = execute_together(cases, lambda number, stage: None)
    assert [outcome.verdict for outcome in outcomes] == [Verdict.PASS] * 2


def test_the_code_of_all_is_generated_and_linked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    (cases,) = groups(fixes=True, seed=7, count=1)
    libraries = []

    def counted(module: object) -> object:
        libraries.append(shared_library(module))
        return libraries[-1]

    shared_library = late_linking.shared_library
    monkeypatch.setattr(late_linking, "shared_library", counted)
    outcomes = list(execute_together(cases, lambda number, stage: None))
    late = [case for case in cases if compiling.can_link_late(case)]
    assert len(late) > SIZE // 2
    assert len(libraries) == 1
    # A case whose elements all have room ran as well: it has no verdict for that alone.
    assert {outcome.verdict for outcome in outcomes} <= {
        Verdict.PASS,
        Verdict.REJECTED,
        Verdict.NO_ORACLE,
    }
    assert Verdict.PASS in {outcome.verdict for outcome in outcomes}


def test_messages_do_not_show_that_there_were_others() -> None:
    (cases,) = groups(fixes=False, seed=8, count=1)
    for outcome in execute_together(generating(cases)[0], lambda number, stage: None):
        assert "relaxcheck" not in outcome.message


def test_a_linker_that_fails_is_no_outcome_of_any(monkeypatch: pytest.MonkeyPatch) -> None:
    (cases,) = groups(fixes=True, seed=9, count=1)
    stages: list[tuple[int | None, str]] = []
    monkeypatch.setattr("relaxcheck.harness.native.link._LINKER", "false")
    outcomes = execute_together(cases, lambda number, stage: stages.append((number, stage)))
    with pytest.raises(LinkError):
        next(outcomes)
    assert stages[-1] == (None, "link")


def test_a_program_whose_prefix_tvm_cannot_read_is_compiled_without_one() -> None:
    program = Program(
        (Input("x", (3, 4), "float32"),),
        (Node("y", "topk", ("x",), {"k": 2, "ret_type": "values"}),),
        ("y",),
    )
    cases = [Case("topk", program, seed=seed) for seed in range(2)]
    together = list(execute_together(cases, lambda number, stage: None))
    assert [outcome.verdict for outcome in together] == [Verdict.PASS] * 2


def test_functions_call_each_other_by_their_new_names() -> None:
    builder = relax.BlockBuilder()
    type_ = tvm_api.tensor_type((2,), "float32")
    inner, outer = relax.Var("x", type_), relax.Var("x", type_)
    with builder.function("other", [inner]):
        builder.emit_func_output(builder.emit(relax.op.negative(inner)))
    other = builder.get().get_global_var("other")
    with builder.function("main", [outer]):
        builder.emit_func_output(builder.emit(relax.Call(other, [outer])))
    module = late_linking.named(builder.get(), "p_")
    finished = late_linking.hand_over(tvm.transform.Sequential([]), "p_")(module)
    assert {str(variable.name_hint) for variable in finished.get_global_vars()} == {
        "p_main",
        "p_other",
    }
    (block,) = finished["p_main"].body.blocks
    assert str(block.bindings[0].value.op.name_hint) == "p_other"
