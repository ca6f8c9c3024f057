"""Each damage to a pass shows in a small program, and by the verdict that its plant says."""

from collections.abc import Callable
from typing import Any

import pytest

from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.calls import prepared
from relaxcheck.harness.compiling.passes import making
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.execute import execute
from tests.measure.quality.planted import pass_damage
from tests.measure.quality.planted.bugs.passes import PLANTS
from tests.measure.quality.planted.plant import Plant


def _casts(draft: Draft) -> None:
    value = draft.start((2, 3))
    small = draft.call("astype", [value], (2, 3), "float16", dtype="float16")
    draft.call("astype", [small], (2, 3), "float32", dtype="float32")


def _difference(draft: Draft) -> None:
    draft.call("subtract", [draft.start((2, 3)), draft.input((2, 3))], (2, 3))


def _constants(draft: Draft) -> None:
    value = draft.start((2, 3))
    for _ in range(2):
        value = draft.call("add", [value, draft.input((2, 3), constant=True)], (2, 3))


def _alive(draft: Draft) -> None:
    value = draft.start((2, 3))
    first = draft.call("exp", [value], (2, 3))
    second = draft.call("tanh", [value], (2, 3))
    draft.call("add", [first, second], (2, 3))


def _activation(draft: Draft) -> None:
    below = draft.call("subtract", [draft.start((2, 3)), draft.input((2, 3))], (2, 3))
    draft.call("nn.relu", [below], (2, 3))


def _softmax(draft: Draft) -> None:
    draft.call("nn.softmax", [draft.start((2, 3))], (2, 3), axis=0)


def _maximum(draft: Draft) -> None:
    draft.call("maximum", [draft.start((2, 3)), draft.input((2, 3))], (2, 3))


def _joined(draft: Draft) -> None:
    draft.call("concat", [draft.start((2, 3)), draft.input((2, 3))], (4, 3), axis=0)


PROGRAMS: dict[str, Callable[[Draft], None]] = {
    "without_casts": _casts,
    "with_swapped_operands": _difference,
    "with_merged_constants": _constants,
    "with_aliased_storage": _alive,
    "without_activation": _activation,
    "with_last_axis": _softmax,
    "with_first_operand": _maximum,
    "with_reversed_parts": _joined,
    "without_constants": _constants,
}


def test_there_are_thirty_in_ten_passes() -> None:
    assert len(PLANTS) == len({plant.name for plant in PLANTS}) == 30
    assert len({plant.operators for plant in PLANTS}) >= 10


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_damaged_pass_is_noticed(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    (edit,) = plant.edits
    damage = edit.new.rpartition("damage.")[2].partition(")")[0]
    name = plant.operators[0].removeprefix("pass-")
    draft = Draft("float32")
    PROGRAMS.get(damage, _difference)(draft)
    case = Case("passes", draft.program(), passes=prepared([(PASSES[name], {})]))
    assert execute(case).verdict is Verdict.PASS

    made = making.made

    def damaging(call: Any, own: Case) -> Any:
        right = made(call, own)
        wrong = getattr(pass_damage, damage)
        return pass_damage.damaged(right, wrong) if call.name == name else right

    monkeypatch.setattr("relaxcheck.harness.compiling.passes.applying.made", damaging)
    outcome = execute(case)
    assert outcome.verdict in plant.verdicts, outcome.message
