"""Samples of another dtype than the probabilities.

The kernel that TVM samples with compares the two as they are, which no parser takes where their
dtypes differ. Here it counts the sums that are not above the sample, in the wider of the two.
"""

from importlib import import_module
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import PrimExpr

_MODULE: Any = import_module("tvm.relax.backend.gpu_generic.sampling")
_ORIGINAL = _MODULE.generic_get_sample_index


def generic_get_sample_index(
    prob_dtype: Any = "float32",
    sample_dtype: Any = "float32",
    sample_indices_dtype: Any = "int64",
    dtype: Any = "int64",
) -> Any:
    """The function of sums (batch, vocabulary), samples (n, 1) and rows (n, 1) that gives places.

    A place is that of the first sum above the sample; the last one where there is none.
    """
    batch, vocabulary, n = (tvm_api.shape_var(name) for name in ("batch", "vocab_size", "n"))
    sums = te.placeholder((batch, vocabulary), tvm_api.dtype_of(prob_dtype), name="sums")
    samples = te.placeholder((n, 1), tvm_api.dtype_of(sample_dtype), name="samples")
    rows = te.placeholder((n, 1), tvm_api.dtype_of(sample_indices_dtype), name="rows")
    kinds = {tvm_api.dtype_of(each) for each in (prob_dtype, sample_dtype)}
    wide = "float64" if "float64" in kinds else "float32"
    at = te.reduce_axis((0, vocabulary), name="at")

    def passed(i: PrimExpr, j: PrimExpr) -> PrimExpr:
        place = tirx.Cast("int64", rows[i, j])
        is_passed = samples[i, j].astype(wide) >= sums[place, at].astype(wide)
        return te.sum(tirx.Cast("int64", is_passed), axis=at)

    count = te.compute((n, 1), passed, name="passed")
    result = te.compute(
        (n, 1),
        lambda i, j: tirx.min(count[i, j], vocabulary - 1).astype(tvm_api.dtype_of(dtype)),
        name="sampled",
    )
    function = te.create_prim_func([sums, samples, rows, result])
    return function.without_attr("global_symbol")


def samples_doubles() -> bool:
    """True if a sample of float64 takes a place of float32 probabilities."""
    arrays = [
        np.array([[0.25, 0.75]], "float32"),
        np.array([[0.5]], "float64"),
        np.zeros((1, 1), "int64"),
    ]
    module = probes.program(
        lambda *tensors: relax.op.multinomial_from_uniform(*tensors),
        *(array.shape for array in arrays),
        dtypes=tuple(array.dtype.name for array in arrays),
    )
    try:
        return np.array_equal(probes.run_fused(module, *arrays), [[1]])
    except Exception:
        return False


FIX = Fix(
    name="sampling",
    operators=("relax.multinomial_from_uniform",),
    fault="multinomial_from_uniform fails for samples of another dtype than the probabilities",
    issue=None,
    parts=(FaultPart("two dtypes", lambda: not samples_doubles()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, generic_get_sample_index),),
    after="counted_sorts",
    patch=(Body("relax/backend/gpu_generic/sampling.py", generic_get_sample_index),),
)
