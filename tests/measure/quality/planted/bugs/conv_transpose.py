"""Plants in the index arithmetic of the transposed convolutions."""

from relaxcheck.harness.outcomes.outcome import Verdict
from tests.measure.quality.planted.plant import Edit, Plant

_MODULE = "relaxcheck.fixes.lowerings.convolution.transposed"
_SCALED = "scaled = at[axis] + window.pad_begin - k * window.dilation"
_VALUE = (Verdict.WRONG_VALUE,)


def _scaled(name: str, description: str, blame: tuple[str, ...], new: str) -> Plant:
    edit = Edit(_MODULE, _SCALED, f"scaled = {new}")
    return Plant(name, description, _VALUE, blame, (edit,))


_INDEX = (
    _scaled(
        "conv-dilation-axes-reversed",
        "the dilation of the last spatial axis is applied to the first",
        ("dilation",),
        "at[axis] + window.pad_begin - k * convolution.windows[-1 - spatial.index(axis)].dilation",
    ),
    _scaled(
        "conv-dilation-ignored-along-width",
        "taps along W are one apart whatever the dilation",
        ("dilation",),
        'at[axis] + window.pad_begin - k * (1 if axis == "W" else window.dilation)',
    ),
    _scaled(
        "conv-padding-end-for-begin",
        "the padding of the end is taken where that of the beginning is meant",
        ("pad_begin", "pad_end"),
        "at[axis] + window.pad_end - k * window.dilation",
    ),
    _scaled(
        "conv-padding-off-by-one",
        "the padding of the beginning is one too small where it is more than 1",
        ("pad_begin",),
        "at[axis] + window.pad_begin - int(window.pad_begin > 1) - k * window.dilation",
    ),
    _scaled(
        "conv-output-padding-at-the-beginning",
        "the output padding extends the beginning",
        ("output_padding",),
        "at[axis] + window.pad_begin - window.output_padding - k * window.dilation",
    ),
    _scaled(
        "conv-taps-reversed-if-dilated",
        "a dilated kernel is read from its end",
        ("dilation",),
        "at[axis] + window.pad_begin - window.dilation"
        " * (k if window.dilation == 1 else taps[axis] - 1 - k)",
    ),
)

PLANTS = (
    *_INDEX,
    Plant(
        "conv-taps-from-the-first",
        "taps are counted upwards, which TVM's own simplification of indices gets wrong",
        _VALUE,
        ("stride", "pad_begin", "pad_end"),
        (Edit(_MODULE, "k = taps[axis] - 1 - reverse.var", "k = reverse.var"),),
    ),
    Plant(
        "conv-stride-and-dilation-swapped",
        "stride and dilation change places where the indices are computed",
        _VALUE,
        ("stride", "dilation"),
        (
            Edit(_MODULE, _SCALED, "scaled = at[axis] + window.pad_begin - k * window.stride"),
            Edit(_MODULE, "floordiv(scaled, window.stride)", "floordiv(scaled, window.dilation)"),
            Edit(_MODULE, "floormod(scaled, window.stride)", "floormod(scaled, window.dilation)"),
        ),
    ),
    Plant(
        "conv-stride-of-first-axis",
        "the stride of the first spatial axis is applied to all",
        _VALUE,
        ("stride",),
        (
            Edit(
                _MODULE,
                "floordiv(scaled, window.stride)",
                "floordiv(scaled, convolution.windows[0].stride)",
            ),
            Edit(
                _MODULE,
                "floormod(scaled, window.stride)",
                "floormod(scaled, convolution.windows[0].stride)",
            ),
        ),
    ),
    Plant(
        "conv-phase-of-stride-three",
        "for a stride of 3 positions between two inputs take the one before",
        _VALUE,
        ("stride",),
        (
            Edit(
                _MODULE,
                "floormod(scaled, window.stride), 0)",
                "floormod(scaled, min(window.stride, 2)), 0)",
            ),
        ),
    ),
    Plant(
        "conv-input-bound-off-by-one",
        "one element after the end of the input is read",
        (Verdict.WRONG_VALUE, Verdict.PROCESS_DEATH),
        (),
        (
            Edit(
                _MODULE,
                "data_at[axis] < data_extents[axis]",
                "data_at[axis] <= data_extents[axis]",
            ),
        ),
    ),
    Plant(
        "conv-first-input-skipped",
        "the first input of the spatial axis D is skipped",
        _VALUE,
        (),
        (Edit(_MODULE, "scaled >= 0", '(scaled > 0 if axis == "D" else scaled >= 0)'),),
    ),
    Plant(
        "conv-last-group-reads-first",
        "the last group reads the input channels of the first",
        _VALUE,
        ("groups",),
        (
            Edit(
                _MODULE,
                '{"I": group * group_channels',
                '{"I": tvm_api.floormod(group, max(groups - 1, 1)) * group_channels',
            ),
        ),
    ),
    Plant(
        "conv-groups-interleaved",
        "the channels of a group lie apart by the number of groups",
        _VALUE,
        ("groups",),
        (
            Edit(
                _MODULE,
                "group * group_channels + channel.var",
                "channel.var * groups + group",
            ),
        ),
    ),
    Plant(
        "conv-depthwise-outputs-swapped",
        "with one input channel a group, outputs of a group come in reverse",
        _VALUE,
        ("groups", "in_channels_per_group"),
        (
            Edit(
                _MODULE,
                '"O": at["C"] - group * taps["O"]}',
                '"O": at["C"] - group * taps["O"]'
                " if groups == 1 or tvm_api.as_int(group_channels) != 1"
                ' else (group + 1) * taps["O"] - 1 - at["C"]}',
            ),
        ),
    ),
    Plant(
        "conv-batch-of-one",
        "a symbolic batch is computed as if it were 1",
        _VALUE,
        ("symbolic.batch",),
        (
            Edit(
                _MODULE,
                '{"N": at["N"], "C": kernel_at["I"]}',
                '{"N": at["N"] if tvm_api.as_int(data_extents["N"]) is not None else 0,'
                ' "C": kernel_at["I"]}',
            ),
        ),
    ),
    Plant(
        "conv-batch-beyond-four",
        "batches after the fourth read the first four again",
        _VALUE,
        ("batch", "symbolic.batch"),
        (Edit(_MODULE, '{"N": at["N"], "C"', '{"N": tvm_api.floormod(at["N"], 4), "C"'),),
    ),
    Plant(
        "conv-symbolic-width-takes-static-path",
        "the bound of a symbolic width is a guess",
        _VALUE,
        ("symbolic.w",),
        (
            Edit(
                _MODULE,
                "data_at[axis] < data_extents[axis]",
                "data_at[axis] < (data_extents[axis]"
                ' if axis != "W" or tvm_api.as_int(data_extents[axis]) is not None else 4)',
            ),
        ),
    ),
    Plant(
        "conv-bails-for-one-dilation",
        "the legalization returns the call for a dilation of 3",
        (Verdict.SILENT_BAIL, Verdict.UNSUPPORTED),
        ("dilation",),
        (
            Edit(
                _MODULE,
                "        dtype = tvm_api.dtype_of(call)\n",
                "        if any(window.dilation == 3 for window in convolution.windows):\n"
                "            return call\n"
                "        dtype = tvm_api.dtype_of(call)\n",
            ),
        ),
    ),
    Plant(
        "conv-bails-for-output-padding-and-groups",
        "the legalization returns the call for groups together with output padding",
        (Verdict.SILENT_BAIL, Verdict.UNSUPPORTED),
        ("output_padding", "groups"),
        (
            Edit(
                _MODULE,
                "        dtype = tvm_api.dtype_of(call)\n",
                "        extra = sum(window.output_padding for window in convolution.windows)\n"
                "        if extra and convolution.groups > 1:\n"
                "            return call\n"
                "        dtype = tvm_api.dtype_of(call)\n",
            ),
        ),
    ),
    Plant(
        "conv-symbolic-channels-as-integer",
        "the number of input channels is taken for an integer",
        (Verdict.OPAQUE_CRASH,),
        ("symbolic.in_channels",),
        (
            Edit(
                _MODULE,
                'analyzer.simplify(tvm_api.floordiv(taps["I"], groups))',
                'tvm_api.integer(int(taps["I"]) // groups)',
            ),
        ),
    ),
    Plant(
        "conv-symbolic-outputs-interleaved",
        "with a symbolic number of output channels, groups take turns instead of following",
        _VALUE,
        ("symbolic.out_channels", "groups"),
        (
            Edit(
                _MODULE,
                'group = tvm_api.floordiv(at["C"], outs) if groups > 1 else 0',
                'group = 0 if groups == 1 else (tvm_api.floordiv(at["C"], outs)'
                ' if tvm_api.as_int(taps["O"]) is not None'
                ' else tvm_api.floormod(at["C"], groups))',
            ),
            Edit(
                _MODULE,
                '"O": at["C"] - group * taps["O"]}',
                '"O": tvm_api.floormod(at["C"], taps["O"])}',
            ),
        ),
    ),
    Plant(
        "historic-19694-transposed-convolution-bails",
        "apache/tvm#19694: any dilation, and any layout but the canonical, returns the call",
        (Verdict.SILENT_BAIL, Verdict.UNSUPPORTED),
        ("dilation", "data_layout", "out_layout"),
        (
            Edit(
                _MODULE,
                'attributes=legalization(f"relax.nn.conv{rank}d_transpose", _lower(rank))',
                'attributes=legalization(f"relax.nn.conv{rank}d_transpose",'
                ' __import__("tests.measure.quality.planted.historic", fromlist=["bailing"])'
                '.bailing(_lower(rank), "NC" + SPATIAL[rank]))',
            ),
        ),
    ),
)
