"""The planted bugs of ONNX's importer: each changes the node that it says, and one is found."""

from collections.abc import Callable
from typing import Any

import pytest

from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.onnx import hunts
from tests.measure.quality.planted import everywhere
from tests.measure.quality.planted.bugs.onnx import changes
from tests.measure.quality.planted.bugs.onnx.catalogue import PLANTS, named
from tests.measure.quality.planted.conversion import Change, Misconversion
from tests.measure.quality.planted.hunt import Hunted, axes_off, hunt
from tests.measure.quality.planted.place import cases_of, place
from tests.measure.quality.planted.plant import PlantError


def test_there_are_enough_in_many_operators_and_no_name_twice() -> None:
    assert len(PLANTS) >= 40
    assert len({plant.name for plant in PLANTS}) == len(PLANTS)
    assert len({plant.operator for plant in PLANTS}) >= 40


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_its_operator_is_drawn_and_its_verdicts_are_failures(plant: Misconversion) -> None:
    assert hunts.family_of(plant).name == plant.family
    assert plant.operator not in ("Shape", "Size")
    assert plant.verdicts
    assert all(verdict.is_failure for verdict in plant.verdicts)


class Entry:
    """An entry of the importer's table that gives back what it is passed."""

    def get_converter(self, opset: int) -> Callable[..., Any]:
        return lambda builder, inputs, attributes, parameters: (opset, list(inputs), attributes)


def converted(change: Change, *inputs: Any, **attributes: Any) -> Any:
    plant = Misconversion("name", "description", "Op", change)
    entry = plant.planted({"Op": Entry(), "Other": Entry()})["Op"]
    return entry.get_converter(11)(None, list(inputs), attributes, None)


@pytest.mark.parametrize(
    ("change", "attributes", "read"),
    [
        (changes.ignored("axis"), {"axis": 1, "mode": b"x"}, {"mode": b"x"}),
        (changes.assumed(axis=-1), {}, {"axis": -1}),
        (changes.assumed(axis=-1), {"axis": 2}, {"axis": 2}),
        (changes.read_as("mode", changes.renamed({"a": "b"})), {"mode": b"a"}, {"mode": "b"}),
        (changes.read_as("mode", changes.renamed({"a": "b"})), {"mode": "c"}, {"mode": "c"}),
        (changes.read_as("mode", changes.renamed({"a": "b"})), {}, {}),
        (changes.without_negative_axis("axis"), {"axis": -2}, {"axis": -3}),
        (changes.without_negative_axis("axis"), {"axis": -1}, {"axis": 0}),
        (changes.without_negative_axis("axis"), {"axis": 1}, {"axis": 1}),
    ],
)
def test_attributes_are_read_wrongly(
    change: Change, attributes: dict[str, Any], read: dict[str, Any]
) -> None:
    assert converted(change, "x", **attributes) == (11, ["x"], read)


@pytest.mark.parametrize(
    ("change", "read"),
    [
        (changes.without_input(2), ["a", "b"]),
        (changes.without_input(1), ["a", None, "c"]),
        (changes.without_input(5), ["a", "b", "c"]),
        (changes.swapped(0, 1), ["b", "a", "c"]),
        (changes.first_inputs(1), ["a"]),
        (changes.first_input_twice, ["a", "a", "c"]),
    ],
)
def test_inputs_are_read_wrongly(change: Change, read: list[Any]) -> None:
    assert converted(change, "a", "b", "c") == (11, read, {})


def test_another_version_is_taken() -> None:
    assert converted(changes.of_opset(13), "x") == (13, ["x"], {})


def test_other_operators_stay_and_an_unknown_one_is_refused() -> None:
    plant = Misconversion("name", "description", "Op", changes.ignored("axis"))
    table = {"Op": Entry(), "Other": Entry()}
    assert plant.planted(table)["Other"] is table["Other"]
    with pytest.raises(PlantError, match="does not convert Op"):
        plant.planted({"Other": Entry()})


@pytest.mark.tvm
@pytest.mark.slow
def test_one_is_found() -> None:
    plant = named("onnx-sub-swaps-its-inputs")
    with Pool(1, zygote=hunts.ZYGOTE, arguments=(plant.name,)) as pool:
        found = hunt(plant.plant, 1, pool, 30, (hunts.family_of(plant),), grace=0)
    assert found.verdict is Verdict.WRONG_VALUE
    assert found.everywhere is not None
    assert found.everywhere < hunts.MOST


def test_a_finding_about_a_model_has_axes_off_their_defaults() -> None:
    family = hunts.family_of(named("onnx-reshape-copies-zeros"))
    plain = {axis.name: axis.default for axis in family.axes}
    assert axes_off(family.build(plain, 0)) == 0
    assert axes_off(family.build({**plain, "allowzero": 1, "form": "empty"}, 0)) == 2


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, []),
        ({"cases": None, "everywhere": None, "verdict": None}, ["not found in 9 cases"]),
        ({"everywhere": 10_001}, ["only case 10001"]),
        ({"verdict": Verdict.TIMEOUT}, ["timeout, not wrong-value"]),
        ({"control": (Verdict.WRONG_VALUE,)}, ["fails without it"]),
    ],
)
def test_a_missed_target_is_named(changed: dict[str, Any], words: list[str]) -> None:
    plant = named("onnx-sub-swaps-its-inputs")
    good = {"cases": 7, "everywhere": 700, "verdict": Verdict.WRONG_VALUE}
    found = Hunted(plant.name, 1, drawn=9, seconds=1.0, **{**good, **changed})
    made = {**everywhere.figures([1], [(plant.plant, [found])]), "operators": 1}
    lines = hunts.missed(made)
    assert len(lines) == len(words)
    assert all(word in line for word, line in zip(words, lines, strict=True))
    assert f"`{plant.name}`" in hunts.markdown(made)


def test_lots_have_one_plant_of_an_operator_and_all_plants() -> None:
    lots = hunts.lots_of(PLANTS)
    assert sorted(plant.name for lot in lots for plant in lot) == sorted(p.name for p in PLANTS)
    for lot in lots:
        assert len({plant.operator for plant in lot}) == len(lot) <= hunts.TOGETHER


@pytest.mark.parametrize("name", ["onnx-Sub", "onnx-Attention"])
def test_the_cases_of_a_family_among_those_of_all(name: str) -> None:
    count = cases_of(name, hunts.MOST, 3)
    assert place(name, count, 3) <= hunts.MOST < place(name, count + 1, 3)
