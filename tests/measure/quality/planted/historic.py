"""Two faults of earlier releases, written from their reports.

apache/tvm#19696: attention merges batch and heads once for each operand, and the batch product then
takes two equal symbolic sizes for different ones. apache/tvm#19694: transposed convolution returns
the call as it is, without a word, for any dilation or layout that it has no lowering for.
"""

import tvm
from tvm import relax, tirx, topi


def attention(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    def compute(query: object, key: object, value: object) -> object:
        def merged(tensor: object) -> object:
            batch, length, heads, size = tensor.shape  # type: ignore[attr-defined]
            by_head = topi.transpose(tensor, [0, 2, 1, 3])
            return topi.reshape(by_head, [batch * heads, length, size])

        batch, length, heads, size = query.shape  # type: ignore[attr-defined]
        scores = topi.nn.batch_matmul(merged(query), merged(key))
        root = tirx.sqrt(tirx.Cast(scores.dtype, size))
        weights = topi.nn.softmax(topi.divide(scores, root))
        result = topi.nn.batch_matmul(weights, merged(value), transpose_b=False)
        by_head = topi.reshape(result, [batch, heads, length, value.shape[3]])  # type: ignore[attr-defined]
        return topi.transpose(by_head, [0, 2, 1, 3])

    return builder.call_te(compute, *call.args, primfunc_name_hint="attention")


def bailing(original: object, data_layout: str) -> object:
    def legalize(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
        attrs = call.attrs
        dilated = any(int(step) != 1 for step in attrs.dilation)
        laid_out = attrs.data_layout != data_layout or attrs.out_layout != data_layout
        return call if dilated or laid_out else original(builder, call)  # type: ignore[operator]

    return legalize


def put_back() -> None:
    for name, layout in (("1d", "NCW"), ("2d", "NCHW"), ("3d", "NCDHW")):
        operator = f"relax.nn.conv{name}_transpose"
        original = tvm.ir.Op.get(operator).get_attr("FLegalize")
        tvm.ir.register_op_attr(operator, "FLegalize", bailing(original, layout), level=15)
    tvm.ir.register_op_attr("relax.nn.attention", "FLegalize", attention, level=15)
