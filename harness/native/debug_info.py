"""LLVM code without debug information, whose half of an object file nobody reads here.

TVM attaches a location to every instruction and has no option against it. LLVM drops all of it from
a module that it reads without a version of that information (``llvm::UpgradeDebugInfo``), and says
so on standard error. To write the module, to read it and to write its object file takes less time
than to write the object file with the locations: ``python -m tests.measure.bench.objects``.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import tvm_ffi

_VERSION = b"Debug Info Version"
_ANOTHER = b"Debug Info Absence"
"""A name of as many bytes that LLVM does not know."""
_LOADER = "ffi.Module.load_from_file.ll"
"""TVM's function that reads LLVM code, whether it is text or, as here, bitcode."""


def without_debug_info(module: Any, folder: Path) -> Any:
    """``module``, of LLVM code, without debug information; itself where that cannot be removed.

    ``folder`` gets its files.

    Raises:
        OSError: they cannot be written.
    """
    if tvm_ffi.get_global_func(_LOADER, allow_missing=True) is None:
        return module
    written, changed = folder / "case.bc", folder / "case.ll"
    module.write_to_file(str(written), "bc")
    code = written.read_bytes()
    if code.count(_VERSION) != 1:
        return module
    changed.write_bytes(code.replace(_VERSION, _ANOTHER))
    with _silent():
        return tvm_ffi.load_module(str(changed))


@contextmanager
def _silent() -> Iterator[None]:
    """Within the block nothing arrives at standard error, not what LLVM writes there either."""
    kept = os.dup(2)
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
