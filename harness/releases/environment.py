"""The environment variables of processes that compute: one thread, no telemetry.

Thread pools slow small cases tenfold and make a fork hang; ONNX Runtime's telemetry writes to the
home directory. Libraries read the variables when they are imported.
"""

import os
import platform
from collections.abc import Mapping
from importlib import metadata

VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TVM_NUM_THREADS": "1",
    "ORT_DISABLE_TELEMETRY": "1",
    # Asked otherwise, PyTorch starts the driver of CUDA, which no worker that is forked later has.
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
}

BUILD = "build"
"""The key of a build's name among the versions; there is none where a release runs."""
BUILD_VARIABLE = "RELAXCHECK_BUILD"
"""The environment variable that names the build that a process runs."""

_TVM = "apache-tvm"
OF_TIRX = "tirx "
"""Before the version of apache-tvm where that is TIRx alone."""
ABSENT = "not installed"
"""In place of the version of a package that is not there."""
_PACKAGES = (_TVM, "apache-tvm-ffi", "torch", "onnx", "onnxruntime", "numpy", "hypothesis")


def single_threaded() -> dict[str, str]:
    """A copy of this process's environment with ``VARIABLES`` set, for a child process."""
    return {**os.environ, **VARIABLES}


def versions() -> dict[str, str]:
    """The versions of Python, the platform and every package that a verdict depends on."""
    by_package = {"python": platform.python_version(), "platform": _platform()}
    if build := os.environ.get(BUILD_VARIABLE):
        by_package[BUILD] = build
    for package in _PACKAGES:
        try:
            by_package[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            by_package[package] = ABSENT
    return by_package


def tvm_version(environment: Mapping[str, str]) -> str:
    """The version of apache-tvm in ``environment``, with the name of the build if it is one.

    It is empty if ``environment`` has none, and ``tirx 0.1.0a4`` where there is TIRx alone.
    """
    version = environment.get("apache-tvm", "")
    build = environment.get(BUILD, "")
    return f"{version} (build {build})" if version and build else version


def tvm_title(environment: Mapping[str, str]) -> str:
    """``tvm_version`` with the name of the package: apache-tvm, or apache-tvm-tirx."""
    version = tvm_version(environment)
    if not version:
        return ""
    return f"{_TVM}-{version}" if is_alone(environment) else f"{_TVM} {version}"


def is_alone(environment: Mapping[str, str]) -> bool:
    """True if ``environment`` has TIRx alone."""
    return environment.get(_TVM, "").startswith(OF_TIRX)


def _platform() -> str:
    """Operating system, processor and C library: no verdict depends on more, such as the kernel."""
    library = " ".join(platform.libc_ver())
    return ", ".join(
        name for name in (f"{platform.system()} {platform.machine()}", library) if name
    )
