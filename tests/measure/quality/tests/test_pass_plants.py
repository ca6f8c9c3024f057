"""Each damage to a pass shows in a small program, and by the verdict that its plant says."""

import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import msgspec
import pytest

from relaxcheck.generators.core.axes import complete
from relaxcheck.generators.core.draft import Draft, Value, shape_value
from relaxcheck.generators.core.program import MATCH_CAST, Case, ShapeValue
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.families import family
from relaxcheck.generators.graphs.fragments.calls import split
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.calls import passes_of, prepared
from relaxcheck.harness.compiling.passes import making
from relaxcheck.harness.compiling.passes.checks import equal
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.execute import execute
from tests.measure.quality.passes.damage.rewriting import damaged
from tests.measure.quality.passes.plants import PLANTS, pass_of
from tests.measure.quality.planted.bugs import passes as rewrites
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


def _matched(draft: Draft) -> None:
    """A data-dependent size that a match_cast names."""
    places = draft.call("nonzero", [draft.input((4,))], (1, draft.count()), "int64")
    shape = ShapeValue(places.shape)
    known = draft.call(MATCH_CAST, [places], places.shape, shape=shape, dtype=places.dtype)
    draft.call("negative", [known], known.shape)


def _items(draft: Draft) -> None:
    parts = _parts(draft)
    draft.call("subtract", list(parts), (2, 3))


def _parts(draft: Draft) -> tuple[Value, Value]:
    value = draft.start((4, 3))
    first, second = split(draft, value, (2, 2), 0)
    return first, second


def _twice(draft: Draft) -> None:
    value = draft.start((3, 3))
    sums = [draft.call("nn.softmax", [value], (3, 3), axis=axis) for axis in (0, 1)]
    draft.call("subtract", sums, (3, 3))


def _with_constants(draft: Draft) -> None:
    value = draft.start((2, 3))
    sums = [draft.call("add", [value, draft.input((2, 3), constant=True)], (2, 3)) for _ in "ab"]
    draft.call("multiply", sums, (2, 3))


def _results(draft: Draft) -> None:
    value = draft.start((2, 3))
    for operator in ("exp", "tanh"):
        draft.call(operator, [value], (2, 3))


def _two_inputs(draft: Draft) -> None:
    value, other = draft.start((2, 3)), draft.input((2, 3))
    draft.call("exp", [draft.call("subtract", [value, other], (2, 3))], (2, 3))


def _group_of_two(draft: Draft) -> None:
    value = draft.call("exp", [draft.start((4, 3))], (4, 3))
    split(draft, value, (2, 2), 0)


def _chain(draft: Draft) -> None:
    value = draft.start((4, 3))
    for operator in ("exp", "negative", "tanh"):
        value = draft.call(operator, [value], (4, 3))


def _turned(draft: Draft) -> None:
    value = draft.call("exp", [draft.start((3, 3))], (3, 3))
    value = draft.call("permute_dims", [value], (3, 3), axes=(1, 0))
    draft.call("tanh", [value], (3, 3))


def _symbolic(draft: Draft) -> None:
    value, other = draft.start(("m", 2)), draft.input(("n", 2))
    draft.call("concat", [value, other], ("m + n", 2), axis=0)
    draft.call("reshape", [value], ("2*m",), shape=shape_value(("2*m",)))


PROGRAMS: Mapping[str, Callable[[Draft], None]] = {
    "canonical-drops-casts": _casts,
    "canonical-drops-match-casts": _matched,
    "canonical-takes-first-items": _items,
    "common-subexpression-of-swapped-operands": _difference,
    "common-subexpression-without-attributes": _twice,
    "common-subexpression-of-any-constants": _with_constants,
    "dead-code-counted": _difference,
    "dead-code-loses-results": _results,
    "folding-merges-constants": _constants,
    "folding-in-half-precision": _constants,
    "folding-leaves-last-elements": _constants,
    "fusion-forgets-attributes": _two_inputs,
    "fusion-swaps-arguments": _two_inputs,
    "fusion-loses-outputs": _group_of_two,
    "fused-code-swaps-buffers": _two_inputs,
    "fused-code-misses-the-tail": _chain,
    "fused-code-reorders-stages": _chain,
    "allocates-one-tensor": _alive,
    "allocates-stale-shapes": _chain,
    "allocation-swaps-results": _items,
    "planner-aliases-live-buffers": _alive,
    "planner-halves-wide-storage": _alive,
    "planner-overwrites-operands": _turned,
    "kills-before-last-use": _alive,
    "kills-storage-before-use": _alive,
    "kills-results": _alive,
    "shapes-turned": _symbolic,
    "sizes-of-the-first-parameter-alone": _symbolic,
    "sizes-added": _symbolic,
}
"""By plant a program that shows it."""

OF_REWRITES: Mapping[str, Callable[[Draft], None]] = {
    "drops-activations": _activation,
    "forgets-axes": _softmax,
    "takes-first-operands": _maximum,
    "joins-backwards": _joined,
    "drops-constants": _constants,
}
"""By the end of a plant's name a program that shows it."""

FUNCTIONS = "dead-code-drops-called-functions"
WIDE = "planner-halves-wide-storage"

UNPARSED = "CallTIRRewrite"
"""TVMScript of what it returns does not parse (corpus: ``allocation-not-parsed``).

A wrong value is worse, and is said.
"""


def _case(plant: Plant) -> Case:
    record = PASSES[pass_of(plant)]
    if plant.name == FUNCTIONS:
        own = family(plant.operators[0], ("build",))
        point = complete(own.axes, {"structure": "function", "form": "dead"})
        return own.build(point, 1)
    draft = Draft("float64" if plant.name == WIDE else "float32")
    ending = next((name for name in OF_REWRITES if plant.name.endswith(name)), "")
    (OF_REWRITES[ending] if ending else PROGRAMS[plant.name])(draft)
    program = draft.program()
    sizes = dict(zip(program.symbols, (2, 3), strict=False))
    return Case("passes", program, bindings=(sizes,), passes=prepared([(record, {})]))


def _damage(plant: Plant) -> Callable[[Any], Any]:
    (edit,) = plant.edits
    module, function = re.findall(r'fromlist=\["(\w+)"\]\)\.(\w+)', edit.new)[-1]
    own: Callable[[Any], Any] = getattr(
        import_module(f"tests.measure.quality.passes.damage.{module}"), function
    )
    return own


def test_there_are_three_in_each_of_ten_passes() -> None:
    counts = Counter(map(pass_of, PLANTS))
    assert len(counts) == 10
    assert set(counts.values()) == {3}
    assert len({plant.name for plant in (*PLANTS, *rewrites.PLANTS)}) == 54


@pytest.mark.parametrize("plant", [*PLANTS, *rewrites.PLANTS], ids=lambda plant: plant.name)
def test_a_damaged_pass_is_noticed(plant: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    damage, case = _damage(plant), _case(plant)
    assert execute(case).verdict is (
        Verdict.BROKEN_MODULE if pass_of(plant) == UNPARSED else Verdict.PASS
    )

    made = making.made

    def damaging(call: Any, own: Case) -> Any:
        right = made(call, own)
        return damaged(right, damage) if call.name == pass_of(plant) else right

    monkeypatch.setattr("relaxcheck.harness.compiling.passes.applying.made", damaging)
    outcome = (_in_a_child if Verdict.PROCESS_DEATH in plant.verdicts else execute)(case)
    assert outcome.verdict in plant.verdicts, outcome.message


@pytest.mark.parametrize(
    "plant", [each for each in PLANTS if pass_of(each) == UNPARSED], ids=lambda plant: plant.name
)
def test_a_build_that_applies_the_pass_once_more_leaves_the_damage(plant: Plant) -> None:
    case = _case(plant)
    module = emit(case)
    for call in passes_of(case):
        module = making.made(call, case)(module)
    damage = _damage(plant)
    once = damage(module)
    assert not equal(module, once)
    assert equal(once, damage(making.made(passes_of(case)[-1], case)(once)))


def _in_a_child(case: Case) -> Outcome:
    """The outcome of ``case``, which may end the process."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.write(writing, msgspec.json.encode(execute(case)))
        finally:
            os._exit(0)
    os.close(writing)
    status = os.waitpid(child, 0)[1]
    with open(reading, "rb") as file:
        text = file.read()
    if not text:
        return Outcome(Verdict.PROCESS_DEATH, "run", None, f"status {status}")
    return msgspec.json.decode(text, type=Outcome)
