"""What is said about passes while they run."""

import tvm
from tvm import relax

from harness.compile import _Watch


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

    watch = _Watch(said.append)
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
