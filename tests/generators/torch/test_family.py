"""Families of PyTorch programs: their cases build, and eager PyTorch runs them."""

import random
import warnings
from typing import Any

import msgspec
import pytest
import torch

from relaxcheck.generators.core import values
from relaxcheck.generators.core.axes import Point, complete, is_valid
from relaxcheck.generators.core.case import encode
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.exporting import exported
from relaxcheck.generators.torch.families import families
from relaxcheck.generators.torch.family import TorchFamily
from relaxcheck.generators.torch.module import laid_out, module_of, tensor_of

FAMILIES = {family.name: family for family in families(("build", "zero"))}

DRAWN = 150
"""Points that are drawn."""

MOST_REFUSED = 3
"""Of these, eager PyTorch may refuse so many: 2 in 100."""


def module_and_arrays(case: TorchCase, at: int = 0) -> tuple[Any, dict[str, Any]]:
    arrays = values.arrays(case, at)
    held = {tensor.name: arrays[tensor.name] for tensor in case.program.tensors if tensor.constant}
    return module_of(case.program, held, case.seed, case.regime), arrays


def eager(case: TorchCase) -> Any:
    module, arrays = module_and_arrays(case)
    inputs = [laid_out(tensor_of(arrays[t.name]), t.layout) for t in case.program.inputs]
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return module(*inputs)


def drawn_point(family: Any, source: random.Random) -> Point:
    point: dict[str, Any] = {}
    for axis in family.axes:
        choices = axis.choices(point)
        assert choices, (family.name, axis.name, point)
        weights = [axis.weight(value) for value in choices]
        (point[axis.name],) = source.choices(choices, weights)
    return point


def family(name: str) -> TorchFamily:
    found = FAMILIES[name]
    assert isinstance(found, TorchFamily)
    return found


def test_every_default_point_builds_a_case_that_json_keeps() -> None:
    for each in FAMILIES.values():
        case = each.build(complete(each.axes, {}), 0)
        assert isinstance(case, TorchCase)
        assert case.family == each.name
        assert msgspec.json.decode(encode(case), type=TorchCase) == case


def test_eager_pytorch_runs_what_is_drawn() -> None:
    source = random.Random(7)
    refused = []
    for _ in range(DRAWN):
        each = source.choice([f for f in FAMILIES.values() if isinstance(f, TorchFamily)])
        point = drawn_point(each, source)
        assert is_valid(each.axes, point)
        case = each.build(point, source.randrange(2**32))
        assert msgspec.json.decode(encode(case), type=TorchCase) == case
        try:
            eager(case)
        except Exception as error:
            refused.append((each.name, dict(case.at or {}), str(error)))
    assert len(refused) <= MOST_REFUSED, refused


@pytest.mark.parametrize(
    "name", sorted(n for n, f in FAMILIES.items() if isinstance(f, TorchFamily))[::23]
)
def test_default_points_are_exported(name: str) -> None:
    each = FAMILIES[name]
    case = each.build(complete(each.axes, {"export": "undecomposed"}), 0)
    assert isinstance(case, TorchCase)
    module, arrays = module_and_arrays(case)
    assert exported(module, case.program, arrays, case.exporting).graph.nodes


def built(name: str, **chosen: Any) -> TorchCase:
    each = family(name)
    return each.build(complete(each.axes, chosen), 0)


def test_axes_change_what_they_say() -> None:
    plain = built("torch-add")
    assert [t.dtype for t in plain.program.tensors] == ["float32", "float32"]
    assert [t.dtype for t in built("torch-add", dtype="int32").program.tensors] == ["int32"] * 2
    mixed = built("torch-add", operand="int64")
    assert [t.dtype for t in mixed.program.tensors] == ["float32", "int64"]
    number = built("torch-add", operand="number")
    assert len(number.program.tensors) == 1
    assert 2 in number.program.nodes[0].args
    held = built("torch-add", held="parameter")
    assert [t.held for t in held.program.tensors] == ["input", "parameter"]
    written = built("torch-add", form="in-place")
    assert [n.target for n in written.program.nodes] == ["torch.Tensor.clone", "torch.Tensor.add_"]
    empty = built("torch-add", size="empty")
    assert 0 in empty.program.tensors[0].shape


def test_symbolic_dimensions_have_more_bindings() -> None:
    case = built("torch-add", dims="first", export="named")
    (first, second, last) = case.bindings
    (name,) = first
    assert name in {dim for t in case.program.tensors for dim in t.shape}
    assert second[name] > first[name] > last[name] == 1


def test_negative_indices_mean_the_same() -> None:
    each = family("torch-take")
    label = next(label for label, sample in each.samples.items() if sample.places)
    case = built("torch-take", sample=label, indices="negative")
    arrays = values.arrays(case, 0)
    assert any((array < 0).any() for name, array in arrays.items() if name != "x")
    assert eager(case).shape == eager(built("torch-take", sample=label)).shape


def test_dtypes_that_eager_pytorch_refuses_are_not_allowed() -> None:
    each = family("torch-add")
    refused = [s for s in each.samples.values() if "bool" in s.refused]
    axis = next(axis for axis in each.axes if axis.name == "dtype")
    for sample in refused:
        assert not axis.allowed({"sample": sample.label}, "bool")


def test_no_case_is_invalid() -> None:
    assert all(each.invalid == () for each in FAMILIES.values() if isinstance(each, TorchFamily))
