"""What is said about passes while they run, and that nothing is kept of them."""

import gc

import tvm
from tvm import relax

from generators.emission import emit
from generators.families import family
from harness.compile import _Watch, build
from harness.pipelines import PIPELINES


@tvm.transform.module_pass(opt_level=0, name="Inner")
def inner(module: tvm.IRModule, context: tvm.transform.PassContext) -> tvm.IRModule:
    raise RuntimeError("no")


def test_a_pass_that_failed_inside_of_another_is_not_running_any_more() -> None:
    said: list[str] = []

    @tvm.transform.module_pass(opt_level=0, name="Outer")
    def outer(module: tvm.IRModule, context: tvm.transform.PassContext) -> tvm.IRModule:
        try:
            inner(module)
        except RuntimeError:
            said.append("caught")
        return module

    watch = _Watch()
    watch.begin(said.append, keeps=False)
    passes = tvm.transform.Sequential([outer, relax.transform.LegalizeOps()], name="passes")
    with tvm.transform.PassContext(instruments=[watch]):
        passes(relax.BlockBuilder().get())
    assert said == [
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
        kept.append([one for one in gc.get_objects() if isinstance(one, _Watch)])
    assert len(kept[0]) == len(kept[1]) == len(kept[2]) > 0
    assert all(one.lowered is None for one in kept[2])
