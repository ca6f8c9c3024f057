from types import SimpleNamespace
from typing import Any

import pytest

from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.compiling.kernels import RefusedKernel, checked, compiled_kernels

pytestmark = pytest.mark.tvm

LIMITS = {"max_num_threads": 256, "max_shared_memory_per_block": 1024}

SOURCES = {
    "cuda": 'extern "C" __global__ void f() {{ __shared__ alignas(64) float a[{}]; }}',
    "opencl": "__kernel void f() {{ __local float a_ptr[{}]; ((volatile __local float*)a)[1]; }}",
    "metal": "kernel void f() {{ threadgroup half2 a[{}]; }}",
    "webgpu": "@compute @workgroup_size(1)\nfn f() {{}} var<workgroup> a : array<f32, {}>;",
}


def seen(name: str, source: str, threads: int = 1) -> str:
    code = SimpleNamespace(kind=name, imports=(), inspect_source=lambda: source)
    executable = SimpleNamespace(mod=SimpleNamespace(kind="llvm", imports=(code,)))
    limits: Any = SimpleNamespace(attrs=LIMITS)
    sources = checked(executable, TARGETS[name], limits, {"f": threads})
    return compiled_kernels(sources, TARGETS[name])


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "relaxcheck.harness.compiling.kernels.compiled_by", lambda source, target: ""
    )


@pytest.mark.parametrize("name", SOURCES)
def test_shared_memory_is_counted_kernel_by_kernel(name: str) -> None:
    fits = SOURCES[name].format(256)
    assert "generated, and not compiled" in seen(name, f"{fits}\n{fits}")
    with pytest.raises(RefusedKernel, match="1028 bytes"):
        seen(name, f"{fits}\n{SOURCES[name].format(257)}")


def test_threads_are_counted() -> None:
    source = SOURCES["cuda"].format(1)
    seen("cuda", source, 256)
    with pytest.raises(RefusedKernel, match="f has 257 threads in a block, and cuda has at most"):
        seen("cuda", source, 257)
