"""Code of functions that fold constants is generated once for equal functions."""

from typing import Any

import pytest
import tvm
from tvm import te

from relaxcheck.harness.compiling import folded_code as module
from relaxcheck.harness.compiling.folded_code import folded_code

pytestmark = pytest.mark.tvm


def adding(amount: float) -> Any:
    x = te.placeholder((2,), "float32", name="x")
    y = te.compute((2,), lambda at: x[at] + te.const(amount, "float32"), name="y")
    return tvm.IRModule({"added": te.create_prim_func([x, y])})


def test_equal_functions_share_their_code_and_others_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_CODE", type(module._CODE)())
    made = []

    def generate(lowered: Any, target: Any) -> object:
        made.append((lowered, target))
        return object()

    first = folded_code(adding(1), "llvm", generate)
    assert folded_code(adding(1), "llvm", generate) is first
    assert folded_code(adding(2), "llvm", generate) is not first
    assert folded_code(adding(1), "llvm -opt-level=0", generate) is not first
    assert len(made) == 3


def test_code_that_is_long_unused_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_CODE", type(module._CODE)())
    monkeypatch.setattr(module, "_KEPT", 2)
    kept = [folded_code(adding(n), "llvm", lambda lowered, target: object()) for n in (1, 2)]
    assert folded_code(adding(1), "llvm", lambda lowered, target: object()) is kept[0]
    folded_code(adding(3), "llvm", lambda lowered, target: object())
    assert folded_code(adding(1), "llvm", lambda lowered, target: object()) is kept[0]
    assert folded_code(adding(2), "llvm", lambda lowered, target: object()) is not kept[1]
    assert len(module._CODE) == 2
