"""Bindings that are known to go wrong are named before anything is compiled."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tvm import relax, tirx

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.traps.table import TRAPS
from relaxcheck.fixes.tvm_api import shapes
from relaxcheck.harness.models.explaining.traps import Sprung, origins, scan
from tests.harness.models.explaining.modules import Line, imported

DATA = {"x": ((2, 3), "float32"), "k": ((2, 3), "int64"), "b": ((2, 3), "bool")}


def indices(*values: int) -> Any:
    return tvm_api.const(np.array(values, np.int64))


def take(operand: Any, places: Any, mode: str = "fast") -> Any:
    return relax.op.take(operand, places, axis=1, mode=mode)


BEHIND: dict[str, tuple[Line, ...]] = {
    "negative-take": (("y", lambda x: take(x, indices(-1)), ("x",)),),
    "maybe-negative-take": (
        ("flat", lambda k: relax.op.reshape(k, (6,)), ("k",)),
        ("before", lambda k: relax.op.subtract(k, indices(1)), ("flat",)),
        ("y", take, ("x", "before")),
    ),
    "negative-gather": (("y", lambda x: relax.op.gather_nd(x, indices(1, -1)), ("x",)),),
    "infinite-clip": (("y", lambda k: clip(k), ("k",)),),
    "compared-bools": (("y", lambda b: relax.op.less(b, b), ("b",)),),
    "summed-bools": (("y", lambda b: relax.op.cumsum(b, 0), ("b",)),),
    "no-legalization": (("y", lambda x: relax.op.ewise_fma(x, x, x), ("x",)),),
    "rounded-literal": (
        ("y", lambda x: relax.op.full((2,), relax.const(0.1, "float32"), "float64"), ("x",)),
    ),
}


def clip(value: Any) -> Any:
    """The call that an importer makes of ``clamp(max=2)``: TVM's function would refuse infinity."""
    call = relax.op.clip(value, 0, 2)
    infinity = shapes.number(tirx.FloatImm("float64", float("-inf")))
    return relax.Call(call.op, [value, infinity, call.args[2]], call.attrs)


def sprung_by(*lines: Line) -> list[Sprung]:
    return list(scan(imported(DATA, *lines).module))


@pytest.mark.parametrize("name", BEHIND)
def test_a_trap_is_found_where_it_is(name: str) -> None:
    (sprung,) = sprung_by(*BEHIND[name])
    assert (sprung.trap, sprung.variable) == (name, "y")
    assert "{}" not in sprung.sentence


def test_every_trap_has_an_example() -> None:
    assert set(BEHIND) == {trap.name for trap in TRAPS}


@pytest.mark.parametrize(
    "call",
    [
        lambda x: take(x, indices(0, 2)),
        lambda x: take(x, indices(-1), "wrap"),
        lambda x: relax.op.clip(x, 0.0, 6.0),
        lambda x: relax.op.cumsum(x, 0),
        lambda x: relax.op.less(x, x),
        lambda x: relax.op.topk(x, 1),
        lambda x: relax.op.full((2,), relax.const(0.5, "float32"), "float64"),
    ],
)
def test_what_is_right_springs_no_trap(call: Callable[[Any], Any]) -> None:
    assert sprung_by(("y", call, ("x",))) == []


def test_the_first_lost_shape_is_told_apart_from_those_behind_it() -> None:
    model = imported(
        DATA,
        ("known", relax.op.nn.relu, ("x",)),
        ("sizes", lambda k: relax.op.tensor_to_shape(relax.op.reshape(k, (6,))), ("k",)),
        ("lost", relax.op.reshape, ("known", "sizes")),
        ("next", relax.op.nn.relu, ("lost",)),
        ("total", lambda value: relax.op.sum(value), ("next",)),
    )
    (sprung,) = scan(model.module)
    assert (sprung.trap, sprung.variable, sprung.followers) == ("lost-shape", "lost", 2)
    assert origins(model.module) == {"next": "lost", "total": "lost"}


def test_a_symbol_that_nothing_relates_to_others_is_named() -> None:
    batch, size = tvm_api.shape_var("batch"), tvm_api.shape_var("size")
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type([batch], "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            kept = relax.op.unique(x, return_index=False, return_inverse=False)
            cast = builder.match_cast(builder.emit(kept), tvm_api.tensor_type([size], "float32"))
            total = builder.emit(relax.op.add(x, cast), "total")
            output = builder.emit_output(total)
        builder.emit_func_output(output)
    (sprung,) = (each for each in scan(builder.get()) if each.variable == "total")
    assert "size is a symbol of its own" in sprung.sentence


def test_traps_name_fixes_that_exist() -> None:
    names = {fix.name for fix in fixes.ALL}
    sprung = [name for trap in TRAPS for name in trap.fixes]
    assert set(sprung) <= names
