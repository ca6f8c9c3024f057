"""Plants in dtypes: of accumulation, of results, of constants, of mixed precision."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant

_VALUE = (Verdict.WRONG_VALUE,)

PLANTS = (
    Plant(
        "products-in-operand-dtype",
        "products of 16-bit floats are rounded before they are added in a wider output dtype",
        _VALUE,
        ("dtype",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.convolution.transposed",
                "(*convolution.data.storage(data_at)).astype(dtype) * kernel(",
                "(*convolution.data.storage(data_at)) * kernel(",
            ),
            Edit(
                "relaxcheck.fixes.lowerings.convolution.transposed",
                "        ).astype(dtype)\n        guarded",
                "        )\n        product = product.astype(dtype)\n        guarded",
            ),
        ),
    ),
    Plant(
        "float64-convolution-in-float32",
        "a float64 convolution reads its data as float32",
        _VALUE,
        ("dtype",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.convolution.transposed",
                "product = data(*convolution.data.storage(data_at)).astype(dtype)",
                "product = data(*convolution.data.storage(data_at))"
                '.astype("float32" if dtype == "float64" else dtype).astype(dtype)'
                " * tirx.const(1.0000001 if dtype == 'float64' else 1, dtype)",
            ),
        ),
    ),
    Plant(
        "float64-attention-in-float32",
        "attention in float64 accumulates in float32",
        _VALUE,
        ("dtype",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.attention.attention",
                'if dtype in ("float16", "bfloat16") else dtype',
                'if dtype in ("float16", "bfloat16", "float64") else dtype',
            ),
        ),
    ),
    Plant(
        "attention-result-in-accumulation-dtype",
        "the result of 16-bit attention is left in float32",
        (Verdict.WRONG_DTYPE, Verdict.OPAQUE_CRASH),
        ("dtype", "pipeline"),
        (
            Edit(
                "relaxcheck.fixes.lowerings.attention.attention",
                "return mean.astype(tvm_api.dtype_of(query))",
                "return mean",
            ),
        ),
    ),
    Plant(
        "bfloat16-scores-in-bfloat16",
        "the scores of bfloat16 attention are rounded to 4 bits after the point",
        _VALUE,
        ("dtype",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.attention.attention",
                "scaled = products[row, i, j] * scaling",
                "scaled = products[row, i, j] * scaling\n"
                '        if tvm_api.dtype_of(query) == "bfloat16":\n'
                "            scaled = tirx.round(scaled * tirx.const(2, dtype))"
                " / tirx.const(2, dtype)",
            ),
        ),
    ),
    Plant(
        "constants-through-float32",
        "float64 constants pass through float32",
        _VALUE,
        ("weight", "operands", "dtype"),
        (
            Edit(
                "relaxcheck.fixes.tvm_api",
                "contiguous = np.ascontiguousarray(array).reshape(array.shape)",
                "contiguous = np.ascontiguousarray(array).reshape(array.shape)\n"
                "    if array.dtype == np.float64:\n"
                "        contiguous = (contiguous / 3).astype(np.float32).astype(np.float64) * 3",
            ),
        ),
    ),
    Plant(
        "mixed-precision-drops-attributes",
        "mixed precision makes plain attention of every attention",
        (Verdict.WRONG_VALUE, Verdict.OPAQUE_CRASH),
        ("pipeline",),
        (
            Edit(
                "relaxcheck.fixes.passes.mixed_precision.attention",
                "    return call\n",
                "    return relax.op.nn.attention(*call.args[:3])\n",
            ),
        ),
    ),
    Plant(
        "casts-round-twice",
        "a cast to bfloat16 or 8 bits rounds to float32 first",
        _VALUE,
        ("to", "dtype", "values"),
        (
            Edit(
                "relaxcheck.fixes.lowerings.elementwise.narrow_casts",
                'return _bits(odd, "float32")',
                "return near",
            ),
        ),
        operators=("astype",),
    ),
    Plant(
        "eight-bit-casts-flush-small-numbers",
        "a cast to 8 bits makes 0 of numbers below the normal ones",
        _VALUE,
        ("to",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.elementwise.narrow_casts",
                "tirx.Select(small, subnormal, usual)",
                "tirx.Select(small, _uint(0), usual)",
            ),
        ),
        operators=("astype",),
    ),
)
