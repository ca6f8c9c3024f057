"""Kernels of OpenCL that ``pyopencl`` runs on the CPU."""

import numpy as np
import pytest
from msgspec.structs import replace

from relaxcheck.generators.core.case import with_target
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.compiling.passes.stages import OwnFault
from relaxcheck.harness.native import opencl
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute

pytest.importorskip("pyopencl", reason="make targets")

pytestmark = pytest.mark.tvm

SOURCE = """
__kernel void fill(__global float* out, float value, long start) {
  out[start + get_group_id(0) * get_local_size(0) + get_local_id(0)] = value;
}
"""
LAUNCH = opencl.Launch((None, "float32", "int64"), ("threadIdx.x", "blockIdx.x"))


def test_a_kernel_gets_its_arguments_and_extents_by_name() -> None:
    kernels = opencl.compiled(SOURCE, {"fill": LAUNCH})
    out = np.zeros(9, np.float32)
    kernels.functions["fill"](out.ctypes.data, 2.5, 1, 3, 2)
    assert out.tolist() == [0, *[2.5] * 6, 0, 0]


def test_an_error_in_the_code_is_the_compilers_first() -> None:
    with pytest.raises(opencl.RefusedOpenCL, match="undeclared identifier 'valeu'"):
        opencl.compiled(SOURCE.replace("= value", "= valeu"), {"fill": LAUNCH})


def test_an_extension_that_the_device_lacks_is_named() -> None:
    source = "#pragma OPENCL EXTENSION cl_khr_none : enable\n#pragma OPENCL EXTENSION {} : enable"
    has = opencl.queue().device.extensions.split()[0]
    assert opencl.missing_extensions(source.format(has)) == ("cl_khr_none",)


@pytest.mark.parametrize(
    ("platform", "capabilities", "shares"),
    [
        ("Intel(R) OpenCL", 0b1111, True),
        ("Intel(R) OpenCL", 0b0001, False),
        ("Intel(R) OpenCL", 0b1011, False),
        ("Portable Computing Language", 0b1011, True),
        ("Portable Computing Language", 0, False),
    ],
)
def test_a_device_has_to_take_pointers_to_any_memory(
    platform: str, capabilities: int, shares: bool
) -> None:
    assert opencl.shares_memory(platform, capabilities) is shares


def test_an_error_of_ours_in_a_launch_is_none_of_tvm(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(value: object, dtype: str | None) -> None:
        raise TypeError("data type 'float7' not understood")

    monkeypatch.setattr(opencl, "_argument", broken)
    program = Program((Input("x", (4,), "float32"),), (Node("y", "exp", ("x",)),), ("y",))
    with pytest.raises(OwnFault, match="launching a kernel: data type 'float7'"):
        execute(with_target(Case("exp", program), "opencl"))


def test_scheduled_kernels_run_and_are_judged() -> None:
    program = Program(
        (Input("x", ("n", 4), "float32"),),
        (Node("y", "nn.softmax", ("x",), {"axis": -1}), Node("z", "sum", ("y",), {"axis": (0,)})),
        ("z",),
    )
    case = with_target(Case("any", program, ({"n": 3}, {"n": 300})), "opencl")
    outcome = execute(case)
    assert outcome.verdict is Verdict.PASS, outcome.message
    assert len(outcome.checks) == 2
    half = replace(program, inputs=(Input("x", ("n", 4), "float16"),))
    outcome = execute(replace(case, program=half))
    if outcome.verdict is not Verdict.PASS:  # A device with half precision runs it.
        assert outcome.verdict is Verdict.BUILT
        assert outcome.message == "OpenCL C generated, and not run: no cl_khr_fp16 here"
