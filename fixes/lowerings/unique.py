"""Different elements of a tensor, and the place of each element among them.

NumPy 2 gives these places in the shape of the tensor. ONNX, whose importer calls the operator, and
type inference say that they are a vector.
"""

from typing import Any

import numpy as np
import tvm

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, OperatorAttribute
from relaxcheck.fixes.framework.patch import Body

OPERATOR = "relax.unique"

_PACKED = "FCallPacked"
"""The operator attribute that names the function that a call becomes."""

_FUNCTION = "relaxcheck.run.unique"


def numpy_unique(
    x: Any,
    sorted: int,
    return_index: int,
    return_inverse: int,
    return_counts: int,
    axis: int | None = None,
) -> Any:
    """Returns the unique elements of the input tensor.

    Uses numpy.unique to compute unique elements. The results are tensors: the elements, ascending
    or in the order of their first occurrence, and those of indices, inverse indices and counts that
    are asked for, which are vectors.
    """
    values, indices, inverse, counts = np.unique(
        x.numpy(), return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not sorted:
        order = np.argsort(indices)
        values = np.take(values, order, axis=axis)
        indices, counts = indices[order], counts[order]
        inverse = np.argsort(order)[inverse]
    results = [values]
    if return_index:
        results.append(indices)
    if return_inverse:
        results.append(inverse)
    if return_counts:
        results.append(counts)
    tensors = tuple(tvm.runtime.tensor(result) for result in results)
    return tensors if len(tensors) > 1 else tensors[0]


def inverse_is_a_vector() -> bool:
    """True if the places of the elements of a matrix are a vector."""
    function = tvm.get_global_func(str(tvm_api.get_op(OPERATOR).get_attr(_PACKED)))
    matrix = tvm.runtime.tensor(np.array([[2, 1], [1, 2]], "int32"))
    _, inverse = function(matrix, 1, 0, 1, 0)
    return len(inverse.shape) == 1


tvm.register_global_func(_FUNCTION, numpy_unique, override=True)

FIX = Fix(
    name="unique",
    operators=(OPERATOR,),
    fault="the inverse indices of a matrix are one, where type inference says a vector",
    issue=None,
    parts=(FaultPart("inverse indices", lambda: not inverse_is_a_vector()),),
    attributes=(OperatorAttribute(OPERATOR, _PACKED, lambda original: _FUNCTION),),
    after="tables",
    patch=(Body("relax/op/set.py", numpy_unique),),
)
