"""OpenCL kernels run by ``pyopencl``, for a TVM whose runtime has no OpenCL, as that of its wheel.

The code of the host is TVM's own. It looks each kernel up by name among the global functions, and
calls it with its arguments and the extents of its threads: that function launches the kernel. The
host has the CPU's memory (``HOST_MEMORY``), which a device of OpenCL on the CPU shares.
"""

import ctypes
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import tvm_ffi

PACKAGE = "pyopencl"

HOST_MEMORY = {"target_device_type": 1}
"""The option of TVM's target that gives its host code tensors of the CPU (DLPack's kDLCPU)."""

_DEVICES = ("POCL_DEVICES", "basic")
"""The device of pocl that runs kernels in the thread that launches them."""
_FILES = "POCL_CACHE_DIR"

_FINE_GRAIN_SYSTEM = 1 << 2
"""CL_DEVICE_SVM_FINE_GRAIN_SYSTEM: kernels take pointers to any memory of the host."""
_POCL = "Portable Computing Language"

_EXTENSION = re.compile(r"#pragma OPENCL EXTENSION (cl_khr_\w+)\s*:\s*enable")
_ERROR = re.compile(r"error: (?:\S+:\d+:\d+: )?(.*)")
_AXES = "xyz"


class RefusedOpenCL(Exception):
    """The compiler of the OpenCL device refuses the code; the message is its first error."""


@dataclass(frozen=True, slots=True)
class Launch:
    """The signature of a kernel.

    ``scalars`` are the dtypes of its parameters, None for a pointer. ``axes`` names the extents
    that follow them in a call, such as ``blockIdx.x``.
    """

    scalars: tuple[str | None, ...]
    axes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kernels:
    """Compiled kernels, by name, as functions that launch them.

    ``faults`` are errors of this module, which TVM's code of the host raises as its own.
    """

    functions: Mapping[str, Callable[..., None]]
    faults: list[Exception] = field(default_factory=list)

    @contextmanager
    def registered(self) -> Iterator[None]:
        """While this is open, TVM's code of the host finds the kernels.

        It keeps those that it has looked up once, so that another program's do not replace them.
        """
        for name, function in self.functions.items():
            tvm_ffi.register_global_func(name, function, override=True)
        try:
            yield
        finally:
            for name in self.functions:
                tvm_ffi.registry.remove_global_func(name)


def is_installed() -> bool:
    """True if ``pyopencl`` can be imported."""
    return find_spec(PACKAGE) is not None


@cache
def _folder() -> TemporaryDirectory[str]:
    """A folder that is deleted when the process ends, with that of a worker if it is killed."""
    return TemporaryDirectory(prefix="relaxcheck-")


@cache
def queue() -> Any:
    """The queue of commands of the first device that shares the CPU's memory; None without one."""
    if not is_installed():
        return None
    os.environ.setdefault(*_DEVICES)
    # pocl keeps every kernel that it compiles.
    os.environ.setdefault(_FILES, _folder().name)
    import pyopencl as cl

    try:
        platforms = cl.get_platforms()
    except cl.Error:
        return None
    for platform in platforms:
        for device in platform.get_devices(cl.device_type.CPU):
            if shares_memory(platform.name, device.svm_capabilities):
                return cl.CommandQueue(cl.Context([device]), device)
    return None


def shares_memory(platform: str, capabilities: int) -> bool:
    """True if a CPU of ``platform`` takes pointers to any memory of the host.

    ``capabilities`` are those of shared virtual memory (OpenCL 3.0, table of device queries). pocl
    3.0 lists no fine-grained sharing of the system, and runs kernels in the process all the same.
    """
    return bool(capabilities & _FINE_GRAIN_SYSTEM) or (platform == _POCL and capabilities != 0)


def missing_extensions(source: str) -> tuple[str, ...]:
    """The extensions of Khronos that ``source`` enables and the device lacks."""
    has = queue().device.extensions.split()
    return tuple(sorted(set(_EXTENSION.findall(source)) - set(has)))


def compiled(source: str, launches: Mapping[str, Launch]) -> Kernels:
    """The kernels in ``source`` that ``launches`` names.

    Raises:
        RefusedOpenCL: the code has an error.
    """
    import pyopencl as cl

    try:
        program = cl.Program(queue().context, source).build(cache_dir=False)
        made = {kernel.function_name: kernel for kernel in program.all_kernels()}
    except cl.Error as error:
        first = _ERROR.search(str(error))
        raise RefusedOpenCL((first[1] if first else str(error)).strip()) from error
    faults: list[Exception] = []
    functions = {
        name: partial(_launch, faults, made[name], launch) for name, launch in launches.items()
    }
    return Kernels(functions, faults)


def _launch(faults: list[Exception], kernel: Any, launch: Launch, *values: Any) -> None:
    """Run ``kernel`` on its arguments and the extents of its axes, ``values``, to its end.

    An error in reading ``values`` is added to ``faults``: TVM's code is not to blame.
    """
    import pyopencl as cl

    count = len(launch.scalars)
    try:
        held = [_argument(each, dtype) for each, dtype in zip(values, launch.scalars, strict=False)]
        extents = dict(zip(launch.axes, values[count:], strict=True))
        blocks, threads = (_extents(extents, name) for name in ("blockIdx", "threadIdx"))
    except Exception as error:
        faults.append(error)
        raise
    kernel.set_args(*held)
    wide = [block * thread for block, thread in zip(blocks, threads, strict=True)]
    cl.enqueue_nd_range_kernel(queue(), kernel, wide, threads)
    queue().finish()


def _extents(extents: Mapping[str, int], name: str) -> Sequence[int]:
    return [int(extents.get(f"{name}.{axis}", 1)) for axis in _AXES]


def _argument(value: Any, dtype: str | None) -> Any:
    """``value`` as ``pyopencl`` takes it: a scalar of ``dtype``, or the memory at a pointer."""
    if dtype is not None:
        return np.dtype("int8" if dtype == "bool" else dtype).type(value)
    import pyopencl as cl

    address = getattr(value, "value", value)
    # Where it ends is not known; a kernel may not need to know.
    memory = (
        (ctypes.c_char * 1).from_address(address) if address else ctypes.create_string_buffer(1)
    )
    return cl.SVM(memory)
