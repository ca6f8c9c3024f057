"""Every pass of the running TVM is in the registry, and is applied and checked."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
import tvm
from tvm import relax
from tvm.script import relax as script

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api.functions import return_type
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.passes import OUT, PASSES, known
from relaxcheck.generators.passes.calls import prepared
from relaxcheck.harness.compiling.passes import making
from relaxcheck.harness.compiling.passes.checks import CHECKS, KEPT, serializes, wider
from relaxcheck.harness.compiling.passes.details import BROKEN, CHANGED, RAN, UNCOMPILED
from relaxcheck.harness.compiling.passes.stages import OwnFault
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs import wellformed
from relaxcheck.harness.programs.execute import apply, execute
from relaxcheck.reports.programs.program_text import program_lines

Damage = Callable[[Any], Any]


def test_every_name_of_transform_is_in_the_registry_or_out() -> None:
    names = {
        name
        for name, value in vars(relax.transform).items()
        if not name.startswith("_") and callable(value) and not inspect.ismodule(value)
    }
    assert names - set(PASSES) - set(OUT) == set()
    assert set(PASSES) - names == set()


def with_a_function(name: str) -> Case:
    """A program of two calls of a private function, for the pass ``name``."""
    inner = Program(
        (Input("a", ("n",), "float32"), Input("b", ("n",), "float32")),
        (Node("c", "subtract", ("a", "b")), Node("d", "exp", ("c",))),
        ("d",),
    )
    how = {"function": "inner", "sizes": ShapeValue(("m",))}
    calls = (Node("y", "call", ("x", "z"), dict(how)), Node("w", "call", ("y", "x"), dict(how)))
    inputs = (Input("x", ("m",), "float32"), Input("z", ("m",), "float32"))
    program = Program(inputs, calls, ("y", "w"), {"inner": inner})
    return Case("passes", program, ({"m": 3},), passes=prepared([(PASSES[name], {})]))


def _case(name: str = "CanonicalizeBindings") -> Case:
    draft = Draft("float32")
    value = draft.start((2, 3))
    value = draft.call("nn.relu", [value], (2, 3))
    draft.call("add", [value, draft.input((2, 3))], (2, 3))
    return Case("passes", draft.program(), passes=prepared([(PASSES[name], {})]))


@pytest.mark.parametrize("name", ["CanonicalizeBindings", "FuseTIR", "VMShapeLower"])
def test_a_right_pass_passes_every_check(name: str) -> None:
    outcome = execute(_case(name))
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert outcome.details[RAN] == [name]
    assert outcome.details[CHANGED] == [name]
    assert BROKEN not in outcome.details


def test_passes_are_applied_and_checked_without_compiling() -> None:
    stages: list[str] = []
    outcome = apply(_case("FuseTIR"), stages.append)
    assert outcome.verdict is Verdict.NO_ORACLE
    assert outcome.details[RAN] == outcome.details[CHANGED] == ["FuseTIR"]
    assert outcome.details[UNCOMPILED]
    assert {"emit", "FuseTIR"} <= set(stages)
    assert not {"VMShapeLower", "load", "run"} & set(stages)


@pytest.mark.parametrize(
    ("name", "passing"), [("ExpandTupleArguments", "tuple"), ("LambdaLift", "local")]
)
def test_a_pass_of_functions_changes_the_calls_that_it_is_for(name: str, passing: str) -> None:
    inner = Program(
        (Input("a", ("n",), "float32"), Input("b", ("n",), "float32")),
        (Node("c", "subtract", ("a", "b")), Node("d", "exp", ("a",))),
        ("c", "d"),
    )
    how = {"function": "inner", "sizes": ShapeValue(("m",)), "passing": passing}
    calls = [Node(f"y{item}", "call", ("x", "z"), {**how, "item": item}) for item in (0, 1)]
    inputs = (Input("x", ("m",), "float32"), Input("z", ("m",), "float32"))
    again = Node("w", "call", ("y1", "x"), {**how, "item": 0})
    program = Program(inputs, (*calls, again), ("y0", "w"), {"inner": inner})
    case = Case("passes", program, ({"m": 3},), passes=prepared([(PASSES[name], {})]))
    wellformed.check(case)
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert outcome.details[CHANGED] == [name]
    lines = program_lines(case, {each.name: each.name for each in (*inputs, *program.nodes)})
    space: dict[str, Any] = {"relax": relax, "tvm": tvm, "tirx": tvm.tirx, "R": script}
    exec("\n".join(lines), space)
    tvm.ir.assert_structural_equal(space["program"](), emit(case), map_free_vars=True)


PREPARED = [each.name for each in PASSES.values() if any(known(name).source for name in each.after)]


@pytest.mark.parametrize("name", PREPARED)
def test_a_pass_changes_what_is_prepared_for_it(name: str) -> None:
    case = with_a_function(name)
    wellformed.check(case)
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert outcome.details[CHANGED] == [name]


def test_an_attribute_is_kept_by_a_function_that_takes_another_s_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = "NormalizeGlobalVar"
    real = making.made

    def careless(call: Any, case: Case) -> Any:
        own = real(call, case)
        return own if call.name != name else lambda module: _without_attributes(own(module))

    monkeypatch.setattr("relaxcheck.harness.compiling.passes.applying.made", careless)
    outcome = execute(with_a_function(name))
    assert outcome.verdict is Verdict.BROKEN_MODULE
    assert f"{name}: does not keep attributes: drops kept of a function" in outcome.message


@pytest.mark.parametrize("name", ["ExpandTupleArguments", "RemoveUnusedOutputs"])
def test_a_pass_that_only_drops_useless_bindings_besides_changes_nothing(name: str) -> None:
    """The program has no private function, which is what these passes are about."""
    outcome = execute(_case(name))
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert (outcome.details[RAN], outcome.details[CHANGED]) == ([name], [])


def _without_attributes(module: Any) -> Any:
    return tvm.IRModule(
        {each: function.without_attr(KEPT) for each, function in module.functions.items()}
    )


def _undefined(module: Any) -> Any:
    main = module["main"]
    inner = relax.Function(main.params[:1], main.body, return_type(main), attrs=main.attrs)
    return tvm.IRModule({module.get_global_var("main"): inner})


def _unlike_itself(module: Any) -> Any:
    number = int(module["main"].attrs.get("count", 0)) + 1
    return tvm.IRModule({module.get_global_var("main"): module["main"].with_attr("count", number)})


def _less_precise(module: Any) -> Any:
    main = module["main"]
    wide = tvm_api.unshaped_type(2, "float32")
    result = relax.Var("result", wide)
    cast = relax.BindingBlock([relax.MatchCast(result, main.body.body, wide)])
    body = relax.SeqExpr([*main.body.blocks, cast], result)
    inner = relax.Function(main.params, body, wide, attrs=main.attrs)
    made = tvm.IRModule({module.get_global_var("main"): inner})
    return relax.transform.Normalize()(made)


@pytest.mark.parametrize(
    ("damage", "check"),
    [
        (_less_precise, "makes types of main less precise"),
        (_without_attributes, "does not keep attributes"),
        (_undefined, "leaves the module ill-formed"),
        (_unlike_itself, "changes its own result when it is applied again"),
    ],
)
def test_a_damaged_module_is_noticed(
    damage: Damage, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = making.made

    def damaging(*arguments: Any) -> Any:
        made(*arguments)
        return tvm.transform.module_pass(lambda module, _: damage(module), opt_level=0, name="P")

    monkeypatch.setattr("relaxcheck.harness.compiling.passes.applying.made", damaging)
    outcome = execute(_case())
    assert any(check in line for line in outcome.details[BROKEN])
    if outcome.verdict is not Verdict.OPAQUE_CRASH:
        assert (outcome.verdict, outcome.stage) == (Verdict.BROKEN_MODULE, "CanonicalizeBindings")
        assert outcome.cause.startswith(check)


def test_a_failure_after_a_broken_module_keeps_its_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CHECKS, "is checked", lambda applied: "for a reason")
    monkeypatch.setattr(
        "relaxcheck.harness.compiling.passes.applying.made",
        lambda *_: tvm.transform.module_pass(lambda module, _: 1 / 0, opt_level=0, name="P"),
    )
    assert execute(_case()).verdict is Verdict.OPAQUE_CRASH


def test_faults_of_the_checks_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(applied: Any) -> str:
        raise ValueError("a fault of ours")

    monkeypatch.setitem(CHECKS, "is checked", fails)
    with pytest.raises(Exception, match="a fault of ours"):
        execute(_case())


def test_arguments_that_a_release_does_not_take_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relax.transform, "CanonicalizeBindings", lambda needed: needed)
    with pytest.raises(OwnFault, match="making CanonicalizeBindings"):
        execute(_case())


def test_serialization_is_asked_once() -> None:
    assert serializes() is serializes()


def _type(*dims: Any) -> Any:
    return tvm_api.tensor_type(dims, "float32")


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        (_type(2, 3), _type(2, 3), ""),
        (_type(2, 3), _type(2, tvm_api.shape_var("n")), "has lost the size 3 of axis 1"),
        (_type(2, 3), _type(2, 4), "has lost the size 3 of axis 1"),
        (_type(tvm_api.shape_var("n")), _type(5), ""),
        (_type(2, 3), _type(6), "has 1 axes for 2"),
        (_type(2, 3), tvm_api.unshaped_type(2, "float32"), "has lost its shape"),
        (tvm_api.unshaped_type(2, "float32"), tvm_api.unshaped_type(-1, "float32"), "its rank"),
    ],
)
def test_a_type_that_is_less_precise_is_noticed(before: Any, after: Any, lost: str) -> None:
    assert (lost in wider(before, after)) if lost else not wider(before, after)
