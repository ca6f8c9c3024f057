"""The pass that takes lowered functions for reshapes where they are, which fails on some others.

It asks the analyzer whether what a function reads is in order, and that fails a check of its own
where dimensions are such expressions as ``3*m - 3`` and there are several of them. What the pass is
for is to save a copy: where it fails the module is as right without it.
"""

from typing import Any

import tvm
from tvm.relax.transform import _ffi_api, transform

from fixes import probes_of_lowerings as probes
from fixes.fix import Fix, Part, Rebinding

_ORIGINAL = transform.RewriteDataflowReshape


def RewriteDataflowReshape() -> Any:
    """The pass of this name, but the module as it was where the analyzer fails that check."""
    rewriting = _ffi_api.RewriteDataflowReshape()

    def run(module: Any, context: Any) -> Any:
        try:
            return rewriting(module)
        except tvm.error.InternalError as error:
            # Another check that fails is another fault.
            if "CanProveDivisible" not in str(error):
                raise
            return module

    name = "RewriteDataflowReshape"
    return tvm.transform.module_pass(run, opt_level=0, name=name)


FIX = Fix(
    name="dataflow_reshape",
    operators=(),
    fault="RewriteDataflowReshape fails on lowered functions of several symbolic dimensions",
    issue=None,
    parts=(Part("expressions of symbols", lambda: not probes.rewrites_expressions()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, RewriteDataflowReshape),),
)
