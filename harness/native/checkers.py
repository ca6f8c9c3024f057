"""Compilers of the code of kernels that need no device: nvcc, NVRTC as TVM calls it, and naga.

NVRTC comes from PyPI (``cuda-bindings`` and NVIDIA's packages); naga with ``wgpu``, which needs a
driver of Vulkan, such as Mesa's for the CPU (Debian's ``mesa-vulkan-drivers``).
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from relaxcheck.generators.targets import Target
from relaxcheck.harness.native.link import LinkError
from relaxcheck.harness.native.toolchain import compiler

_CUDA_ERROR = re.compile(r"error\s*: (.*)")
_HEADERS = Path("include", "cuda_fp16.h")
_WGSL_KERNEL = re.compile(r"^//-+\n// Function: \w+\n//-+\n", re.MULTILINE)
"""The lines before a kernel, which is a module of its own."""
_STANDARD = {"shader-f16", "subgroups"}
"""The features of a WebGPU device that WGSL asks for by ``enable``."""


class RefusedSource(Exception):
    """A compiler refuses the generated code; the message is its name and its first error."""


def compiled_by(source: str, target: Target) -> str:
    """The compiler that finds no error in ``source``, in words; "" where none is here.

    Raises:
        RefusedSource: it finds an error.
        LinkError: it fails without an error in the code.
    """
    check = _CHECKS.get(target.name)
    return "" if check is None else check(source, target)


def _cuda(source: str, target: Target) -> str:
    path = compiler(target)
    if path is not None:
        _nvcc(source, path, target)
        return "nvcc"
    toolkit = _toolkit()
    if toolkit is None:
        return ""
    _nvrtc(source, toolkit, target)
    return "NVRTC"


def _nvcc(source: str, path: str, target: Target) -> None:
    try:
        with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
            written, binary = Path(folder, "case.cu"), Path(folder, "case.cubin")
            written.write_text(source)
            done = subprocess.run(
                [path, "-cubin", "-w", f"-arch={target.arch}", "-o", binary, written],
                capture_output=True,
                text=True,
            )
    except OSError as error:
        raise LinkError(f"cannot write the code of kernels: {error}") from error
    if done.returncode:
        raise _refused("nvcc", done.stderr + done.stdout)


def _refused(name: str, output: str) -> Exception:
    first = _CUDA_ERROR.search(output)
    if first is None:
        return LinkError(f"{name}: {output.strip()}")
    return RefusedSource(f"{name} refuses the generated code: {first[1].strip()}")


@cache
def _toolkit() -> Path | None:
    """The folder of CUDA's headers that PyPI's packages of NVRTC brought; None without them."""
    if find_spec("cuda") is None or find_spec("cuda.bindings") is None:
        return None
    spec = find_spec("nvidia")
    folders = () if spec is None else tuple(spec.submodule_search_locations or ())
    found = [path for each in folders for path in sorted(Path(each).glob("cu*"))]
    return next((path for path in reversed(found) if (path / _HEADERS).is_file()), None)


def _nvrtc(source: str, toolkit: Path, target: Target) -> None:
    """Compile ``source`` by the function of TVM that compiles for a device."""
    from tvm.support import nvcc

    os.environ.setdefault("CUDA_PATH", str(toolkit))
    library = f"-I{toolkit / 'include' / 'cccl'}"
    try:
        nvcc.compile_cuda(source, "cubin", target.arch, [library], compiler="nvrtc")
    except RuntimeError as error:
        raise _refused("NVRTC", str(error)) from error


@cache
def _webgpu() -> Any:
    """A device of WebGPU; None where ``wgpu`` or a driver is missing."""
    if find_spec("wgpu") is None:
        return None
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    import wgpu

    try:
        adapter = wgpu.gpu.request_adapter_sync()
    except (RuntimeError, OSError):
        return None
    if adapter is None:
        return None
    return adapter.request_device_sync(required_features=sorted(_STANDARD & set(adapter.features)))


def _wgsl(source: str, target: Target) -> str:
    device = _webgpu()
    if device is None:
        return ""
    import wgpu

    for kernel in _WGSL_KERNEL.split(source):
        try:
            device.create_shader_module(code=kernel)
        except wgpu.GPUError as error:
            reason = _reason(str(error))
            raise RefusedSource(f"naga refuses the generated code: {reason}") from error
    return "naga"


def _reason(message: str) -> str:
    """The error and its innermost cause in naga's ``message``, without the quoted code."""
    lines = [line.strip() for line in message.partition("hader ")[2].splitlines()]
    error = re.sub(r"^('.*' )?(validation |parsing )?error: ", "", lines[0]) if lines else message
    causes = [line.removeprefix("= ") for line in lines if line.startswith("= ")]
    return f"{error}: {causes[-1]}" if causes else error


_CHECKS: Mapping[str, Callable[[str, Target], str]] = {"cuda": _cuda, "webgpu": _wgsl}
