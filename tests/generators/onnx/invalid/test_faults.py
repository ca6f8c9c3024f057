"""Invalid models: every fault can be drawn, and ONNX refuses each model that has it."""

import msgspec
import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.case import Invalid, encode
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.family import OnnxFamily, families
from relaxcheck.generators.onnx.invalid.fault import broken, pinned, unbroken
from relaxcheck.generators.onnx.invalid.faults import faults_of
from relaxcheck.generators.onnx.schemas import versions
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.kinds import decode
from relaxcheck.harness.onnx import vetting, wellformed

BY_NAME = {family.hint.operator: family for family in families(tuple(PIPELINES))}
FAULTY = [operator for operator, family in BY_NAME.items() if family.invalid]
EXAMPLES = 2


def invalid(family: OnnxFamily) -> list[OnnxCase]:
    drawn = [case for fault in family.invalid for case in draw(fault, EXAMPLES, 1)]
    assert all(isinstance(case, OnnxCase) for case in drawn)
    return [case for case in drawn if isinstance(case, OnnxCase)]


@pytest.mark.parametrize("operator", FAULTY)
def test_onnx_or_every_oracle_refuses_a_fault(operator: str) -> None:
    for case in invalid(BY_NAME[operator]):
        wellformed.check(case)
        reference, contradiction = vetting.validate(case, lambda stage: None)
        assert not contradiction, case.expect
        assert reference.refused
        assert isinstance(case.expect, Invalid)
        assert case.expect.operator in {node.operator for node in case.model.nodes}
        assert decode(encode(case)) == case


@pytest.mark.parametrize("operator", FAULTY)
def test_the_model_is_valid_without_its_fault(operator: str) -> None:
    """So that nothing but the fault is wrong, at the very points that it is drawn at."""
    family = BY_NAME[operator]
    every = list(unbroken(family, versions(operator), faults_of(operator)))
    assert len(every) == len(family.invalid)
    for fault, whole in every:
        for valid in draw(whole, EXAMPLES, 1):
            reference, contradiction = vetting.validate(valid, lambda stage: None)
            assert (contradiction, reference.refused) == ("", ""), fault.kind


def test_most_operators_have_faults_and_those_of_other_domains_none() -> None:
    assert len(FAULTY) >= 150
    assert not [operator for operator in FAULTY if "." in operator]
    kinds = {fault.kind for operator in BY_NAME for fault in faults_of(operator)}
    assert {
        *("required attribute missing", "required input missing", "axis out of range"),
        *("operator that ONNX lacks", "domain that nobody registered"),
        *("shapes that do not broadcast", "operands of two dtypes", "operands of two widths"),
        "k larger than the axis",
    } <= kinds


def test_an_error_may_name_what_the_node_lost() -> None:
    family = BY_NAME["Cast"]
    (missing, _) = faults_of("Cast")
    case = family.build(complete(family.axes, {}), 0)
    lost = broken(case, "Cast", missing)
    assert isinstance(lost.expect, Invalid)
    assert lost.expect.fault[-1] == "to"
    assert "to" not in lost.model.nodes[-1].attributes
    assert lost.at is msgspec.UNSET


def test_every_axis_that_a_fault_pins_is_one_of_some_family_that_has_the_fault() -> None:
    named: dict[str, set[str]] = {}
    there: dict[str, set[str]] = {}
    for operator in FAULTY:
        names = {axis.name for axis in BY_NAME[operator].axes}
        for fault in faults_of(operator):
            named.setdefault(fault.kind, set()).update(fault.pinned)
            there.setdefault(fault.kind, set()).update(names)
    assert {kind: names - there[kind] for kind, names in named.items() if names - there[kind]} == {}


def test_a_pin_that_no_value_fits_is_an_error() -> None:
    axes = BY_NAME["Min"].axes
    (operands,) = (
        axis for axis in pinned(axes, {"operands": ("two", 2)}) if axis.name == "operands"
    )
    assert operands.values == (2,)
    with pytest.raises(ValueError, match="axis operands has none of"):
        pinned(axes, {"operands": ("two",)})


@pytest.mark.parametrize("operator", FAULTY)
def test_a_fault_can_be_put_into_whatever_is_drawn(operator: str) -> None:
    for fault in BY_NAME[operator].invalid:
        assert draw(fault, 20, 3)
