"""The planted bugs of PyTorch's importer: each changes what TVM computes, and no other thing."""

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
import tvm
from torch.export import Dim, ExportedProgram
from torch.utils._pytree import tree_leaves
from tvm import relax
from tvm.relax.frontend.torch import exported_program_translator as translator

from relaxcheck import fixes
from relaxcheck.generators.torch.exporting import quiet
from relaxcheck.generators.torch.families import families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.oracles.torch.tensors import array_of
from tests.measure.quality.planted.bugs.torch.catalogue import PLANTS, named
from tests.measure.quality.planted.misreading import TABLE, Misreading, Planted
from tests.measure.quality.planted.plant import PlantError
from tests.measure.quality.torch.examples import EXAMPLES, Example


@pytest.fixture(scope="module", autouse=True)
def _fixed() -> Iterator[None]:
    with fixes.install():
        yield


def test_there_are_enough_and_each_has_a_name_and_an_example_of_its_own() -> None:
    assert len(PLANTS) >= 30
    assert {plant.name for plant in PLANTS} == EXAMPLES.keys()
    assert len(EXAMPLES) == len(PLANTS)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_its_families_are_drawn_and_its_verdicts_are_failures(plant: Planted) -> None:
    known = {family.name for family in families(tuple(PIPELINES))}
    assert {f"torch-{name}" for name in plant.families} <= known
    assert all(verdict.is_failure for verdict in plant.verdicts)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_it_changes_what_tvm_computes_and_leaves_no_trace(plant: Planted) -> None:
    example = EXAMPLES[plant.name]
    program = _exported(example)
    wanted = [array_of(each) for each in tree_leaves(example.function(*_called_on(example)))]
    before = translator.ExportedProgramImporter.__dict__.get(TABLE)
    assert _agree(_computed(example, program, None), wanted)
    assert not _agree(_computed(example, program, plant), wanted)
    assert translator.ExportedProgramImporter.__dict__.get(TABLE) is before
    assert _agree(_computed(example, program, None), wanted)


def test_a_plant_in_a_function_that_there_is_not_is_an_error() -> None:
    lost = Misreading("lost", "", ("no_such.default",), lambda node: node.made(), ())
    with pytest.raises(PlantError, match="no_such"):
        lost.planted(None, {})


def test_a_name_that_no_plant_has_is_an_error() -> None:
    assert named(PLANTS[0].name) is PLANTS[0]
    with pytest.raises(KeyError):
        named("nobody")


class _Module(torch.nn.Module):  # type: ignore[misc]
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def _exported(example: Example) -> ExportedProgram:
    module = example.function
    if not isinstance(module, torch.nn.Module):
        module = _Module(module)
    shapes = ({0: Dim.AUTO},) * len(example.inputs) if example.dynamic else None
    if shapes is not None and isinstance(module, _Module):
        shapes = (shapes,)  # type: ignore[assignment]
    with quiet():
        made = torch.export.export(module.eval(), example.inputs, dynamic_shapes=shapes)
        return made.run_decompositions() if example.decomposed else made


def _called_on(example: Example) -> tuple[torch.Tensor, ...]:
    if not example.dynamic:
        return example.inputs
    return tuple(torch.cat([each, each[:1] + 1]) for each in example.inputs)


def _computed(example: Example, program: ExportedProgram, plant: Planted | None) -> list[Any]:
    owner = translator.ExportedProgramImporter
    with quiet(), nullcontext() if plant is None else plant.placed(owner):
        module = translator.from_exported_program(program, run_ep_decomposition=False)
    executable = tvm.compile(relax.transform.LegalizeOps()(module), target="llvm")
    machine = relax.VirtualMachine(executable, tvm.cpu())
    inputs = [tvm.runtime.tensor(each.numpy()) for each in _called_on(example)]
    result = machine["main"](*inputs)
    return [each.numpy() for each in result]


def _agree(results: list[Any], wanted: list[Any]) -> bool:
    return len(results) == len(wanted) and all(
        one.shape == other.shape
        and one.dtype == other.dtype
        and np.allclose(one, other, 1e-4, 1e-5)
        for one, other in zip(results, wanted, strict=True)
    )
