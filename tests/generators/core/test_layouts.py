"""Layouts that people use, in place of those that nobody does."""

import pytest

from relaxcheck.generators.core.layouts import familiar_alternatives


@pytest.mark.parametrize(
    ("layout", "alternatives"),
    [
        ("NCWH", ("NCHW", "NHWC")),
        ("HNDCW", ("NCDHW", "NDHWC")),
        ("OIWH", ("OIHW", "HWIO", "HWOI", "IOHW")),
        ("NHWC", ()),
        ("IOHW", ()),
        ("NCHW4c", ()),
        ("float32", ()),
        ("BHQK", ()),
    ],
)
def test_alternatives_to_a_layout_that_nobody_uses(
    layout: str, alternatives: tuple[str, ...]
) -> None:
    assert familiar_alternatives(layout) == alternatives
