"""Divisions of indices by a symbol, rounding down and towards zero: what lowering them early gives.

    python -m tests.measure.bench.divisions

A kernel gathers by an index that is divided by a symbolic n. Where neither operand can be negative
``floordiv`` and ``truncdiv`` are the same, and the latter needs no correction for signs; but TVM
simplifies the former alone. Prints the milliseconds of both, which take turns, and the ratio.
"""

import argparse
import time
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import Any

import numpy as np
import tvm
from tvm import tirx

from relaxcheck.harness.native.target import target

_SIZE = 200_000
_TURNS = 41

PrimExpr = Any
Division = Callable[[PrimExpr, PrimExpr], PrimExpr]


def remainder(i: PrimExpr, n: PrimExpr, by: Division) -> PrimExpr:
    """An index that jumps about in the table."""
    return by(i * 7, n)


def quotient(i: PrimExpr, n: PrimExpr, by: Division) -> PrimExpr:
    """One that is always 0, which TVM can know."""
    return by(i, n)


KERNELS: Mapping[str, tuple[Callable[..., PrimExpr], Division, Division]] = {
    "i * 7 % n": (remainder, tirx.floormod, tirx.truncmod),
    "i // n": (quotient, tirx.floordiv, tirx.truncdiv),
}
"""By index: how it is made of a division, and the two that there are."""


def gather(index: Callable[[PrimExpr, PrimExpr], PrimExpr]) -> Any:
    """A compiled function of a table of n elements and what is gathered, n elements, int64."""
    n, i = tirx.Var("n", "int64"), tirx.Var("i", "int64")
    table = tirx.decl_buffer((n,), "int64", "table")
    out = tirx.decl_buffer((n,), "int64", "out")
    body = tirx.BufferStore(out, tirx.BufferLoad(table, [index(i, n)]), [i])
    loop = tirx.For(i, tirx.const(0, "int64"), n, tirx.ForKind.SERIAL, body)
    function = tirx.PrimFunc([table, out], loop).with_attr("global_symbol", "main")
    return tvm.compile(tvm.IRModule({"main": function}), target(3))["main"]


def measured(functions: list[Any]) -> list[float]:
    """The median milliseconds of a call of each of ``functions``, which take turns."""
    table = tvm.runtime.tensor(np.arange(_SIZE, dtype=np.int64))
    out = tvm.runtime.tensor(np.zeros(_SIZE, np.int64))
    seconds: list[list[float]] = [[] for _ in functions]
    for _ in range(_TURNS):
        for function, spent in zip(functions, seconds, strict=True):
            began = time.perf_counter()
            function(table, out)
            spent.append(time.perf_counter() - began)
    return [1000 * median(spent) for spent in seconds]


def main() -> None:
    """Measure both, and print a line each."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    for name, (index, down, towards_zero) in KERNELS.items():
        both = [gather(partial(index, by=by)) for by in (down, towards_zero)]
        first, second = measured(both)
        print(
            f"{name}: {first:.2f} ms rounding down, {second:.2f} ms towards zero, "
            f"{second / first:.1f} times as long"
        )


if __name__ == "__main__":
    main()
