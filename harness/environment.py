"""The process environment of everything that computes: one thread, no telemetry.

Thread pools slow small cases tenfold and make a fork hang; ONNX Runtime's telemetry writes to the
home directory. All of it is read at import time, so it has to be set before.
"""

import os
import platform
from importlib import metadata

VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TVM_NUM_THREADS": "1",
    "ORT_DISABLE_TELEMETRY": "1",
}

_PACKAGES = ("apache-tvm", "apache-tvm-ffi", "torch", "onnx", "onnxruntime", "numpy", "hypothesis")


def single_threaded() -> dict[str, str]:
    """A copy of this process's environment with ``VARIABLES`` set, for a child process."""
    return {**os.environ, **VARIABLES}


def versions() -> dict[str, str]:
    """Versions of Python, the platform and of every package that a verdict depends on."""
    found = {"python": platform.python_version(), "platform": _platform()}
    for package in _PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _platform() -> str:
    """Operating system, processor and C library: no verdict depends on more, such as the kernel."""
    library = " ".join(platform.libc_ver())
    return ", ".join(one for one in (f"{platform.system()} {platform.machine()}", library) if one)
