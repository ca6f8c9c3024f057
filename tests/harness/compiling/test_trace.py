"""Traces: what is written while passes run, and what is read from it."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import tvm
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.generators.emission.programs import emit
from relaxcheck.harness.compiling import tracing
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.tracing import Tracer
from relaxcheck.harness.kind import Tracing
from relaxcheck.harness.programs.compile import build
from relaxcheck.harness.triage.bisection.trace import Trace, read

Module = Any


def module(number: int = 0) -> Module:
    builder = relax.BlockBuilder()
    with builder.function("main", [x := relax.Var("x", tvm_api.tensor_type((2,), "float32"))]):
        builder.emit_func_output(x)
    return builder.get().with_attr("number", number)


def to(number: int, name: str, *inside: Callable[[Module], Module]) -> Any:
    """A pass ``name`` that gives the module ``number`` after it ran what is ``inside``."""

    def run(module: Module, context: Any) -> Module:
        for step in inside:
            module = step(module)
        return module if number < 0 else module.with_attr("number", number)

    return tvm.transform.module_pass(run, opt_level=0, name=name)


KEEP = -1


def traced(tmp_path: Path, *passes: Any, **options: Any) -> Trace:
    file = tmp_path / "trace"
    tracer = Tracer(Tracing(str(file), **options))
    with tvm.transform.PassContext(instruments=[tracer]):
        start = module()
        for step in passes:
            start = step(start)
    return read(file)


def steps(trace: Trace) -> list[tuple[str, bool]]:
    return [(step.path, step.changed) for step in trace.steps]


def test_a_pass_that_only_runs_others_is_no_step(tmp_path: Path) -> None:
    pipeline = to(KEEP, "pipeline", tvm.transform.Sequential([to(1, "A"), to(KEEP, "B")]))
    assert steps(traced(tmp_path, pipeline, to(2, "A"))) == [
        ("pipeline/sequential/A", True),
        ("pipeline/sequential/B", False),
        ("A", True),
    ]


def test_a_pass_that_does_something_after_others_is_a_step_after_them(tmp_path: Path) -> None:
    both = to(3, "Both", to(1, "A"), to(2, "A"))
    assert steps(traced(tmp_path, both)) == [("Both/A", True), ("Both/A#2", True), ("Both", True)]


def test_passes_on_another_module_are_no_steps(tmp_path: Path) -> None:
    def aside(program: Module) -> Module:
        to(9, "Side", to(10, "Inside"))(module(8))
        return program

    assert steps(traced(tmp_path, to(1, "Fold", aside), to(2, "A"))) == [
        ("Fold", True),
        ("A", True),
    ]


def test_a_caught_error_hides_nothing(tmp_path: Path) -> None:
    def fails(program: Module) -> Module:
        raise ValueError("no")

    def aside(program: Module) -> Module:
        for start in (8, 0):
            with pytest.raises(ValueError, match="no"):
                to(9, "Side", fails)(module(start))
        return program

    trace = traced(tmp_path, to(1, "Fold", aside), to(2, "A"))
    assert steps(trace) == [("Fold", True), ("A", True)]
    assert trace.unfinished is None


def test_skipped_passes_keep_their_number(tmp_path: Path) -> None:
    passes = (to(1, "A"), to(2, "A"), to(3, "B", to(4, "A")))
    assert steps(traced(tmp_path, *passes, without=("A",))) == [
        ("A#2", True),
        ("B/A", True),
        ("B", True),
    ]


def test_the_step_that_is_wanted_is_shown(tmp_path: Path) -> None:
    trace = traced(tmp_path, to(1, "A"), to(2, "A"), to(3, "A"), show="A#2")
    assert trace.before is not None
    assert trace.after is not None
    assert '"number": 1' in trace.before
    assert '"number": 2' in trace.after


def test_the_fixes_are_on_while_a_step_runs_and_only_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on: list[str] = []

    def install() -> None:
        # As the real ones do, to see whether they are needed: it is none of the program's passes.
        to(9, "A")(module(8))
        on.append("fixes")

    monkeypatch.setattr(tracing, "fixes", SimpleNamespace(install=install, uninstall=on.clear))
    seen: list[tuple[str, ...]] = []

    def look(program: Module) -> Module:
        seen.append(tuple(on))
        return program

    passes = (to(1, "A", look), to(2, "A", look), to(3, "A", look))
    trace = traced(tmp_path, *passes, fixed=("A#2",))
    assert seen == [(), ("fixes",), ()]
    assert steps(trace) == [("A", True), ("A#2", True), ("A#3", True)]


def test_a_pass_that_raised_is_unfinished(tmp_path: Path) -> None:
    def fails(program: Module) -> Module:
        to(9, "Side", raises)(module(8))
        return program

    def raises(program: Module) -> Module:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        traced(tmp_path, to(1, "A"), to(KEEP, "pipeline", to(2, "Broken", fails)))
    trace = read(tmp_path / "trace")
    assert steps(trace) == [("A", True)]
    # The pass on the program, not what it ran on the side.
    assert trace.unfinished is not None
    assert trace.unfinished.path == "pipeline/Broken"


def undefined(module: Module) -> Module:
    """``module`` whose result nothing defines."""
    result = relax.Var("y", kind := tvm_api.tensor_type((2,), "float32"))
    main = relax.Function(list(module["main"].params), relax.SeqExpr([], result), kind)
    return tvm.IRModule({"main": main.with_attr("global_symbol", "main")}).with_attr("number", 0)


def breaking(trace: Trace) -> list[str]:
    return [step.path for step in trace.steps if step.breaks]


def test_the_step_that_leaves_the_module_ill_formed_is_marked(tmp_path: Path) -> None:
    outer = to(KEEP, "pipeline", to(2, "Breaks", undefined), to(3, "B"))
    passes = (to(1, "A"), outer, to(4, "Breaks", undefined))
    trace = traced(tmp_path, *passes, formed=True)
    assert breaking(trace) == ["pipeline/Breaks"]
    assert len(trace.steps) == 4
    assert breaking(traced(tmp_path, *passes)) == []
    assert breaking(traced(tmp_path, to(1, "A"), to(2, "B"), formed=True)) == []


def test_a_module_that_no_pass_broke_is_no_pass_s_fault(tmp_path: Path) -> None:
    between = (to(1, "A"), undefined, to(2, "B"), to(3, "Breaks", undefined))
    trace = traced(tmp_path, *between, formed=True)
    assert breaking(trace) == []
    assert len(trace.steps) == 3


HEALTHY = Program(
    (Input("x", ("m", 4), "float32"), Input("w", (4, 4), "float32", constant=True)),
    (
        Node("a", "matmul", ("x", "w")),
        Node("b", "nn.softmax", ("a",)),
        Node("c", "call", ("b",), {"function": "f", "sizes": ShapeValue(("m",))}),
        Node("d", "unique", ("c",)),
    ),
    ("c", "d"),
    {"f": Program((Input("y", ("k", 4), "float32"),), (Node("z", "nn.relu", ("y",)),), ("z",))},
)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_no_pass_leaves_healthy_programs_ill_formed(tmp_path: Path, pipeline: str) -> None:
    """Bisection relies on it."""
    case = Case("toy", HEALTHY, ({"m": 2},), pipeline=pipeline)
    bound = PIPELINES[pipeline].constants_as_parameters
    file = tmp_path / "trace"
    running = Tracing(str(file), formed=True)
    module = emit(case, constants_as_parameters=bound)
    build(module, case, lambda stage: None, tracing=running)
    trace = read(file)
    assert len([step for step in trace.steps if step.changed]) > 20
    assert breaking(trace) == []


def test_a_worker_may_die_while_it_writes(tmp_path: Path) -> None:
    traced(tmp_path, to(1, "A"), to(2, "B"))
    file = tmp_path / "trace"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) - 5])
    trace = read(file)
    assert steps(trace) == [("A", True)]
    assert trace.unfinished is not None
    assert trace.unfinished.name == "B"
    assert read(tmp_path / "none") == Trace()


def test_only_the_last_run_of_a_case_is_reported(tmp_path: Path) -> None:
    traced(tmp_path, to(1, "A"), to(2, "B"))
    file = tmp_path / "trace"
    # The worker was killed in the middle of a line.
    file.write_bytes(file.read_bytes()[:-5])
    trace = traced(tmp_path, to(1, "A"), to(2, "B"))
    assert steps(trace) == [("A", True), ("B", True)]
    assert trace.unfinished is None
