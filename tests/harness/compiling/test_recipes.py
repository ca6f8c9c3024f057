"""ONNX models and PyTorch programs for other targets than LLVM's."""

import pytest

from relaxcheck.generators.core.case import AnyCase, encode, with_target
from relaxcheck.harness import kinds
from relaxcheck.harness.kinds import decode, of
from relaxcheck.harness.outcomes.outcome import Verdict

pytestmark = pytest.mark.tvm


def drawn(name: str) -> AnyCase:
    family = kinds.family(name, ("build",))
    return family.build({axis.name: axis.default for axis in family.axes}, 0)


@pytest.mark.parametrize("name", ["onnx-Softmax", "torch-add"])
def test_an_imported_program_is_compiled_for_the_target_of_its_case(name: str) -> None:
    case = drawn(name)
    assert decode(encode(with_target(case, "c"))) == with_target(case, "c")
    kind = of(case)
    outcome = kind.execute(with_target(case, "c"), lambda stage: None)
    assert outcome.verdict is Verdict.PASS, outcome.message
    outcome = kind.execute(with_target(case, "metal"), lambda stage: None)
    assert outcome.verdict is Verdict.BUILT, outcome.message
    assert outcome.message == "Metal Shading Language generated, and not compiled"
