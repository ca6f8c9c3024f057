"""Where each fix goes in TVM's own sources: the data that the patches are made from.

A definition of ours is written ``module.name``, without the package: ``attention._lower``.
"""

from dataclasses import dataclass

from fixes import (
    adaptive_pooling,
    attention_arguments,
    conv_transpose_arguments,
    convert_layout,
    empty_tensors,
    integer_division,
    mixed_precision,
    normalization,
    onnx_rnn,
)
from fixes import empty_reduction as reductions
from fixes import unlowered as refusals


@dataclass(frozen=True, slots=True)
class Place:
    """The file of TVM that a module of ours becomes, and its docstring where ours does not fit."""

    file: str
    about: str = ""


@dataclass(frozen=True, slots=True)
class Lowering:
    """``function``, called with ``arguments`` if there are any, lowers ``operator`` from now on."""

    operator: str
    function: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Wrapping:
    """``function`` is called with the legalization of ``operator``, and gives another."""

    operator: str
    function: str


@dataclass(frozen=True, slots=True)
class Checking:
    """``function``, called with ``arguments`` if there are any, checks what ``constructor`` gets.

    A constructor is a function of ``relax/op/nn/nn.py``.
    """

    constructor: str
    function: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Override:
    """``function`` stands above what TVM's C++ registers as the attribute ``key`` of operators.

    ``wraps``: it is called with that, and gives another.
    """

    operators: tuple[str, ...]
    key: str
    function: str
    wraps: bool


@dataclass(frozen=True, slots=True)
class Body:
    """``function`` is what the function of the same name in ``file`` does from now on."""

    file: str
    function: str


@dataclass(frozen=True, slots=True)
class Entry:
    """``value``, called with ``key``, is an entry of the dictionary that ``function`` returns.

    ``function``, of ``file``, has the dictionary written out.
    """

    file: str
    function: str
    key: str
    value: str


Step = Lowering | Wrapping | Checking | Override | Body | Entry

PLACES = {
    "tvm_api": Place("relax/op/exprs.py", "Types, shapes and dimensions of expressions."),
    "fix": Place("relax/op/validation.py", "Errors of invalid and of unsupported calls."),
    "requirements": Place("relax/op/requirements.py"),
    "layouts": Place("relax/op/layouts.py"),
    "attention_arguments": Place(
        "relax/op/nn/attention_arguments.py",
        "The arguments of the three attention operators, and what makes them invalid.",
    ),
    "conv_transpose_arguments": Place(
        "relax/op/nn/conv_transpose_arguments.py",
        "The parameters of a transposed convolution, and what makes them invalid.",
    ),
    "attention": Place("relax/transform/legalize_ops/attention.py"),
    "attention_var_len": Place("relax/transform/legalize_ops/attention_var_len.py"),
    "conv_transpose": Place(
        "relax/transform/legalize_ops/conv_transpose.py",
        """Transposed convolution in every layout and with every dilation.

Output element o of an axis is the sum over inputs i and taps k with
``i*stride + k*dilation - pad_begin == o``. It is computed by gathering, so that no dilated copy of
data or kernel is made and no read is out of bounds.
""",
    ),
    "unlowered": Place(
        "relax/transform/legalize_ops/unlowered.py",
        "An error in place of a call that a legalization returns as it was.",
    ),
    "empty_permute": Place("relax/transform/legalize_ops/empty_permute.py"),
    "empty_reduction": Place("relax/transform/legalize_ops/empty_reduction.py"),
    "normalization": Place("relax/transform/legalize_ops/normalization.py"),
    "resize": Place("relax/transform/legalize_ops/resize.py"),
    "adaptive_pooling": Place("relax/transform/legalize_ops/adaptive_pooling.py"),
    "shape_values": Place("relax/transform/legalize_ops/shape_values.py"),
    "kept_dimensions": Place("relax/transform/legalize_ops/kept_dimensions.py"),
    "empty_tensors": Place("relax/transform/legalize_ops/empty_tensors.py"),
    "symbolic_slices": Place("relax/transform/legalize_ops/symbolic_slices.py"),
    "special_values": Place("relax/transform/legalize_ops/special_values.py"),
    "broadcast_elements": Place("relax/transform/legalize_ops/broadcast_elements.py"),
    "broadcasting": Place("relax/transform/legalize_ops/broadcasting.py"),
    "integer_division": Place("relax/transform/legalize_ops/integer_division.py"),
    "tvm_api_shapes": Place(
        "relax/op/dimensions.py", "Symbolic dimensions, and the types that hold them."
    ),
    "tvm_api_reductions": Place(
        "relax/transform/legalize_ops/reductions.py", "The reductions within lowered functions."
    ),
    "mixed_precision": Place(
        "relax/transform/mixed_precision.py",
        "Calls in lower precision that compute the same function as before.",
    ),
    "convert_layout": Place(
        "relax/transform/convert_layout.py",
        "ConvertLayout leaves transposed convolutions alone whose layouts are packed.",
    ),
    "onnx_rnn": Place(
        "relax/frontend/onnx/recurrent.py",
        """ONNX's LSTM, GRU and RNN.

The input's product with its weights is a matmul; all else of a node is one function of TIR, with a
loop over time, so that batch and length may be symbolic. What is narrower than float32 is computed
in float32.
""",
    ),
    "onnx_rnn_activations": Place("relax/frontend/onnx/recurrent_activations.py"),
    "onnx_rnn_arguments": Place("relax/frontend/onnx/recurrent_arguments.py"),
    "onnx_rnn_cells": Place("relax/frontend/onnx/recurrent_cells.py"),
    "onnx_rnn_loops": Place("relax/frontend/onnx/recurrent_loops.py"),
}
"""What becomes a new file. ``batch_matmul`` is written into TVM's own."""

RENAMED = {
    ("attention", "_lower"): "lower",
    ("attention_var_len", "_lower"): "lower",
    ("conv_transpose", "_lower"): "lower",
    ("empty_permute", "_unread_if_empty"): "unread_if_empty",
    ("symbolic_slices", "_of_sizes"): "of_sizes",
    ("normalization", "_in_own_dtype"): "in_own_dtype",
    ("normalization", "_of_type_of_call"): "of_type_of_call",
    ("resize", "_in_any_size"): "in_any_size",
    ("adaptive_pooling", "_by_axes"): "by_axes",
    ("shape_values", "_written_out"): "written_out",
    ("kept_dimensions", "_keeping"): "keeping",
    ("empty_tensors", "_of_no_elements"): "of_no_elements",
    ("special_values", "_with_nan"): "with_nan",
    ("broadcasting", "_at_run_time"): "at_run_time",
    ("integer_division", "_of_any_integers"): "of_any_integers",
    ("special_values", "_from_itself"): "from_itself",
    ("special_values", "_found_at_the_end"): "found_at_the_end",
    ("attention_arguments", "_check_attention"): "check_attention",
    ("attention_arguments", "_check_var_len"): "check_var_len",
    ("conv_transpose_arguments", "_check"): "check",
}
"""Definitions that other files of TVM use: no longer private to ours."""

_PRODUCT = Body("topi/nn/batch_matmul.py", "batch_matmul.batch_matmul")

STEPS: dict[str, tuple[Step, ...]] = {
    conv_transpose_arguments.FIX.name: tuple(
        Checking(f"conv{rank}d_transpose", "conv_transpose_arguments._check", str(rank))
        for rank in conv_transpose_arguments.SPATIAL
    ),
    **{
        f"conv{rank}d_transpose": (
            Lowering(f"relax.nn.conv{rank}d_transpose", "conv_transpose._lower", str(rank)),
        )
        for rank in conv_transpose_arguments.SPATIAL
    },
    attention_arguments.FIX.name: (
        Checking("attention", "attention_arguments._check_attention"),
        Checking("attention_bias", "attention_arguments._check_attention"),
        Checking("attention_var_len", "attention_arguments._check_var_len"),
    ),
    "attention": (
        _PRODUCT,
        Lowering("relax.nn.attention", "attention._lower"),
        Lowering("relax.nn.attention_bias", "attention._lower"),
    ),
    "attention_var_len": (
        _PRODUCT,
        Lowering("relax.nn.attention_var_len", "attention_var_len._lower"),
    ),
    "batch_matmul": (_PRODUCT,),
    mixed_precision.ATTENTION.name: (
        Override(
            mixed_precision.ATTENTION.operators,
            mixed_precision.KEY,
            "mixed_precision._same",
            wraps=False,
        ),
    ),
    mixed_precision.PRODUCTS.name: (
        Override(
            mixed_precision.PRODUCTS.operators,
            mixed_precision.KEY,
            "mixed_precision._of_floats_only",
            wraps=True,
        ),
    ),
    convert_layout.FIX.name: (
        Override(
            convert_layout.FIX.operators, convert_layout.KEY, "convert_layout._guard", wraps=True
        ),
    ),
    "empty_permute": (Wrapping("relax.permute_dims", "empty_permute._unread_if_empty"),),
    "empty_reduction": tuple(
        Wrapping(operator, "empty_reduction.initializing") for operator in reductions.OPERATORS
    ),
    "empty_tensors": tuple(
        Wrapping(operator, "empty_tensors._of_no_elements") for operator in empty_tensors.OPERATORS
    ),
    "dataflow_reshape": (
        Body("relax/transform/transform.py", "dataflow_reshape.RewriteDataflowReshape"),
    ),
    "symbolic_slices": (Wrapping("relax.strided_slice", "symbolic_slices._of_sizes"),),
    "folding": (Body("relax/transform/transform.py", "folding.FoldConstant"),),
    "fusion": (Body("relax/transform/transform.py", "fusion.FuseOps"),),
    "far_ends": (Body("relax/op/index.py", "far_ends.strided_slice"),),
    "normalization": (
        *(
            Wrapping(operator, "normalization._in_own_dtype")
            for operator in normalization.OPERATORS
        ),
        Wrapping("relax.nn.batch_norm", "normalization._of_type_of_call"),
    ),
    "resize": (Wrapping("relax.image.resize2d", "resize._in_any_size"),),
    "adaptive_pooling": tuple(
        Wrapping(operator, "adaptive_pooling._by_axes") for operator in adaptive_pooling.OPERATORS
    ),
    "scans": (Body("topi/scan.py", "scans.scanop"),),
    "shape_values": (Wrapping("relax.reshape", "shape_values._written_out"),),
    "kept_dimensions": (Wrapping("relax.reshape", "kept_dimensions._keeping"),),
    "broadcasting": (Wrapping("relax.broadcast_to", "broadcasting._at_run_time"),),
    "integer_division": tuple(
        Wrapping(operator, "integer_division._of_any_integers")
        for operator in integer_division.OPERATORS
    ),
    "special_values": (
        Wrapping("relax.equal", "special_values._with_nan"),
        Wrapping("relax.not_equal", "special_values._with_nan"),
        Wrapping("relax.subtract", "special_values._from_itself"),
        Wrapping("relax.argmax", "special_values._found_at_the_end"),
        Wrapping("relax.argmin", "special_values._found_at_the_end"),
    ),
    "onnx_rnn": tuple(
        Entry(
            "relax/frontend/onnx/onnx_frontend.py",
            "_get_convert_map",
            operator,
            "onnx_rnn.Converter",
        )
        for operator in onnx_rnn.OPERATORS
    ),
    "unlowered": tuple(
        Wrapping(operator, "unlowered.or_refuse") for operator in refusals.OPERATORS
    ),
}
"""What each fix does to TVM's sources, by its name; one that is passes is no change of them."""


def over_cpp(name: str) -> bool:
    """Whether the fix stands above something that TVM does in C++, which it cannot change."""
    return any(isinstance(step, Override) for step in STEPS.get(name, ()))
