"""Activations of neural networks that have numbers of their own, and dropout at inference."""

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import Axis, Point
from relaxcheck.generators.core.draft import Draft, Value
from relaxcheck.generators.operators.choices import decimal
from relaxcheck.generators.operators.faults import argument_dtype
from relaxcheck.generators.operators.record import Attribute, Numerics, Operand, Operator

_RANKS = (2, 0, 1, 3, 4)


def _selu(draft: Draft, value: Value, point: Point) -> None:
    draft.call("nn.selu", [value], value.shape)


def _softplus(draft: Draft, value: Value, point: Point) -> None:
    numbers = decimal(point, "beta") | decimal(point, "threshold")
    draft.call("nn.softplus", [value], value.shape, **numbers)


def _dropout(draft: Draft, value: Value, point: Point) -> None:
    attributes: dict[str, program.Attribute] = decimal(point, "rate")
    draft.items("nn.dropout", [value], [value.shape, value.shape], **attributes)


OPERATORS = (
    Operator(
        "nn.selu",
        meaning="1.0507 * x where x is above 0, 1.0507 * 1.6733 * (exp(x) - 1) elsewhere.",
        source="docstring of relax.op.nn.selu; torch.nn.functional.selu; ONNX Selu",
        operands=(Operand("data", ranks=_RANKS),),
        apply=_selu,
        numerics=Numerics.APPROXIMATES,
        faults=(argument_dtype("nn.selu", 0, "int32"),),
        elementary=True,
    ),
    Operator(
        "nn.softplus",
        meaning="log(1 + exp(beta * x)) / beta; x itself where beta * x is above threshold.",
        source="docstring of relax.op.nn.softplus; torch.nn.functional.softplus",
        operands=(Operand("data", ranks=_RANKS),),
        attributes=(Attribute("beta", "float", 1.0), Attribute("threshold", "float", 20.0)),
        axes=(
            Axis("beta", (None, "0.5", "2", "20"), None),
            Axis("threshold", (None, "1", "0"), None),
        ),
        apply=_softplus,
        numerics=Numerics.APPROXIMATES,
        faults=(argument_dtype("nn.softplus", 0, "int32"),),
        elementary=True,
    ),
    Operator(
        "nn.dropout",
        meaning="At inference: data as it is, and a mask of ones.",
        source="docstring of relax.op.nn.dropout; torch.nn.functional.dropout, training=False",
        operands=(Operand("data", ranks=_RANKS),),
        attributes=(Attribute("rate", "float", 0.5),),
        axes=(Axis("rate", (None, "0", "0.25"), None),),
        apply=_dropout,
        numerics=Numerics.COPIES,
    ),
)
