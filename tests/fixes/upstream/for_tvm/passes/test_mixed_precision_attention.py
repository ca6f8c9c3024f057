"""ToMixedPrecision keeps the attributes of attention."""

import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R


def test_causal_mask_scale_and_bias():
    @I.ir_module
    class Module:
        @R.function
        def main(q: R.Tensor((1, 2, 3, 4), "float32"), bias: R.Tensor((1, 3, 2, 2), "float32")):
            with R.dataflow():
                y = R.nn.attention_bias(q, q, q, bias, scale=0.25, causal_mask="TopLeft")
                R.output(y)
            return y

    results = []
    relax.analysis.post_order_visit(
        relax.transform.ToMixedPrecision()(Module)["main"],
        lambda expr: results.append(expr) if isinstance(expr, relax.Call) else None,
    )
    (call,) = (expr for expr in results if "attention" in str(expr.op))
    assert call.op.name == "relax.nn.attention_bias"
    assert len(call.args) == 4
    assert call.attrs.causal_mask == "TopLeft"
    assert float(call.attrs.scale) == 0.25


if __name__ == "__main__":
    tvm.testing.main()
