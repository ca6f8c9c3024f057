"""Errors that TVM 0.25 to 0.27 raise on invalid programs, and which of them are rejections."""

import pytest

from relaxcheck.harness.outcomes.refusals import Subject, own_words, refuses

_OP = (
    'ir.Op(span=None, ty=ir.Type(span=None), name="relax.nn.{}", description="", arguments='
    '(ir.ArgumentInfo(name="data", type_info="Tensor", description="The input tensor."), '
    'ir.ArgumentInfo(name="weight", type_info="Tensor", description="The weight tensor.")), '
    'attrs_type_key="relax.attrs.{}", num_inputs=2, support_level=10)'
)
_CONV = _OP.format("conv1d_transpose", "Conv1DTransposeAttrs")
_SOFTMAX = _OP.format("softmax", "SoftmaxAttrs")
_OLDER = (
    'ir.Op(span=None, struct_info_=None, name="relax.nn.conv1d_transpose", op_type=None, '
    'description="", arguments=(ir.ArgumentInfo(name="data", type_info="Tensor", description="The '
    'input tensor."),), attrs_type_key="relax.attrs.Conv1DTransposeAttrs", num_inputs=2, '
    "support_level=10)"
)
_CALL = (
    "R.nn.conv1d_transpose(data, weight, strides=[1], padding=[0, 0], output_padding=[0], "
    'dilation=[0], groups=1, data_layout="NCW", kernel_layout="IOW", out_layout="NCW", '
    "out_dtype=None)"
)
_MODULE = (
    "\n\nError in pass: LegalizeOps\nLocation (TVMScript):\nclass Module:\n    padding: not right\n"
)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "dimension of heads",
            "ValueError: The query dimension of heads and the key dimension of heads should be the "
            "same. However, the dimension of heads of query is T.int64(8) while the dimension of "
            "heads of key is T.int64(9)",
        ),
        (
            "batch",
            "ValueError: The query batch size and the bias batch size should be the same or "
            "broadcastable. However, the batch size of query is T.int64(2) while the batch size of "
            "bias is T.int64(3)",
        ),
        (
            "rank",
            "ValueError: The query should have 4 dimension, namely [batch size, sequence length, "
            "number of heads, dimension of heads].",
        ),
        (
            "strides",
            "InternalError: Check failed: strides.size() == 1 (3 vs. 1) : The input strides length "
            "is expected to be 1. However, the given strides is (1, 1, 1)",
        ),
        (
            "padding",
            "InternalError: The input padding length is expected to be either 1, 2 or 4. However, "
            "the given padding is (0, 0, 0, 0, 0)",
        ),
        (
            "groups",
            "InternalError: Check failed: groups > 0 (0 vs. 0) : The number of groups in "
            "convolution is expected to be positive. However, the given number of groups is 0",
        ),
        (
            "layout",
            f"ValueError: {_CONV} requires the given data layout to be convertible from NCW "
            "layout. However, the given layout NXW is not convertible.",
        ),
        (
            "layout",
            f"ValueError: {_OLDER} requires the given output layout to be convertible from NCW "
            "layout. However, the given layout NXW is not convertible.",
        ),
        (
            "ndim",
            f"ValueError: In {_CONV}, layout NCW requires the input to be 3-dim tensor. However, "
            "the given input has ndim 2",
        ),
        (
            "datatype",
            f"TypeError: Binary operators must have the same datatype for both operands.  However, "
            f'{_CALL} uses datatype T.float32 on the LHS (Type of R.Tensor((2, 2, 4), dtype="'
            'float32")), and datatype T.float64 on the RHS (Type of R.Tensor((2, 3, 3), dtype="'
            'float64")).',
        ),
        ("pad_width", "InternalError: Check failed: (a == 2 * ndim) is false: Illegal pad_width"),
        (
            "reduction",
            'InternalError: Check failed: (reduction == "none" || reduction == "sum") is false: '
            "The argument reduction of NLLLoss should be one of the following values: none, mean, "
            "sum. However, the given value is foo",
        ),
        (
            "axis",
            f"ValueError: In {_SOFTMAX}, the input axis 5 is out of range. The input tensor has 3 "
            "dimensions, so axis should be in range [-3, 3).",
        ),
        (
            "input axes",
            f"ValueError: In {_SOFTMAX}, the input axes is required to be non-repetitive. However, "
            "there are multiple given axes referring to axis 1",
        ),
        (
            "new shape",
            "InternalError: Check failed: dim_to_infer == -1 (0 vs. -1) : Reshape accepts at most "
            'one "-1" in the new shape. However, there are multiple "-1" in the given new shape  '
            "(-1, -1)",
        ),
        (
            "number of sections",
            "InternalError: Check failed: n_section->value > 0 (0 vs. 0) : Split op expects the "
            "input number of sections to be a positive integer. However, the given number of "
            "sections is 0",
        ),
        (
            "indices dtype",
            "TypeError: Take op requires the input indices to have integer dtype. However, the "
            "given indices dtype is T.float32",
        ),
        (
            "ndim",
            "ValueError: Concat expects all input tensors to have same ndim. However, the input "
            "contains tensors with ndim 3 and 2",
        ),
        (
            "begin",
            "InternalError: Check failed: length == std::get<size_t>(prev) (1 vs. 2) : The "
            "strided_slice operator requires that the axes, begin, end, and strides tuples are all "
            "the same length.  However, the axes argument ((0, 1)) has 2 elements, while the begin "
            "argument ((0,)) has 1 elements.",
        ),
        (
            "operands",
            "TypeError: Check failed: (rhs_ty.as<PrimTypeNode>() || rhs_ty.as<TensorTypeNode>()) "
            "is false: Arguments to binary operators must be either R.Tensor or R.Prim types, but "
            "expression R.add(data, R.shape([1])) has RHS R.shape([1]), and the data fits",
        ),
        # By two sizes of the program.
        (
            "contraction",
            "ValueError: Matmul requires the reduction length of the operands to be equal.  "
            "However, the LHS a has shape R.shape([2, 3]), while the RHS b has shape "
            "R.shape([4, 5]).  The reduction dimensions of T.int64(3) and T.int64(4) are not "
            "equal.",
        ),
        ("inner dimension", "InternalError: Cannot broadcast extents T.int64(3) and T.int64(4)"),
        # By an operand, in a check of type inference.
        (
            "condition dtype",
            "TypeError: Where requires the input weight tensor to have boolean type. However, it "
            "is T.float32",
        ),
    ],
)
def test_a_check_that_says_what_is_wrong_rejects(fault: str, message: str) -> None:
    subject = Subject((fault, "dimension"), ("data", "weight"), frozenset({1, 2, 3, 4}))
    assert refuses(message, "emit", subject)
    assert refuses(message + _MODULE, "emit", subject)
    assert not refuses(message, "codegen", subject)
    assert not refuses(message, "run", subject)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("dilation", "InternalError: Check failed: pb->value != 0 (0 vs. 0) : Divide by zero"),
        (
            "dilation",
            "InternalError: Check failed: (value >= 0) is false: cannot make uint from negative "
            "value -6",
        ),
        (
            "dtype",
            "RuntimeError: TVM supports multiple types of integer divisions, please call div, "
            "indexdiv/indexmod, floordiv/floormod  or truncdiv/truncmod directly to avoid "
            "ambiguity in the code.",
        ),
        ("causal_mask", "RuntimeError: "),
        ("causal_mask", "NotImplementedError: "),
        ("output size", "InternalError: std::bad_alloc"),
        ("axis", "IndexError: Index 5 out of bounds 3"),
        # Numbers of the program in the words of an accident.
        ("strides", "InternalError: index 3 out of bounds on array of size 2"),
        ("strides", "ArrayIndexError: indexing 4 on an array of size 3"),
        ("strides", "RuntimeError: divide by zero 2 3"),
        ("strides", "InternalError: Divide by zero in strides"),
        ("strides", "InternalError: unknown intrinsic Op(tirx.strides)"),
        ("strides", "AssertionError: 3 != 4"),
        ("sizes", "ValueError: operands could not be broadcast together with shapes (2,3) (4,1)"),
        ("sizes", "InternalError: /root/src/foo.cc:3: at line 4 something is bad"),
        (
            "strides",
            "TypeError: Mismatched type on argument #2 when calling: `relax.op.nn.conv1d(0: "
            "ir.Expr, 1: ir.Expr, 2: Array<int>, 3: Array<int>)`. Expected `Array<int>` but got "
            "`Array[index 0: None]`",
        ),
        ("stride", "InternalError: Check failed: pb->value != 0 (0 vs. 0) : Divide by zero"),
        (
            "equation",
            "InternalError: Check failed: current_dim == input_shape.size() (2 vs. 3) : ",
        ),
        ("groups", "KeyError: 'groups'"),
        ("groups", "AttributeError: 'NoneType' object has no attribute 'groups'"),
        ("groups", "ValueError: groups"),
        ("groups", "InternalError: Check failed: (groups > 0) is false: "),
        ("groups", "InternalError: Check failed: groups > 0 (0 vs. 0) : "),
        ("groups", "TypeError: conv2d() got an unexpected keyword argument 'groups'"),
        ("groups", "TypeError: conv2d() missing 1 required positional argument: 'groups'"),
        ("dtype", "ValueError: invalid literal for int() with base 10: 'dtype'"),
        ("strides", "TypeError: unsupported operand type(s) for *: 'strides' and 'NoneType'"),
        ("padding", "ValueError: not enough values to unpack (expected 4 padding, got 3)"),
        # The call or operator that a message shows is none of its words.
        ("dilation", f"InternalError: CodeGenVM cannot handle this intrinsic now: {_CALL}"),
        ("weight", f"ValueError: {_CONV} has no such attribute"),
        ("padding", "RuntimeError: cannot lower it" + _MODULE),
        # An operand in words that are not of type inference's.
        ("channels", "InternalError: Check failed: (it != map.end()) is false: no data in it"),
        # Sizes in the condition, and one size twice.
        ("rank", "InternalError: Check failed: current_dim == input_shape.size() (2 vs. 3) : "),
        ("rank", "InternalError: the extent 3 is not the extent 3"),
    ],
)
@pytest.mark.parametrize("stage", ["emit", "LegalizeOps"])
def test_an_accident_does_not_reject(fault: str, message: str, stage: str) -> None:
    subject = Subject((fault,), ("data", "weight"), frozenset({1, 2, 3, 4}))
    assert not refuses(message, stage, subject)


def test_an_operand_counts_in_checks_of_type_inference_alone() -> None:
    subject = Subject(("channels",), ("data", "a"))
    assert refuses("ValueError: the data cannot be used so", "emit", subject)
    assert not refuses("ValueError: the data cannot be used so", "LegalizeOps", subject)
    assert not refuses("InternalError: the data cannot be used so", "emit", subject)
    # An article is no operand.
    assert not refuses("ValueError: a thing cannot be used so", "emit", subject)


def test_own_words_leave_out_what_is_only_shown() -> None:
    assert own_words(f"ValueError: In {_CONV}, it is wrong" + _MODULE) == "In , it is wrong"
    assert own_words(f"TypeError: {_CALL} is a call") == "is a call"
    assert own_words("TypeError: (R.Tensor((2, (T.int64(3), 4)), dtype)) ok") == "( ) ok"
    assert own_words("InternalError: Check failed: a::b(x) == 1 (f(2) vs. 1) : no") == "no"


def test_the_value_at_fault_quoted_says_what_is_wrong() -> None:
    message = "AssertionError: ('scatter_nd mode not in [update, add, mul, min, max]:', 'sub')"
    assert refuses(message, "LegalizeOps", Subject(("reduction",), values=("sub",)))
    assert not refuses(message, "LegalizeOps", Subject(("reduction",), values=("su",)))


def test_numbers_that_are_called_invalid_say_what_is_wrong() -> None:
    subject = Subject(("stride",))
    shape = "ValueError: Invalid conv parameters: lead to negative output shape [-2, 2]."
    assert refuses(shape, "LegalizeOps", subject)
    assert not refuses("ValueError: Invalid conv parameters.", "LegalizeOps", subject)
    assert not refuses(shape.replace("ValueError", "IndexError"), "LegalizeOps", subject)
