"""Products of one symbolic operand by constants and by other tensors, side by side.

CombineParallelMatmul raises a TypeError about a type that is no tensor's, before it asks whether
they are to be combined. The products mean the same apart: the module is left as it was.
"""

from typing import Any

import numpy as np
import tvm
from tvm import relax
from tvm.relax.transform import _ffi_api, transform

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body

_ORIGINAL = transform.CombineParallelMatmul

_FAULT = "Cannot treat type"
"""The error of TVM about a number where it wants a tensor."""


def CombineParallelMatmul(check: Any = None) -> Any:
    """The pass of this name, which leaves a module alone that it fails on."""
    combining = _ffi_api.CombineParallelMatmul(check or (lambda *_: True))

    def run(module: Any, context: Any) -> Any:
        try:
            return combining(module)
        except TypeError as error:
            # Another error is another fault, or that of the caller's check.
            if _FAULT not in str(error):
                raise
            return module

    return tvm.transform.module_pass(run, opt_level=0, name="CombineParallelMatmul")


def program() -> Any:
    """The products of a matrix of n rows by a parameter, and by a constant."""
    builder = relax.BlockBuilder()
    inputs = probes.inputs([(tvm_api.shape_var("n"), 4), (4, 3)])
    with builder.function("main", inputs):
        with builder.dataflow():
            weights = [inputs[1], relax.const(np.ones((4, 3), "float32"))]
            products = [builder.emit(relax.op.matmul(inputs[0], each)) for each in weights]
            result = builder.emit_output(relax.op.add(*products))
        builder.emit_func_output(result)
    return builder.get()


FIX = Fix(
    name="parallel_products",
    operators=(),
    fault=(
        "CombineParallelMatmul raises a TypeError about products of an operand of symbolic shape by"
        " a constant and by another tensor"
    ),
    issue=None,
    parts=(
        FaultPart(
            "a constant beside a variable",
            lambda: not probes.goes_through(relax.transform.CombineParallelMatmul(), program()),
        ),
    ),
    rebindings=lambda: (Rebinding(_ORIGINAL, CombineParallelMatmul),),
    after="pattern_fusion",
    patch=(Body("relax/transform/transform.py", CombineParallelMatmul),),
)
