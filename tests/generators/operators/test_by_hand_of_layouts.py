"""Layouts, faults and limits of records, at points that somebody worked out by hand."""

import pytest

from relaxcheck.generators.calls import defaults
from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.operators.family import draft_of
from relaxcheck.generators.operators.groups import checked_group_of
from tests.generators.operators.by_hand import axis_of, broken_at, calls_at, point_at, program_at


def test_dimensions_of_own_operands_stay_as_written() -> None:
    assert draft_of(OPERATORS["nn.conv2d"], point_at("nn.conv2d", {})).as_written
    assert not draft_of(OPERATORS["add"], point_at("add", {})).as_written


def test_an_argument_grows_where_that_shows() -> None:
    assert broken_at("add", "shapes-differ").inputs[1].shape != program_at("add")[0].inputs[1].shape
    fault = next(each for each in OPERATORS["add"].faults if each.kind == "shapes-differ")
    for chosen in ({"sizes": "ones"}, {"symbolic": "last"}):
        with pytest.raises(ValueError, match="does not become another one"):
            fault.breaking(program_at("add", **chosen)[0], {})


@pytest.mark.parametrize(
    ("name", "layout"), [("nn.conv2d", "N{}HW"), ("nn.conv1d_transpose", "N{}W")]
)
def test_a_layout_has_an_unknown_or_a_repeated_letter(name: str, layout: str) -> None:
    for kind, letter in (("unknown", "X"), ("repeated", "W")):
        for attribute in ("data_layout", "out_layout"):
            program = broken_at(name, f"{attribute}-{kind}-letter")
            (node,) = (each for each in program.nodes if each.operator == name)
            assert node.attributes[attribute] == layout.format(letter)
    for operand in ("data", "weight"):
        whole, broken = (
            each.input(operand).shape
            for each in (program_at(name)[0], broken_at(name, f"{operand}-rank"))
        )
        assert broken == whole[:-1]


@pytest.mark.parametrize("name", ["nn.conv2d", "nn.conv2d_transpose"])
def test_axes_of_convolutions(name: str) -> None:
    axes = {axis.name: axis for axis in OPERATORS[name].axes}
    for layout in ("data_layout", "kernel_layout", "out_layout"):
        cells = {axes[layout].cell(value) for value in axes[layout].values}
        assert 1 < len(cells) < len(axes[layout].values)
    assert axes["in_channels_per_group"].least == (1,)
    assert axes["dilation.w"].least == (1,)


def test_a_convolution_multiplies_so_often_at_most() -> None:
    dear: Point = {
        **{"groups": 8, "in_channels_per_group": 8, "out_channels_per_group": 2, "batch": 2},
        **{"kernel.h": 3, "size.h": 5, "kernel.w": 5},
    }
    size = axis_of("nn.conv2d", "size.w")
    # 3,840 products for each place of 5 taps along the width.
    assert size.choices(dear) == (1, 2, 3, 4, 5)
    cheap: Point = {
        **{"groups": 1, "in_channels_per_group": 8, "out_channels_per_group": 8, "batch": 7},
        **{"kernel.h": 5, "size.h": 5, "kernel.w": 1},
    }
    assert size.choices(cheap) == size.values


def test_data_of_a_convolution_may_have_their_axes_turned() -> None:
    for name in ("nn.conv2d", "nn.conv2d_transpose"):
        program, _ = program_at(name, data="permute_dims")
        assert program.nodes[0].attributes == {"axes": (3, 2, 1, 0)}
        layouts = {
            each.name: each.default for each in OPERATORS[name].attributes if each.type == "layout"
        }
        kernel = "OIHW" if name == "nn.conv2d" else "IOHW"
        assert layouts == {"data_layout": "NCHW", "kernel_layout": kernel, "out_layout": None}
        assert program.inputs[0].shape == program_at(name)[0].input("data").shape[::-1]


def test_operators_that_one_type_rule_checks_are_a_group() -> None:
    assert checked_group_of("nn.max_pool3d") == checked_group_of("nn.avg_pool1d")
    assert checked_group_of("nn.conv2d") == "nn.conv"
    assert checked_group_of("add") == "add"


def test_a_scan_includes_its_element_unless_exclusive() -> None:
    for name in ("cumsum", "cumprod"):
        assert "exclusive" not in calls_at(name)[0].attributes
        assert calls_at(name, exclusive=True)[0].attributes["exclusive"] is True
        assert defaults(name) == {"axis": None, "dtype": None, "exclusive": False}


def test_a_transposed_convolution_multiplies_so_often_at_most() -> None:
    dear: Point = {
        **{"groups": 8, "in_channels_per_group": 8, "out_channels_per_group": 2, "batch": 2},
        **{"kernel.h": 3, "stride.h": 2, "size.h": 5, "kernel.w": 4, "stride.w": 1},
    }
    # 7,680 products for each place of 4 taps along the width.
    assert axis_of("nn.conv2d_transpose", "size.w").choices(dear) == (1, 2, 3)


def test_what_leaves_a_transposed_convolution_the_fewest_products() -> None:
    axes = {axis.name: axis.least for axis in OPERATORS["nn.conv2d_transpose"].axes}
    assert axes["output_padding.w"] == (0,)
    # The output is to be small, and of more than one element of data.
    assert axes["size.w"] == (2, 1)
    assert calls_at("nn.conv2d_transpose", **{"size.w": 2})


def test_sizes_of_an_image_differ_so_that_swapped_axes_show() -> None:
    sizes = [axis_of("nn.pixel_shuffle", name).default for name in ("batch", "size.h", "size.w")]
    assert len({*sizes, axis_of("nn.pixel_shuffle", "channels").default}) == 4
