"""Choices that the words of a command line make."""

import pytest

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.families import families
from relaxcheck.harness.campaign.options import ALL, chosen_families
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.kinds import families as every


def test_all_is_every_family_and_no_name_the_usual_ones() -> None:
    usual = tuple(family.name for family in families(tuple(PIPELINES)))
    assert chosen_families(()) == chosen_families(None) == usual
    whole = chosen_families([ALL])
    assert whole == tuple(member.name for member in every())
    gradients = {name for name in whole if name.startswith("gradient-")}
    assert len(gradients) > 40
    models = {name for name in whole if name.startswith("onnx-")}
    assert len(models) > 150
    programs = {name for name in whole if name.startswith("torch-")}
    assert len(programs) > 700
    passes = {name for name in whole if name.startswith("pass-")}
    assert len(passes) > 50
    assert set(whole) - set(usual) == {
        "dynamic",
        "graphs",
        "passes",
        *passes,
        "algebra",
        "kvcache",
        *gradients,
        *models,
        *programs,
    }


def test_names_are_taken_as_they_are_and_must_exist() -> None:
    assert chosen_families(["dynamic", "attention"]) == ("dynamic", "attention")
    with pytest.raises(CaseError, match="no family 'all'"):
        chosen_families(["attention", ALL])
