"""Sorts of as many elements as are valid, of any dtype.

TOPI sorts the rows of ``non_max_suppression`` by a function that knows float32 alone. Here elements
that are not valid take the last places of a sort of all.
"""

from importlib import import_module
from typing import Any

import numpy as np
from tvm import relax, te, tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework import probes
from relaxcheck.fixes.framework.fix import FaultPart, Fix, Rebinding
from relaxcheck.fixes.framework.patch import Body
from relaxcheck.fixes.tvm_api import PrimExpr, Tensor

_MODULE: Any = import_module("tvm.topi.sort")
_ORIGINAL = _MODULE.argsort


def argsort(
    data: Tensor,
    valid_count: Tensor | None = None,
    axis: int = -1,
    is_ascend: Any = 1,
    dtype: str = "float32",
) -> Tensor:
    """The places of the elements of ``data`` in order along ``axis``; equal ones stay in theirs.

    ``valid_count``: how many of each line count, by the indices of the other axes; the places of
    the others come after theirs, and the result is int32. Arguments are those of
    ``tvm.topi.argsort``.
    """
    along = axis % len(data.shape)
    kind = tvm_api.dtype_of(data)

    def of_valid(*place: PrimExpr) -> PrimExpr:
        assert valid_count is not None
        # The last in order, whatever else there is.
        if kind.startswith(("float", "bfloat")):
            last = tirx.infinity(kind) if is_ascend else -tirx.infinity(kind)
        else:
            last = tirx.max_value(kind) if is_ascend else tirx.min_value(kind)
        others = [*place[:along], *place[along + 1 :]]
        is_valid = place[along] < valid_count[tuple(others)]
        return tirx.Select(is_valid, data[place], last)

    if valid_count is not None:
        data, dtype = te.compute(data.shape, of_valid, name="counted"), "int32"
    # A function of the runtime takes a whole buffer: none that starts within another.
    source, places = (tirx.decl_buffer(data.shape, each, layout=None) for each in (kind, dtype))
    return te.extern(
        [data.shape],
        [data],
        lambda inputs, outputs: tirx.call_packed(
            "tvm.contrib.sort.argsort", inputs[0], outputs[0], axis, is_ascend
        ),
        dtype=dtype,
        in_buffers=[source],
        out_buffers=[places],
        name="argsort_cpu",
        tag="argsort_cpu",
    )


def sorts_doubles() -> bool:
    """True if the better of two boxes of float64 comes first."""
    rows = np.array([[[0, 0.25, 0, 0, 1, 1], [0, 0.5, 5, 5, 6, 6]]])
    arrays = [rows, np.array([2], "int32"), np.array([[3, 4]], "int32")]
    module = probes.program(
        lambda *tensors: relax.TupleGetItem(relax.op.vision.non_max_suppression(*tensors), 0),
        *(array.shape for array in arrays),
        dtypes=tuple(array.dtype.name for array in arrays),
    )
    try:
        places = probes.run(module, *arrays)
    except Exception:
        return False
    return np.array_equal(places, [[4, 3]])


FIX = Fix(
    name="counted_sorts",
    operators=("relax.vision.non_max_suppression",),
    fault="non_max_suppression sorts float32 alone, and fails at run time for other dtypes",
    issue=None,
    parts=(FaultPart("other dtypes", lambda: not sorts_doubles()),),
    rebindings=lambda: (Rebinding(_ORIGINAL, argsort),),
    after="all_class_nms",
    patch=(Body("topi/sort.py", argsort),),
)
