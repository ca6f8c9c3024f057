"""The list of this release: names known to be lost are in it, and each of them is drawn."""

from functools import cache

import pytest

from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.core.points import narrowed
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.family import families
from relaxcheck.generators.onnx.schemas import schema
from relaxcheck.harness.onnx.unread.listing import ATTRIBUTE, INPUT, Unread, unread
from relaxcheck.harness.onnx.unread.source import importer
from relaxcheck.harness.releases.releases import own

POINTS = 240
"""Points that are drawn of each version."""

FAMILIES = {family.hint.operator: family for family in families(("build",))}


@cache
def rows() -> tuple[Unread, ...]:
    return unread(importer(own()))


@cache
def drawn(operator: str, opset: int) -> tuple[OnnxCase, ...]:
    """Cases of ``operator`` in ``opset``, steered over all its axes."""
    family = FAMILIES[operator]
    steering = Steering(narrowed(family.axes, {"opset": (opset,)}))
    return tuple(family.build(steering.point(number), number) for number in range(POINTS))


def matters(case: OnnxCase, row: Unread) -> bool:
    """True if ``case`` has the attribute with another value than the default, or the input."""
    version = schema(row.operator, row.opset)
    assert version is not None
    node = next(each for each in case.model.nodes if each.operator == row.operator)
    if row.kind == ATTRIBUTE:
        value = node.attributes.get(row.name)
        return value is not None and value != version.attributes[row.name]
    at = [each.name for each in version.inputs].index(row.name)
    return len(node.inputs) > at and node.inputs[at] != ""


def test_names_that_converters_are_known_to_lose_are_listed() -> None:
    names = {(row.operator, row.kind, row.name) for row in rows()}
    assert {
        ("Attention", ATTRIBUTE, "is_causal"),
        ("Attention", ATTRIBUTE, "softcap"),
        ("ConvTranspose", ATTRIBUTE, "output_shape"),
        ("Dropout", INPUT, "training_mode"),
        ("IsInf", ATTRIBUTE, "detect_negative"),
        ("Resize", ATTRIBUTE, "antialias"),
        ("TopK", INPUT, "K"),
    } <= names
    assert 30 <= len(names) <= 60
    # What TVM reads, some of it in helpers and in base classes.
    assert (
        not {
            ("Conv", ATTRIBUTE, "auto_pad"),
            ("Gather", ATTRIBUTE, "axis"),
            ("Pad", INPUT, "axes"),
            ("LSTM", INPUT, "P"),
        }
        & names
    )


@pytest.mark.parametrize(
    "row", rows(), ids=[f"{row.operator}-{row.since}-{row.name}" for row in rows()]
)
def test_every_listed_name_is_drawn_with_a_value_that_matters(row: Unread) -> None:
    assert any(matters(case, row) for case in drawn(row.operator, row.opset))
