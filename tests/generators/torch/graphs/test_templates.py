"""Every point of layers, recurrent cells, attention and idioms is a program that PyTorch runs."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import Axis, Family, cases, complete
from relaxcheck.generators.core.case import encode
from relaxcheck.generators.core.values import arrays, constants
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.exporting import exported
from relaxcheck.generators.torch.graphs import attention, recurrent, scaled_product
from relaxcheck.generators.torch.graphs.families import families
from relaxcheck.generators.torch.graphs.templates import IDIOMS, idioms
from relaxcheck.generators.torch.module import module_of
from tests.generators.torch.graphs.running import decoded, outputs_of

PIPELINES = ("build",)
FAMILIES = {each.name: each for each in families(PIPELINES)}
TEMPLATES = ("torch-rnn", "torch-attention", "torch-sdpa", "torch-control")

VARIANTS = [(name, variant) for name, each in IDIOMS.items() for variant in each.variants]


def test_there_are_six_families_whose_cases_are_all_valid() -> None:
    assert set(FAMILIES) == {"torch-graph", "torch-layers", *TEMPLATES}
    assert all(family.invalid == () for family in FAMILIES.values())


@pytest.mark.parametrize("name", TEMPLATES)
@settings(max_examples=50)
@given(data=st.data())
def test_points_are_programs_that_run(name: str, data: st.DataObject) -> None:
    case = data.draw(cases(FAMILIES[name]))
    assert isinstance(case, TorchCase)
    assert decoded(encode(case)) == case
    for at in range(len(case.bindings)):
        assert len(outputs_of(case, at)) == len(case.program.outputs)


@pytest.mark.parametrize(("idiom", "variant"), VARIANTS)
@pytest.mark.parametrize("dims", ["static", "all"])
def test_every_variant_runs_at_all_its_sizes(idiom: str, variant: str, dims: str) -> None:
    family = idioms(PIPELINES)
    point = complete(family.axes, {"idiom": idiom, "variant": variant, "dims": dims})
    case = family.build(point, 3)
    for at in range(len(case.bindings)):
        assert len(outputs_of(case, at)) == len(case.program.outputs)


def test_variants_differ() -> None:
    family = idioms(PIPELINES)
    for name, idiom in IDIOMS.items():
        programs = {
            str(family.build(complete(family.axes, {"idiom": name, "variant": each}), 1).program)
            for each in idiom.variants
        }
        assert len(programs) == len(idiom.variants), name


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("torch-rnn", recurrent.OWN),
        ("torch-attention", attention.OWN),
        ("torch-sdpa", scaled_product.OWN),
    ],
)
def test_every_value_of_every_axis_runs(name: str, own: Sequence[Axis]) -> None:
    family = FAMILIES[name]
    for first in own[0].values:
        for axis in own[1:]:
            for value in axis.values:
                try:
                    point = complete(family.axes, {own[0].name: first, axis.name: value})
                except ValueError:
                    continue
                _runs(family, point)


def _runs(family: Family, point: object) -> None:
    case = family.build(point, 5)  # type: ignore[arg-type]
    assert isinstance(case, TorchCase)
    for at in range(len(case.bindings)):
        assert outputs_of(case, at)


@pytest.mark.slow
@pytest.mark.parametrize(("idiom", "variant"), VARIANTS)
def test_every_variant_is_exported(idiom: str, variant: str) -> None:
    family = idioms(PIPELINES)
    for export in ("decomposed", "undecomposed"):
        chosen = {"idiom": idiom, "variant": variant, "dims": "all", "export": export}
        case = family.build(complete(family.axes, chosen), 3)
        module = module_of(case.program, constants(case), case.seed, case.regime)
        assert exported(module, case.program, arrays(case, 0), case.exporting)
