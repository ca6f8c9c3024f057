"""Checks at run time what operators need of symbolic dimensions (``proving/needs.py``).

TVM assumes that symbolic dimensions go together: if they do not, the compiled program reads out of
bounds or computes something else. Here a need that is refuted is refused at compile time, and one
that cannot be proved is asserted before anything is computed (``proving/guards.py``).
"""

from collections.abc import Sequence

import numpy as np
from tvm import relax

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, ModulePass
from relaxcheck.fixes.proving import needs as shape_needs
from relaxcheck.fixes.proving.guards import guarded, loosened
from relaxcheck.fixes.tvm_api import functions as tvm_api_functions

PASS = tvm_api_functions.rewriting("GuardShapes", guarded)
LOOSENING = tvm_api_functions.rewriting("LoosenCasts", loosened)


def refuses_products() -> bool:
    """True if a product fails when its contracted dimensions differ; no read is out of bounds."""
    k, n = tvm_api.shape_var("k"), tvm_api.shape_var("n")
    return refuses(relax.op.matmul, [(1, k), (n, 1)], [(1, 1), (2, 1)])


def refuses_channels() -> bool:
    """True if a convolution fails when its kernel has more channels than its data."""
    c, d = tvm_api.shape_var("c"), tvm_api.shape_var("d")
    return refuses(relax.op.nn.conv1d, [(1, c, 3), (1, d, 2)], [(1, 1, 3), (1, 2, 2)])


def refuses_windows() -> bool:
    """True if pooling fails when no window fits into the input."""
    n = tvm_api.shape_var("n")
    return refuses(lambda x: relax.op.nn.avg_pool1d(x, (3,)), [(1, 1, n)], [(1, 1, 2)])


def tells_negative_extents() -> bool:
    """True if the error for a tensor of n - 5 elements, n being 3, shows the extent."""
    n = tvm_api.shape_var("n")
    module = probes.program(lambda x: relax.op.zeros((n - 5,), "float32"), (n,))
    try:
        probes.run(module, np.zeros(3, "float32"))
    except Exception as error:
        return "-2" in str(error)
    return False


def refuses_reshapes() -> bool:
    """True if a reshape to fewer elements fails."""
    n = tvm_api.shape_var("n")
    return refuses(lambda x: relax.op.reshape(x, (-1, 2)), [(n,)], [(5,)])


def refuses_casts() -> bool:
    """True if a match_cast fails when its dimensions differ."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    return not _casts((m, n), (n, m), (1, 2))


def casts_to_own_symbol() -> bool:
    """True if a dimension can be cast to a symbol that it contains."""
    m, n = tvm_api.shape_var("m"), tvm_api.shape_var("n")
    return _casts((m * 2, m), (m, n), (0, 0))


def _casts(dims: probes.Shape, wanted: probes.Shape, size: Sequence[int]) -> bool:
    """True if a match_cast of ``dims`` to ``wanted`` compiles, and succeeds at ``size``."""
    builder = relax.BlockBuilder()
    x = relax.Var("x", tvm_api.tensor_type(dims, "float32"))
    with builder.function("main", [x]):
        with builder.dataflow():
            cast = builder.match_cast(x, tvm_api.tensor_type(wanted, "float32"))
            result = builder.emit_output(relax.op.negative(cast))
        builder.emit_func_output(result)
    try:
        probes.run(builder.get(), np.zeros(size, "float32"))
    except Exception:
        return False
    return True


def refuses(
    make: probes.Make, shapes: Sequence[probes.Shape], sizes: Sequence[Sequence[int]]
) -> bool:
    """True if the call that ``make`` builds from inputs of ``shapes`` fails at these sizes."""
    module = probes.program(make, *shapes)
    try:
        probes.run(module, *(np.zeros(size, "float32") for size in sizes))
    except Exception:
        return True
    return False


FIX = Fix(
    name="shape_guard",
    operators=tuple(sorted(shape_needs.TABLE)),
    fault=(
        "needs of symbolic dimensions are not checked at run time: if they do not go together, the"
        " call reads out of bounds or computes something else"
    ),
    issue=None,
    parts=(
        FaultPart("products", lambda: not refuses_products()),
        FaultPart("channels", lambda: not refuses_channels()),
        FaultPart("windows", lambda: not refuses_windows(), deadly=True),
        FaultPart("reshapes", lambda: not refuses_reshapes()),
        FaultPart("extents", lambda: not tells_negative_extents()),
        FaultPart("casts", lambda: not refuses_casts()),
        FaultPart("casts to own symbols", lambda: not casts_to_own_symbol(), deadly=True),
    ),
    passes=(ModulePass(PASS), ModulePass(LOOSENING, after="FuseTIR")),
    after="dynamic_broadcast",
)
