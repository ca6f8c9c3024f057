"""ONNX's LSTM, GRU and RNN, which TVM's importer does not know.

The input's product with its weights is a matmul; all else of a node is one function of TIR, with a
loop over time, so that batch and length may be symbolic. What is narrower than float32 is computed
in float32.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvm import relax, te

from fixes import onnx_rnn_arguments as arguments
from fixes import probes_of_importing as probes
from fixes import tvm_api
from fixes.fix import Fix, Part, Rebinding, refuse
from fixes.onnx_rnn_cells import Recurrence
from fixes.onnx_rnn_loops import loops
from fixes.tvm_api import BlockBuilder, Expr, PrimExpr, Tensor

OPERATORS = ("LSTM", "GRU", "RNN")

_FIRST_OPSET = 7
"""Before that, the operators had other attributes and other numbers of outputs."""


@dataclass(frozen=True, slots=True)
class Converter:
    """What the importer keeps of an operator: it asks for a function by opset."""

    operator: str

    def get_converter(self, opset: int) -> Callable[..., Expr]:
        """What makes an expression of a node of a model of ``opset``.

        It is called with the builder, the inputs (None for one that is left out), the attributes
        by name, and what the importer knows of parameters.

        Raises:
            OpNotImplemented: the opset is too old.
        """
        if opset < _FIRST_OPSET:
            raise refuse(self.operator, opset=opset)
        return functools.partial(_convert, self.operator)


CONVERTERS: dict[str, Any] = {operator: Converter(operator) for operator in OPERATORS}
"""What the importer's table has by operator while the fix is on."""


def _convert(
    operator: str,
    builder: BlockBuilder,
    inputs: Sequence[Expr | None],
    attributes: Mapping[str, Any],
    parameters: Any,
) -> Expr:
    """The outputs of a node as a tuple, or Y alone where the node has no other."""
    given = arguments.named(operator, list(inputs))
    what = arguments.recurrence(operator, attributes, given["R"])
    given, sizes = arguments.shaped(builder, what, given)
    dtype = tvm_api.dtype_of(given["X"])
    inner = dtype if dtype == "float64" else "float32"
    found = builder.emit(_recurrence(builder, what, given, sizes, inner))
    names = _outputs(what)
    outputs = [builder.emit(relax.TupleGetItem(found, index)) for index in range(len(names))]
    if inner != dtype:
        outputs = [builder.emit(relax.op.astype(output, dtype)) for output in outputs]
    # In a branch the importer takes a tuple for the only output.
    if attributes["tvm_custom"]["num_outputs"] == 1:
        return outputs[0]
    return relax.Tuple(outputs)


def _outputs(what: Recurrence) -> list[str]:
    return ["Y", "Y_h", "Y_c"] if what.operator == "LSTM" else ["Y", "Y_h"]


def _recurrence(
    builder: BlockBuilder,
    what: Recurrence,
    given: Mapping[str, Expr],
    sizes: arguments.Sizes,
    dtype: str,
) -> Expr:
    """The call that computes the outputs, and after them what it works in, in ``dtype``."""

    def widened(expr: Expr) -> Expr:
        if tvm_api.dtype_of(expr) in (dtype, "int32"):
            return expr
        return builder.emit(relax.op.astype(expr, dtype))

    tensors = {name: widened(one) for name, one in given.items()}
    rows = len(what.reverse) * what.gates * what.hidden
    weights = builder.emit(relax.op.permute_dims(tensors.pop("W"), [2, 0, 1]))
    weights = builder.emit(relax.op.reshape(weights, (sizes.inputs, rows)))
    tensors["projected"] = builder.emit(relax.op.matmul(tensors.pop("X"), weights))
    tensors["R"] = builder.emit(relax.op.permute_dims(tensors["R"], [0, 2, 1]))
    assertions: list[tuple[PrimExpr, str]] = []

    def compute(*inputs: Tensor) -> list[Tensor]:
        named = dict(zip(tensors, inputs, strict=True))
        axes = named["projected"].shape
        length, batch = (axes[1], axes[0]) if what.batch_first else (axes[0], axes[1])
        here = arguments.Sizes(length, batch, sizes.inputs, sizes.hidden)
        shapes = {
            name: list(one.shape) for name, one in named.items() if name not in ("projected", "R")
        }
        assertions.extend(arguments.agree(what, here, shapes))
        outputs = _output_shapes(what, length, batch)
        return _external(
            f"{what.operator.lower()}_loops",
            outputs,
            inputs,
            lambda ins, outs: loops(
                what,
                dict(zip(tensors, ins, strict=True)),
                dict(zip(outputs, outs, strict=True)),
            ),
            dtype,
        )

    return tvm_api.call_te(
        builder, compute, list(tensors.values()), assertions, what.operator.lower()
    )


def _external(
    name: str,
    outputs: Mapping[str, Sequence[Any]],
    inputs: Sequence[Tensor],
    body: Callable[[Sequence[Any], Sequence[Any]], Any],
    dtype: str,
) -> list[Tensor]:
    shapes = list(outputs.values())
    found = te.extern(shapes, list(inputs), body, name=name, dtype=[dtype] * len(shapes))
    return list(found)


def _output_shapes(
    what: Recurrence, length: PrimExpr, batch: PrimExpr
) -> dict[str, list[PrimExpr | int]]:
    directions, rows = len(what.reverse), what.gates * what.hidden
    state = [*what.state_at(directions, batch), what.hidden]
    shapes: dict[str, list[PrimExpr | int]] = dict.fromkeys(_outputs(what), state)
    shapes["Y"] = [*what.at(length, directions, batch), what.hidden]
    shapes["gates"] = [rows]
    if what.operator == "GRU":
        shapes["reset"] = [what.hidden]
    return shapes


def _rebindings() -> tuple[Rebinding, ...]:
    from tvm.relax.frontend.onnx import onnx_frontend

    original = onnx_frontend._get_convert_map

    @functools.wraps(original)
    def convert_map() -> dict[str, Any]:
        return {**original(), **CONVERTERS}

    return (Rebinding(original, convert_map),)


FIX = Fix(
    name="onnx_rnn",
    operators=OPERATORS,
    fault="models with LSTM, GRU or RNN are not imported from ONNX",
    issue=None,
    parts=(
        *(
            Part(operator, functools.partial(probes.lacks, operator, direction="bidirectional"))
            for operator in OPERATORS
        ),
        Part("sequence lengths", probes.lacks_lengths),
        Part("peepholes", probes.lacks_peepholes),
        Part("symbolic dimensions", functools.partial(probes.lacks, "LSTM", symbolic=True)),
    ),
    rebindings=_rebindings,
)
