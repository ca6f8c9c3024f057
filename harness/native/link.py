"""Native code through an object file, where the just-in-time compiler would take most of the time.

TVM's JIT generates machine code with LLVM's most expensive code generator, whatever level the
target asks for; an object file is written at the target's own. At level 0 writing, linking and
loading it takes less than half of the JIT's time. It is also what a deployed module goes through.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import tvm_ffi

from relaxcheck.harness.native.debug_info import without_debug_info

_LINKER = shutil.which("ld")

NO_CODE = ";"
"""The C source that stands for the native code of an executable without any."""

_LOAD = "ffi.Module.load_from_file.relax.VMExecutable"


class LinkError(RuntimeError):
    """The object file that TVM wrote could not be linked; which of the two is at fault is open."""


def linked(executable: Any) -> Any:
    """``executable`` with its native code linked and loaded; as it is where there is no linker.

    Raises:
        LinkError: the linker failed, or there is no room for its files.
    """
    imports = list(executable.mod.imports)
    native = [module for module in imports if module.kind == "llvm"]
    if not can_link():
        return executable
    if not native:
        if any(module.kind == "c" and module.inspect_source() == NO_CODE for module in imports):
            # To run it, TVM saves and loads it as well, by way of a C compiler.
            return _saved_and_loaded(executable)
        return executable
    loaded = [shared_library(module) if module in native else module for module in imports]
    executable.mod.clear_imports()
    for module in loaded:
        executable.mod.import_module(module)
    return executable


def _saved_and_loaded(executable: Any) -> Any:
    """``executable``, without native code, from a file: as a module that runs."""
    with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
        path = str(Path(folder, "case.vm"))
        executable.mod.write_to_file(path, "")
        return tvm_ffi.get_global_func(_LOAD)(path)


def host_alone(module: Any) -> None:
    """Take the code of kernels away from the code of the host, in an executable's ``module``."""
    for imported in module.imports:
        if imported.kind == "llvm":
            imported.clear_imports()


def can_link() -> bool:
    """True if there is a linker."""
    return _LINKER is not None


def shared_library(module: Any) -> Any:
    """``module``, of LLVM code, as a loaded library. Raises ``LinkError`` as ``linked`` does."""
    try:
        with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
            compiled, shared = Path(folder, "case.o"), Path(folder, "case.so")
            without_debug_info(module, Path(folder)).write_to_file(str(compiled), "o")
            done = subprocess.run(
                [str(_LINKER), "-shared", "-o", shared, compiled], capture_output=True, text=True
            )
            if done.returncode:
                raise LinkError(f"ld: {done.stderr.strip()}")
            # A loaded library stays mapped without its file until its last function is gone.
            return tvm_ffi.load_module(str(shared), keep_module_alive=False)
    except OSError as error:
        raise LinkError(f"cannot write native code: {error}") from error
