"""Findings about the importer, rebuilt by hand: the vocabulary.

Each case is a model of one node, made with ``onnx.helper``, and its outputs, which follow from the
documentation of the operator in ``onnx.defs`` by numbers worked out on paper. No oracle of the
project, neither ONNX Runtime nor ONNX's evaluator takes part, so that a case refutes or confirms
a finding independently of them all.

The sample: ``relaxcheck fuzz onnx --seed 77 --workers 1`` at commit ee86869f, apache-tvm
0.27.0.post1 without fixes, onnx 1.23.2, stopped after 352 cases, resumed, and stopped after 862.
Its confirmed findings about valid models of one node, graphs reduced to one among them, were read
in the order of their fingerprints: of each operator with a silently wrong result the first such
finding (23 operators), then of further operators the first crash, up to 30. None was left out.
"""

import contextlib
import io
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import tvm
from numpy.typing import NDArray
from onnx import helper, numpy_helper
from tvm import relax

from relaxcheck.harness.native.memory import USUAL, filled

Array = NDArray[Any]

RIGHT = "right"
WRONG_VALUE = "wrong value"
WRONG_SHAPE = "wrong shape"
WRONG_DTYPE = "wrong dtype"
NO_TENSOR = "no tensor"

_ULPS = 4
"""Units in the last place of the output's dtype within which a value is right."""


@dataclass(frozen=True, slots=True)
class HandCase:
    """A model, its inputs in order, and its ``expected`` outputs.

    ``finding`` is the fingerprint of the finding that the case rebuilds. ``alone`` says how TVM
    0.27 ends without the fixes, ``fixed`` how it ends with them: in one of the words above, or in
    an error, by its type and the beginning of its message.
    """

    name: str
    finding: str
    model: Any
    inputs: tuple[Array, ...]
    expected: tuple[Array, ...]
    alone: str
    fixed: str = RIGHT


def node_model(
    operator: str,
    opset: int,
    inputs: Mapping[str, Array],
    outputs: Mapping[str, tuple[Any, Sequence[int | str]]],
    initializers: Mapping[str, Array] | None = None,
    order: Sequence[str] = (),
    **attributes: Any,
) -> Any:
    """A model of one node.

    Its inputs are ``inputs``, then ``initializers``, unless ``order`` says otherwise. ``outputs``
    have a dtype and a shape each, in which names stand for sizes that the data decide.
    """
    held = initializers or {}
    graph = helper.make_graph(
        [helper.make_node(operator, list(order or (*inputs, *held)), list(outputs), **attributes)],
        operator,
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape
            )
            for name, array in inputs.items()
        ],
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape
            )
            for name, (dtype, shape) in outputs.items()
        ],
        [numpy_helper.from_array(array, name) for name, array in held.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def check_model(case: HandCase) -> None:
    """Have ONNX check the model of ``case``, its types and its shapes.

    Raises:
        onnx.checker.ValidationError: the model is invalid.
        onnx.shape_inference.InferenceError: a stated output has another type or shape.
    """
    onnx.checker.check_model(case.model, full_check=True)


def ending(case: HandCase) -> str:
    """How importing, building and running the model of ``case`` with TVM ends."""
    try:
        actual = _computed(case)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if not all(isinstance(each, tvm.runtime.Tensor) for each in actual):
        return NO_TENSOR
    arrays = [each.numpy() for each in actual]
    if len(arrays) != len(case.expected):
        return f"{len(arrays)} outputs"
    pairs = list(zip(arrays, case.expected, strict=True))
    if any(have.shape != want.shape for have, want in pairs):
        return WRONG_SHAPE
    if any(have.dtype != want.dtype for have, want in pairs):
        return WRONG_DTYPE
    return RIGHT if all(_equal(have, want) for have, want in pairs) else WRONG_VALUE


def _computed(case: HandCase) -> list[Any]:
    """The outputs of the model as TVM returns them. Raises what TVM raises."""
    from tvm.relax.frontend.onnx import from_onnx  # a fix replaces it

    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        module = from_onnx(case.model)
    executable = relax.build(module, tvm.target.Target({"kind": "llvm", "opt-level": 0}))
    main = relax.VirtualMachine(executable, tvm.cpu())["main"]
    tensors = [tvm.runtime.tensor(array) for array in case.inputs]
    # Elements that nothing writes are not to be right by chance.
    with filled(USUAL):
        result = main(*tensors)
    if isinstance(result, tvm.runtime.Tensor | tvm.runtime.ShapeTuple):
        return [result]
    return list(result)


def _equal(actual: Array, expected: Array) -> bool:
    """True if ``actual`` has the values ``expected``: floats within some units, others exactly."""
    if expected.dtype not in (np.float16, np.float32, np.float64):
        return actual.tobytes() == expected.tobytes()
    units = np.spacing(np.where(np.isfinite(expected), abs(expected), 1).astype(expected.dtype))
    with np.errstate(invalid="ignore"):
        near = abs(actual.astype(np.float64) - expected.astype(np.float64)) <= _ULPS * units
    return bool(np.all((actual == expected) | near))
