"""C code that TVM generates, compiled and loaded as ``Module.export_library`` does it."""

import re
import tempfile
from pathlib import Path
from typing import Any

import tvm_ffi

from relaxcheck.harness.native.link import NO_CODE, LinkError

_ERROR = re.compile(r"^[^\s:]+:\d+(?::\d+)?: (?:fatal )?error: (.*)$", re.MULTILINE)
"""The line of a C compiler's output that is about an error."""


_QUOTES = str.maketrans("‘’", "''")


class RefusedCode(Exception):
    """The C compiler refuses code that TVM generated; the message is the compiler's first error."""


def has_code(module: Any) -> bool:
    """True of a module of C code, but for the one that stands for no code."""
    return bool(module.kind == "c" and module.inspect_source() != NO_CODE)


def c_library(module: Any, opt_level: int = 0) -> Any:
    """``module``, of C code, as a loaded library, compiled with ``-O`` and ``opt_level``.

    Raises:
        RefusedCode: the compiler finds an error in the code.
        LinkError: there is no room for its files, or the compiler fails in another way.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="relaxcheck-") as folder:
            shared = str(Path(folder, "case.so"))
            try:
                module.export_library(shared, options=[f"-O{opt_level}", "-w"])
            except RuntimeError as error:
                raise refused(error) from error
            # A loaded library stays mapped without its file until its last function is gone.
            return tvm_ffi.load_module(shared, keep_module_alive=False)
    except OSError as error:
        raise LinkError(f"cannot write native code: {error}") from error


def refused(error: Exception) -> Exception:
    """The first error of the compiler, in the message of TVM's ``error``; else a ``LinkError``."""
    first = _ERROR.search(str(error))
    if first is None:
        return LinkError(f"C compiler: {str(error).strip()}")
    said = first[1].translate(_QUOTES)
    return RefusedCode(f"the C compiler refuses the generated code: {said}")


def with_compiled_c(executable: Any, opt_level: int) -> Any:
    """``executable`` with its C code compiled and loaded. Raises as ``c_library``."""
    imports = list(executable.mod.imports)
    if any(map(has_code, imports)):
        loaded = [c_library(each, opt_level) if has_code(each) else each for each in imports]
        executable.mod.clear_imports()
        for module in loaded:
            executable.mod.import_module(module)
    return executable
