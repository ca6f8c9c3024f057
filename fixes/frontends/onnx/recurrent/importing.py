"""ONNX's LSTM, GRU and RNN, which TVM's importer does not support.

The product of the input and its weights is a matmul. The rest of a node is one function of TIR with
a loop over time, so that batch and length may be symbolic. Dtypes narrower than float32 are
computed in float32.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tvm import relax, te

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.framework.fix import FaultPart, Fix, refuse
from relaxcheck.fixes.framework.patch import NewFile
from relaxcheck.fixes.frontends.onnx.converting import Convert, Node, patch, rebindings
from relaxcheck.fixes.frontends.onnx.recurrent import arguments, probe
from relaxcheck.fixes.frontends.onnx.recurrent.cells import Recurrence
from relaxcheck.fixes.frontends.onnx.recurrent.loops import loops
from relaxcheck.fixes.tvm_api import BlockBuilder, Expr, PrimExpr, Tensor

UPSTREAM = NewFile(
    "relax/frontend/onnx/recurrent.py",
    """ONNX's LSTM, GRU and RNN.

The input's product with its weights is a matmul; all else of a node is one function of TIR, with a
loop over time, so that batch and length may be symbolic. Dtypes narrower than float32 are
computed in float32.
""",
)

OPERATORS = ("LSTM", "GRU", "RNN")

_FIRST_OPSET = 7
"""Earlier opsets have other attributes and other numbers of outputs."""


def convert(node: Node) -> Expr:
    """The outputs of ``node`` as a tuple, or Y alone if the node has a single output.

    Raises:
        OpNotImplemented: the opset is too old.
    """
    if node.opset < _FIRST_OPSET:
        raise refuse(node.operator, opset=node.opset)
    builder = node.builder
    operands = arguments.named(node.operator, list(node.inputs))
    recurrence = arguments.read_recurrence(node.operator, node.attributes, operands["R"])
    operands, sizes = arguments.shaped(builder, recurrence, operands)
    dtype = tvm_api.dtype_of(operands["X"])
    inner = dtype if dtype == "float64" else "float32"
    result = node.emit(_recurrence(builder, recurrence, operands, sizes, inner))
    names = _outputs(recurrence)
    outputs = [node.emit(relax.TupleGetItem(result, index)) for index in range(len(names))]
    if inner != dtype:
        outputs = [node.emit(relax.op.astype(output, dtype)) for output in outputs]
    # Within a branch the importer takes a tuple for the only output.
    return outputs[0] if node.outputs == 1 else relax.Tuple(outputs)


CONVERSIONS: dict[str, Convert] = dict.fromkeys(OPERATORS, convert)


def _outputs(recurrence: Recurrence) -> list[str]:
    return ["Y", "Y_h", "Y_c"] if recurrence.operator == "LSTM" else ["Y", "Y_h"]


def _recurrence(
    builder: BlockBuilder,
    recurrence: Recurrence,
    operands: Mapping[str, Expr],
    sizes: arguments.Sizes,
    dtype: str,
) -> Expr:
    """The call that computes the outputs and the scratch memory, in ``dtype``."""

    def widened(expr: Expr) -> Expr:
        if tvm_api.dtype_of(expr) in (dtype, "int32"):
            return expr
        return builder.emit(relax.op.astype(expr, dtype))

    tensors = {name: widened(operand) for name, operand in operands.items()}
    rows = len(recurrence.reverse) * recurrence.gates * recurrence.hidden
    weights = builder.emit(relax.op.permute_dims(tensors.pop("W"), [2, 0, 1]))
    weights = builder.emit(relax.op.reshape(weights, (sizes.inputs, rows)))
    tensors["projected"] = builder.emit(relax.op.matmul(tensors.pop("X"), weights))
    tensors["R"] = builder.emit(relax.op.permute_dims(tensors["R"], [0, 2, 1]))
    assertions: list[tuple[PrimExpr, str]] = []

    def compute(*inputs: Tensor) -> list[Tensor]:
        named = dict(zip(tensors, inputs, strict=True))
        axes = named["projected"].shape
        length, batch = (axes[1], axes[0]) if recurrence.batch_first else (axes[0], axes[1])
        here = arguments.Sizes(length, batch, sizes.inputs, sizes.hidden)
        shapes = {
            name: list(buffer.shape)
            for name, buffer in named.items()
            if name not in ("projected", "R")
        }
        assertions.extend(arguments.agree(recurrence, here, shapes))
        outputs = _output_shapes(recurrence, length, batch)
        return _external(
            f"{recurrence.operator.lower()}_loops",
            outputs,
            inputs,
            lambda ins, outs: loops(
                recurrence,
                dict(zip(tensors, ins, strict=True)),
                dict(zip(outputs, outs, strict=True)),
            ),
            dtype,
        )

    return tvm_api.call_te(
        builder, compute, list(tensors.values()), assertions, recurrence.operator.lower()
    )


def _external(
    name: str,
    outputs: Mapping[str, Sequence[Any]],
    inputs: Sequence[Tensor],
    body: Callable[[Sequence[Any], Sequence[Any]], Any],
    dtype: str,
) -> list[Tensor]:
    shapes = list(outputs.values())
    tensors = te.extern(shapes, list(inputs), body, name=name, dtype=[dtype] * len(shapes))
    return list(tensors)


def _output_shapes(
    recurrence: Recurrence, length: PrimExpr, batch: PrimExpr
) -> dict[str, list[PrimExpr | int]]:
    directions, rows = len(recurrence.reverse), recurrence.gates * recurrence.hidden
    state = [*recurrence.state_at(directions, batch), recurrence.hidden]
    shapes: dict[str, list[PrimExpr | int]] = dict.fromkeys(_outputs(recurrence), state)
    shapes["Y"] = [*recurrence.at(length, directions, batch), recurrence.hidden]
    shapes["gates"] = [rows]
    if recurrence.operator == "GRU":
        shapes["reset"] = [recurrence.hidden]
    return shapes


FIX = Fix(
    name="onnx_rnn",
    operators=OPERATORS,
    fault="ONNX models with LSTM, GRU or RNN are not imported",
    issue=None,
    parts=(
        *(
            FaultPart(operator, functools.partial(probe.lacks, operator, direction="bidirectional"))
            for operator in OPERATORS
        ),
        FaultPart("sequence lengths", probe.lacks_lengths),
        FaultPart("peepholes", probe.lacks_peepholes),
        FaultPart("symbolic dimensions", functools.partial(probe.lacks, "LSTM", symbolic=True)),
    ),
    rebindings=rebindings(CONVERSIONS),
    after="empty_constants",
    patch=patch(CONVERSIONS),
)
