"""Compilers of kernels' code, each tested where it is installed."""

import pytest

from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.native import checkers
from relaxcheck.harness.native.checkers import RefusedSource, compiled_by

pytestmark = pytest.mark.tvm

CUDA = """#include <cuda_fp16.h>
extern "C" __global__ void __launch_bounds__(8) f(half* a, int n) { a[threadIdx.x] = hexp(a[n]); }
"""
WGSL = """//----------------------------------------
// Function: f
//----------------------------------------
@group(0) @binding(0) var<storage, read_write> a : array<f32>;
@compute @workgroup_size(8, 1, 1)
fn f(@builtin(local_invocation_id) threadIdx : vec3<u32>) { a[threadIdx.x] = exp(1.0f); }
"""


@pytest.mark.parametrize("name", ["nvcc", "NVRTC"])
def test_cuda_code_is_compiled(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "NVRTC":
        monkeypatch.setattr(checkers, "compiler", lambda target: None)
    used = compiled_by(CUDA, TARGETS["cuda"])
    if used != name:
        pytest.skip(f"{name} is not here: make targets")
    with pytest.raises(RefusedSource, match=f'{name} refuses .*: identifier "b" is undefined'):
        compiled_by(CUDA.replace("a[n]", "b"), TARGETS["cuda"])


def test_kernels_of_wgsl_are_modules_of_their_own() -> None:
    if compiled_by(WGSL, TARGETS["webgpu"]) != "naga":
        pytest.skip("naga is not here: make targets, and a driver of Vulkan")
    assert compiled_by(WGSL + WGSL.replace("f(@", "g(@"), TARGETS["webgpu"]) == "naga"
    wide = WGSL.replace("exp(1.0f)", "f32(1li)")
    with pytest.raises(RefusedSource, match=r"naga refuses the generated code: Cannot cast"):
        compiled_by(WGSL + wide, TARGETS["webgpu"])
    with pytest.raises(RefusedSource, match=r"naga refuses the generated code: .*identifier: `b`"):
        compiled_by(WGSL.replace("a[", "b["), TARGETS["webgpu"])


def test_metal_has_no_compiler_here() -> None:
    assert compiled_by("kernel void f() {}", TARGETS["metal"]) == ""
