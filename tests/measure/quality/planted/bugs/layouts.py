"""Plants in layouts, plain and packed, and in ConvertLayout's answers."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant

_MODULE = "relaxcheck.fixes.lowerings.convolution.layouts"
_VALUE = (Verdict.WRONG_VALUE, Verdict.PROCESS_DEATH)
_PACKED = ("data_layout", "kernel_layout", "out_layout")

PLANTS = (
    Plant(
        "layout-inner-index-is-outer",
        "the outer index of a packed axis is not multiplied by the factor where one is written",
        _VALUE,
        ("out_layout", "data_layout"),
        (
            Edit(
                _MODULE,
                "index * self.factor(axis) + dims.get(axis, 0)",
                "index + dims.get(axis, 0)",
            ),
        ),
    ),
    Plant(
        "layout-kernel-packed-in-both",
        "a kernel packed by two factors is unpacked by the larger one along both axes",
        _VALUE,
        ("kernel_layout",),
        (
            Edit(
                _MODULE,
                "(split for axis, split in self.axes if axis == letter)",
                "(split for axis, split in self.axes"
                " if axis == letter or split and letter in 'IO')",
            ),
        ),
    ),
    Plant(
        "layout-remainder-by-fixed-factor",
        "the inner index is taken modulo 4 whatever the factor",
        _VALUE,
        _PACKED,
        (
            Edit(
                _MODULE,
                "tvm_api.floormod(index[axis], split)",
                "tvm_api.floormod(index[axis], min(split, 4))",
            ),
        ),
    ),
    Plant(
        "layout-channels-last-upside-down",
        "an output with channels last has its first spatial axis reversed",
        (Verdict.WRONG_VALUE,),
        ("out_layout", "data_layout"),
        (
            Edit(
                "relaxcheck.fixes.lowerings.convolution.transposed",
                "        at = convolution.out.logical(position)\n",
                "        at = convolution.out.logical(position)\n"
                '        if convolution.out.text == f"N{spatial}C":\n'
                "            at[spatial[0]] = out_shape[1] - 1 - at[spatial[0]]\n",
            ),
        ),
    ),
    Plant(
        "layout-of-data-for-output",
        "the output is written in the layout of data where it has one of its own",
        (Verdict.WRONG_VALUE, Verdict.PROCESS_DEATH, Verdict.OPAQUE_CRASH),
        ("out_layout",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.convolution.transposed",
                "at = convolution.out.logical(position)",
                "at = (convolution.data if len(convolution.data.axes) == len(position)"
                " else convolution.out).logical(position)",
            ),
        ),
    ),
    Plant(
        "layout-bails-for-packed-data",
        "the legalization returns the call where data is packed",
        (Verdict.SILENT_BAIL, Verdict.UNSUPPORTED),
        ("data_layout",),
        (
            Edit(
                "relaxcheck.fixes.lowerings.convolution.transposed",
                "        dtype = tvm_api.dtype_of(call)\n",
                "        if len(convolution.data.axes) > rank + 2:\n"
                "            return call\n"
                "        dtype = tvm_api.dtype_of(call)\n",
            ),
        ),
    ),
    Plant(
        "layout-conversion-of-packed",
        "ConvertLayout is asked about packed layouts that it does not know",
        (Verdict.OPAQUE_CRASH, Verdict.PROCESS_DEATH),
        ("pipeline", "data_layout", "kernel_layout", "out_layout"),
        (
            Edit(
                "relaxcheck.fixes.lowerings.convolution.convert_layout",
                "if any(letter.islower() for text in texts for letter in text):",
                "if False:",
            ),
        ),
    ),
)
