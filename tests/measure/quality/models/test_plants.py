"""The planted faults of models can be planted, and answers about them are judged rightly."""

from typing import Any

import msgspec
import pytest

from relaxcheck.harness.models.report import Blame, Node, Ratio, Report, Verdict
from tests.measure.quality.models import onnx_subjects, passes, section, subjects
from tests.measure.quality.models.plants import PLANTS, ModelPlant, named
from tests.measure.quality.planted.plant import edited, source_of


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_fault_can_be_planted(plant: ModelPlant) -> None:
    for edit in plant.edits:
        path = source_of(edit.module)
        assert edited(path, [edit]) != path.read_text()
        if "measure.quality.models.passes" in edit.new:
            assert hasattr(passes, edit.new.partition(").")[2].partition("(")[0])
    known = onnx_subjects.FILES if plant.is_onnx else vars(subjects)
    assert plant.model in known


def test_there_are_twenty_in_every_part() -> None:
    assert len(PLANTS) == len({plant.name for plant in PLANTS}) == 20
    parts = {plant.name.partition("-")[0] for plant in PLANTS}
    assert parts == {"torch", "onnx", "legalize", "topi", "pass", "plan"}


def node(operator: str, blame: Blame | None) -> Node:
    return Node("n", operator, "", "", Ratio("n", 100.0), blame)


PLANT = named("torch-gelu-approximate")
RIGHT = Report("m", "PyTorch", Verdict.WRONG, wrong=(node(PLANT.operators[0], Blame.IMPORTER),))


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({}, True),
        ({"verdict": Verdict.RIGHT}, False),
        ({"wrong": ()}, False),
        ({"wrong": (node(PLANT.operators[0], Blame.COMPILER),)}, False),
        ({"wrong": (*RIGHT.wrong, node("aten.add.Tensor", Blame.IMPORTER))}, False),
    ],
)
def test_an_answer_is_right_if_node_and_stage_are(changes: dict[str, Any], right: bool) -> None:
    assert section.answered(PLANT, msgspec.structs.replace(RIGHT, **changes)) is right


def test_a_faulty_pass_has_to_be_named() -> None:
    plant = named("pass-loses-gate")
    report = Report("m", "PyTorch", Verdict.WRONG, region=("a", "b"), passes=("LoseGate",))
    assert section.answered(plant, report)
    assert not section.answered(plant, msgspec.structs.replace(report, passes=("FuseOps",)))
