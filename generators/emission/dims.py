"""Emission of dimensions, as expressions of TIR."""

from collections.abc import Mapping
from typing import Any

import tvm

from relaxcheck.fixes import tvm_api
from relaxcheck.generators.core.dims import ARITHMETIC, Dim, fold, symbols


def emitted_dim(dim: Dim, sizes: Mapping[str, Any]) -> Any:
    """``dim`` with the variables ``sizes`` for its symbols; a number stays one of Python's."""
    if not symbols(dim):
        return dim
    # TIR's own // and % of expressions are refused as ambiguous; its floordiv and floormod are not.
    # Its + and * would make m of m + 0 and 1*m.
    operations = {
        **ARITHMETIC,
        "+": tvm.tirx.Add,
        "*": tvm.tirx.Mul,
        "//": tvm.tirx.floordiv,
        "%": tvm.tirx.floormod,
    }
    return fold(
        dim,
        constant=tvm_api.integer,
        symbol=lambda name: sizes[name],
        binary=lambda sign, left, right: operations[sign](left, right),
    )
