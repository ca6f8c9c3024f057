"""Operators without a record: the declared ones exist, and the compiler reaches those it says."""

import re
from collections import defaultdict
from typing import Any

import pytest
import tvm
from tvm import relax, topi
from tvm.ir.instrument import pass_instrument

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.tvm_api import tirx
from relaxcheck.fixes.tvm_api.operators import registered
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.undrawn import BY_NAME, UNDRAWN

pytestmark = pytest.mark.tvm

MOST = 40
"""Operators that may be declared as undrawn."""


def test_the_declared_operators_exist_and_have_no_record() -> None:
    assert sum(len(each.operators) for each in UNDRAWN) == len(BY_NAME) <= MOST
    assert set(BY_NAME) <= set(registered())
    assert not set(BY_NAME) & {
        *OPERATORS,
        *(name for each in OPERATORS.values() for name in each.also),
    }


def test_the_passes_emit_their_declared_operators() -> None:
    emitted = emitted_by_passes(_program())
    for each in UNDRAWN:
        if each.emitted_by:
            assert set(each.operators) <= emitted[each.emitted_by]


def emitted_by_passes(module: Any) -> dict[str, set[str]]:
    """The operators that each pass of ``relax.build`` is the first to emit, by the pass's name."""
    emitted: dict[str, set[str]] = defaultdict(set)
    there: set[str] = set()

    @pass_instrument
    class Watch:
        def run_after_pass(self, after: Any, info: Any) -> None:
            now = set(re.findall(r"\bR\.([\w.]+)\(", str(after)))
            emitted[info.name] |= now - there
            there.update(now)

    with tvm.transform.PassContext(instruments=[Watch()]):
        relax.build(module, "llvm")
    return emitted


def _program() -> Any:
    """Values that live and die, of a symbolic size, and a kernel that takes the size itself."""
    n = tirx.Var("n", "int64")
    x = relax.Var("x", tvm_api.tensor_type((n, 4), "float32"))
    builder = relax.BlockBuilder()
    with builder.function("main", [x]):
        with builder.dataflow():
            once = builder.emit(relax.op.exp(x))
            twice = builder.emit(relax.op.exp(once))
            both = builder.emit(relax.op.add(once, twice))
            size = builder.emit_te(lambda m: topi.full((4,), "int64", m), n)
            result = builder.emit_output(relax.Tuple([both, size]))
        builder.emit_func_output(result)
    return builder.get()
