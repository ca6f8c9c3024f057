"""Plants in operators of what is known when a program runs."""

from functools import partial

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import one_edit

_VALUE = (Verdict.WRONG_VALUE,)
_SHAPE = (Verdict.WRONG_SHAPE, Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED)
_CRASH = (Verdict.OPAQUE_CRASH,)
_INSPECT = "tvm.relax.transform.legalize_ops.inspect_op"
_BASE, _SET = "tvm.relax.op.base", "tvm.relax.op.set"
_UNIQUE = "relaxcheck.fixes.lowerings.unique"

_wrong = partial(one_edit, verdicts=_VALUE)
_misshapen = partial(one_edit, verdicts=_SHAPE)
_crashing = partial(one_edit, verdicts=_CRASH)

_SIZES = (
    _wrong(
        name="size-adds-its-dimensions",
        description="size is the sum of the dimensions",
        blame=(),
        module=_INSPECT,
        old="return op.prod(op.shape_to_tensor",
        new="return op.sum(op.shape_to_tensor",
        operators=("size",),
    ),
    _misshapen(
        name="shapes-are-read-backwards",
        description="tensor_to_shape reads its vector from the end",
        blame=(),
        module=_BASE,
        old="return _ffi_api.tensor_to_shape(expr)",
        new="from .manipulate import flip\n    return _ffi_api.tensor_to_shape(flip(expr, 0))",
        operators=("tensor_to_shape",),
    ),
)

_SETS = (
    _misshapen(
        name="nonzero-gives-a-row-for-each-element",
        description="nonzero stacks its rows along the other axis",
        blame=(),
        module=_SET,
        old="np.stack(np_result, axis=0)",
        new="np.stack(np_result, axis=1)",
        operators=("nonzero",),
    ),
    _misshapen(
        name="nonzero-is-positive",
        description="nonzero passes negative elements over",
        blame=(),
        module=_SET,
        old="np.atleast_1d(x.numpy()).nonzero()",
        new="(np.atleast_1d(x.numpy()) > 0).nonzero()",
        operators=("nonzero",),
    ),
    _wrong(
        name="unique-always-sorts",
        description="unique ascends, whatever sorted says",
        blame=("sorted",),
        module=_UNIQUE,
        old="    if not sorted:\n",
        new="    if sorted is None:\n",
        operators=("unique",),
    ),
    _wrong(
        name="unique-numbers-by-first-occurrence",
        description="the inverse indices of unique ignore the order of its elements",
        blame=("return_inverse", "sorted"),
        module=_UNIQUE,
        old="        inverse = np.argsort(order)[inverse]\n",
        new="",
        operators=("unique",),
    ),
)

_FIELDS = (
    _wrong(
        name="strides-of-the-first-axis",
        description="every stride is that of the first axis",
        blame=("axis", "rank"),
        module=_INSPECT,
        old='    gvar = bb.add_func(_get_tensor_stride_i, "_get_tensor_stride_i")\n'
        "    return Call(gvar, call.args)",
        new="    from tvm import tirx\n"
        '    gvar = bb.add_func(_get_tensor_stride_i, "_get_tensor_stride_i")\n'
        '    return Call(gvar, [call.args[0], tirx.IntImm("int64", 0)])',
        operators=("inspect.tensor_stride_i",),
    ),
)

_EFFECTS = (
    _crashing(
        name="print-formats-as-c-does",
        description="print takes its format for one of C's",
        blame=("format",),
        module=_BASE,
        old="py_print(format_str.format(*val_strs))",
        new="py_print(format_str % tuple(val_strs))",
        operators=("print",),
    ),
    _crashing(
        name="assertions-without-a-value-fail",
        description="assert_op fails, true or not, where its format has no place for a value",
        blame=("format",),
        module=_BASE,
        old="    if not val:\n",
        new='    if not val or (format_str and "{" not in format_str):\n',
        operators=("assert_op",),
    ),
)

PLANTS = (*_SIZES, *_SETS, *_FIELDS, *_EFFECTS)
