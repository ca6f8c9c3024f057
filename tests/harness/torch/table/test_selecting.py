"""The programs of the support table."""

import pytest

from relaxcheck.generators.torch.family import TorchFamily, families
from relaxcheck.harness.torch.table.selecting import (
    CORE,
    DECOMPOSED,
    DYNAMIC,
    FORMS,
    LAYER,
    PER_ROW,
    UNDECOMPOSED,
    Subject,
    core,
    subjects,
)

NAMES = ("torch-softmax", "torch-cumsum", "torch-BatchNorm1d", "torch-Linear", "torch-log_softmax")


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], Subject]:
    every: tuple[TorchFamily, ...] = families(("build",))
    made = subjects([each for each in every if each.name in NAMES])
    return {(each.kind, each.name): each for each in made}


def test_core_aten_is_what_pytorch_tags() -> None:
    assert {"add.Tensor", "_softmax.default", "amax.default"} <= core()
    assert "linear.default" not in core()


def test_operators_are_those_that_run_and_layers_those_that_are_held(
    found: dict[tuple[str, str], Subject],
) -> None:
    assert {(CORE, "_softmax.default"), (CORE, "cumsum.default"), (LAYER, "BatchNorm1d")} <= set(
        found
    )
    # A layer says nothing about the operators within.
    assert (CORE, "addmm.default") not in found


def test_a_program_is_exported_in_each_form(found: dict[tuple[str, str], Subject]) -> None:
    subject = found[CORE, "cumsum.default"]
    for form in FORMS:
        assert 1 <= len(subject.cases[form]) <= PER_ROW
        for case in subject.cases[form]:
            assert case.exporting.decomposed is (form != UNDECOMPOSED)
            assert bool(case.program.symbols) is (form == DYNAMIC)
    fixed, free = subject.cases[DECOMPOSED][0], subject.cases[DYNAMIC][0]
    assert fixed.program.nodes == free.program.nodes


def test_the_fewest_other_operators_come_first(found: dict[tuple[str, str], Subject]) -> None:
    (case, *_) = found[CORE, "_softmax.default"].cases[DECOMPOSED]
    assert case.family == "torch-softmax"
