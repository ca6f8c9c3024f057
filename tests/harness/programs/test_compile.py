"""Progress of passes while they run, of which nothing is kept."""

import gc
from contextlib import nullcontext

import msgspec
import numpy as np
import pytest
import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.values import constants
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.families import family
from relaxcheck.harness.compiling.building import load, run
from relaxcheck.harness.compiling.legalization_log import SYMPTOM
from relaxcheck.harness.compiling.passes.stages import StageError
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.compiling.watching import Watch
from relaxcheck.harness.known.corpus import entry
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.compile import build
from relaxcheck.harness.programs.execute import execute
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.repro import _build, _step


@tvm.transform.module_pass(opt_level=0, name="Inner")
def inner(module: tvm.IRModule, context: tvm.transform.PassContext) -> tvm.IRModule:
    raise RuntimeError("no")


def test_a_pass_that_failed_inside_of_another_is_not_running_any_more() -> None:
    text: list[str] = []

    @tvm.transform.module_pass(opt_level=0, name="Outer")
    def outer(module: tvm.IRModule, context: tvm.transform.PassContext) -> tvm.IRModule:
        try:
            inner(module)
        except RuntimeError:
            text.append("caught")
        return module

    watch = Watch()
    watch.begin(text.append, keeps=False)
    passes = tvm.transform.Sequential([outer, relax.transform.LegalizeOps()], name="passes")
    with tvm.transform.PassContext(instruments=[watch]):
        passes(relax.BlockBuilder().get())
    assert text == [
        "passes",
        "Outer",
        "Inner",
        "caught",
        "passes",
        "LegalizeOps",
        "passes",
        "codegen",
    ]
    assert watch.running == []


def test_compiling_leaves_nothing_behind() -> None:
    """TVM frees no instrument: one for each case held the lowered program of each."""
    made = family("conv1d_transpose", tuple(PIPELINES))
    case = made.build({axis.name: axis.default for axis in made.axes}, seed=1)
    kept = []
    for _ in range(3):
        build(emit(case), case, lambda stage: None)
        gc.collect()
        kept.append([watch for watch in gc.get_objects() if isinstance(watch, Watch)])
    assert len(kept[0]) == len(kept[1]) == len(kept[2]) > 0
    assert all(watch.lowered is None for watch in kept[2])


PROGRAM = Program(
    (Input("x", ("m", 4), "float32"),),
    (Node("y", "nn.softmax", ("x",), {"axis": 0}), Node("z", "nn.softmax", ("y",), {"axis": 1})),
    ("z",),
)
BOUNDED = Case("any", PROGRAM, bindings=({"m": 2}, {"m": 300}), pipeline="fixes-bounded")


def test_memory_is_planned_for_the_largest_binding() -> None:
    """A tensor beyond its upper bound does not fit; TVM gives memory by pages of 4096 bytes."""
    main = load(build(emit(BOUNDED), BOUNDED, lambda stage: None))
    for size in (1, 300):
        (result,) = run(main, [np.ones((size, 4), "float32")])
        np.testing.assert_allclose(result, np.full((size, 4), 0.25), rtol=1e-6)
    with pytest.raises(StageError) as caught:
        run(main, [np.ones((600, 4), "float32")])
    assert "storage allocation failure" in str(caught.value.cause)


def test_a_script_says_the_same_of_the_largest_sizes() -> None:
    module = eval(_step("UpperBounds", BOUNDED, {}))(emit(BOUNDED))
    assert dict(module["main"].attrs["tir_var_upper_bound"]) == {"m": 300}


FOLDED = Case(
    "any",
    Program(
        (Input("x", ("m", 3), "float32"), Input("c", (3,), "float32", constant=True)),
        (Node("y", "multiply", ("c", "c")), Node("z", "add", ("x", "y"))),
        ("z",),
    ),
    bindings=({"m": 2},),
    pipeline="fixes-folded",
)


@pytest.mark.parametrize("with_fixes", [False, True])
def test_constants_are_folded_before_anything_is_lowered(with_fixes: bool) -> None:
    case = msgspec.structs.replace(FOLDED, fixes=with_fixes)
    stages: list[str] = []
    with fixes.install() if with_fixes else nullcontext():
        compiled = build(emit(case, constants_as_parameters=True), case, stages.append)
    assert stages.index("FoldConstant") < stages.index("LegalizeOps")
    assert ("GuardShapes" in stages) is with_fixes
    data, constant = np.ones((2, 3), "float32"), constants(case)["c"]
    (result,) = run(load(compiled), [data])
    np.testing.assert_array_equal(result, data + constant * constant)
    assert "add" in compiled.executable.as_text()
    assert "multiply" not in compiled.executable.as_text()


def test_a_script_binds_and_folds_first() -> None:
    failed = reproduction(FOLDED, Outcome(Verdict.WRONG_VALUE, "compare"))
    text = "\n".join(_build(failed, {"c": "c"}))
    bound, folded, built = map(text.index, ("BindParams", "FoldConstant()", "relax.build"))
    assert bound < folded < built
    assert "LegalizeOps" not in text


@pytest.mark.parametrize("bound", [False, True])
def test_binding_runs_only_where_there_is_something_to_bind(bound: bool) -> None:
    inputs = tuple(
        msgspec.structs.replace(tensor, constant=tensor.constant and bound)
        for tensor in FOLDED.program.inputs
    )
    program = msgspec.structs.replace(FOLDED.program, inputs=inputs)
    case = msgspec.structs.replace(FOLDED, program=program)
    stages: list[str] = []
    build(emit(case, constants_as_parameters=True), case, stages.append)
    failed = reproduction(case, Outcome(Verdict.WRONG_VALUE, "compare"))
    script = "\n".join(_build(failed, {"c": "c"}))
    assert ("BindParams" in stages, "BindParams" in script) == (bound, bound)
    assert "FoldConstant" in stages
    assert "FoldConstant()" in script


@pytest.mark.parametrize("name", ["broadcast-symbols", "conv2d-transpose-kernel-layout"])
def test_a_silent_bail_has_the_error_that_a_user_of_build_sees(name: str) -> None:
    outcome = execute(entry(name).case)
    assert outcome.verdict is Verdict.SILENT_BAIL
    assert outcome.details[SYMPTOM].startswith("InternalError: CodeGenVM cannot emit")
