"""Reshapes to computed shapes."""

from tvm import relax

from tests.fixes import whole_programs as whole

OP = relax.op


PROGRAMS: whole.Programs = {
    "shape_values": {
        "shapes of tensors": (whole.upstream("shape_values", "reshape_to_the_shape_of_another"),),
        "shapes in tensors": (whole.upstream("shape_values", "reshape_to_sizes_in_a_tensor"),),
    },
}

CURES: whole.Cures = {
    "shape-of-reshape": (("shape_values", "shapes of tensors"),),
    "reshape-to-value": (("shape_values", "shapes of tensors"),),
    "reshape-to-sizes-in-a-tensor": (("shape_values", "shapes in tensors"),),
}
