"""The package that is TVM in this environment; imports none."""

import os
from importlib import util

TVM = "tvm"
"""A TVM that has Relax."""
TIRX = "tvm_tirx"
"""TIRx as a package of its own."""

VARIABLE = "RELAXCHECK_TVM_ROOT"
"""The environment variable that says which of them a process runs, where both are installed."""


def name() -> str:
    """The root package: that of ``VARIABLE``, else TVM, else TIRx where there is no TVM."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return chosen
    return TIRX if util.find_spec(TVM) is None and util.find_spec(TIRX) is not None else TVM


def has_relax() -> bool:
    """True if programs can be compiled: TIRx alone has expressions, and no Relax."""
    return name() == TVM
