"""Shared by the checks: a module of one function, compiled and called, with fixes or without."""

from contextlib import nullcontext

import tvm
from tvm import relax

from relaxcheck import fixes
from relaxcheck.fixes import tvm_api

TARGET = tvm.target.Target({"kind": "llvm", "opt-level": 0})
EPS = 2.0**-24
"""The unit roundoff of float32."""


def switched(on):
    """Within it the fixes are on, where ``on``."""
    return fixes.install() if on else nullcontext()


def program(body, *types):
    """``main`` of tensors of ``types``, which returns ``body(builder, *tensors)``."""
    builder = relax.BlockBuilder()
    given = [relax.Var(f"x{number}", one) for number, one in enumerate(types)]
    with builder.function("main", given):
        with builder.dataflow():
            result = builder.emit_output(body(builder, *given))
        builder.emit_func_output(result)
    return builder.get()


def of_shape(*dims):
    return tvm_api.tensor_type(dims, "float32")


def of_rank(rank):
    """The type of a tensor of which no dimension is known."""
    return tvm_api.unshaped_type(rank, "float32")


def compiled(module, on, fused=False):
    """A function of arrays that runs ``main``; with the fixes ``on``, by their pipeline."""
    if on:
        pipeline = fixes.pipeline(TARGET if fused else None)
    else:
        pipeline = relax.get_default_pipeline(TARGET) if fused else "default"
    executable = relax.build(module, TARGET, relax_pipeline=pipeline)
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]

    def run(*arrays):
        found = main(*map(tvm.runtime.tensor, arrays))
        # An importer may return a tuple of one.
        return found.numpy() if hasattr(found, "numpy") else found[0].numpy()

    return run
