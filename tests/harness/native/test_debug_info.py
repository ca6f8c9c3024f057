"""Object files without debug information: smaller, and the same otherwise."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm
import tvm_ffi
from tvm import te

from relaxcheck.harness.native import debug_info
from relaxcheck.harness.native.debug_info import without_debug_info
from relaxcheck.harness.native.link import shared_library
from relaxcheck.harness.native.target import target


def twice() -> Any:
    """LLVM code of a function that doubles three numbers."""
    x = te.placeholder((3,), "float32", name="x")
    y = te.compute((3,), lambda i: x[i] * 2, name="y")
    function = te.create_prim_func([x, y]).with_attr("global_symbol", "twice")
    native = tvm.compile(tvm.IRModule({"twice": function}), target(0)).mod
    return native if native.kind == "llvm" else native.imports[0]


def object_file(module: Any, folder: Path) -> bytes:
    module.write_to_file(str(folder / "x.o"), "o")
    return (folder / "x.o").read_bytes()


def test_it_is_gone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    module = twice()
    with_it = object_file(module, tmp_path)
    without = object_file(without_debug_info(module, tmp_path), tmp_path)
    assert b".debug_line" in with_it
    assert b".debug_line" not in without
    assert capfd.readouterr().err == ""


def test_the_code_computes_the_same() -> None:
    out = tvm.runtime.tensor(np.zeros(3, np.float32))
    shared_library(twice())["twice"](tvm.runtime.tensor(np.float32([1, 2, 3])), out)
    assert out.numpy().tolist() == [2, 4, 6]


def test_standard_error_is_as_before_after_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    without_debug_info(twice(), tmp_path)
    os.write(2, b"still here\n")
    assert capfd.readouterr().err == "still here\n"


def test_a_module_stays_where_the_release_cannot_read_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debug_info, "_LOADER", "no such function")
    assert tvm_ffi.get_global_func("no such function", allow_missing=True) is None
    module = twice()
    assert without_debug_info(module, tmp_path) is module
    monkeypatch.undo()
    monkeypatch.setattr(debug_info, "_VERSION", b"no such version")
    assert without_debug_info(module, tmp_path) is module
