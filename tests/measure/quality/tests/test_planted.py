"""The planted bugs can be planted, and some of them are found while you wait."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.faults import Breakable
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import every, family
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.passes import PASSES
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.campaign.state import Side, State
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.known.status import FindingStatus
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.triage.finding import Reduced, finding_of
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.planted import everywhere, results
from tests.measure.quality.planted.catalogue import PLANTS, named
from tests.measure.quality.planted.hunt import (
    CONTROL,
    ZYGOTE,
    Hunted,
    axes_off,
    has_failed,
    hunt,
    hunted_in,
)
from tests.measure.quality.planted.place import place
from tests.measure.quality.planted.plant import (
    Edit,
    Plant,
    PlantError,
    by_module,
    edited,
    source_of,
)
from tests.measure.quality.planted.section import SEEDS
from tests.measure.quality.planted.table import figures, markdown, missed

EVERY = every(tuple(PIPELINES))

# Each in an operator that the others do not touch, so that one process can have them all.
FOUND_SOON = {
    "conv-bails-for-one-dilation": "conv1d_transpose",
    "bias-scaled": "attention",
    "sequences-boundary-off-by-one": "attention_var_len",
}


def test_there_are_enough_and_no_name_twice() -> None:
    assert len(PLANTS) >= 180
    assert len({plant.name for plant in PLANTS}) == len(PLANTS)


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_the_edit_can_be_made(plant: Plant) -> None:
    for module, edits in by_module([plant]).items():
        path = source_of(module)
        compile(edited(path, edits), module, "exec")
        assert edited(path, edits) != path.read_text(encoding="utf-8")


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_expected_faults_exist(plant: Plant) -> None:
    assert plant.verdicts
    assert all(verdict.is_failure for verdict in plant.verdicts)
    assert set(plant.blame) <= BLAMABLE


def _blamable(member: Family) -> Iterator[str]:
    for axis in member.axes:
        yield axis.name
        yield axis.name.split(".")[0]
    broken: Breakable = member  # type: ignore[assignment]
    for fault in broken.faults:
        yield fault.names[0]


BLAMABLE = frozenset(name for member in EVERY for name in _blamable(member)) | {
    name
    for record in OPERATORS.values()
    for axis in (*record.operand_axes, *record.axes)
    for name in (axis.name, axis.name.split(".")[0])
}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_its_operators_or_passes_have_records(plant: Plant) -> None:
    assert set(plant.operators) <= {*OPERATORS, *(f"pass-{name}" for name in PASSES)}


def test_at_least_sixty_plants_are_in_operators_of_graphs() -> None:
    named = [plant for plant in PLANTS if plant.operators]
    assert len(named) >= 60
    assert len({name for plant in named for name in plant.operators}) >= 60


@pytest.fixture(scope="module")
def planted() -> Iterator[Pool]:
    limits = Limits(seconds=30)
    with Pool(1, limits, zygote=ZYGOTE, arguments=(",".join(FOUND_SOON),)) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("name", FOUND_SOON)
def test_it_is_found_and_blamed_on_the_right_axis(planted: Pool, name: str) -> None:
    plant = named(name)
    among = [family(FOUND_SOON[name], tuple(PIPELINES))]
    hunted = hunt(plant, SEEDS[0], planted, most_cases=40, among=among)
    assert hunted.verdict in plant.verdicts, hunted
    assert hunted.blame is not None
    assert plant.is_blamed(hunted.blame), hunted.blame
    assert hunted.axes is not None
    assert len(hunted.blame) <= hunted.axes <= 4


def test_a_failure_in_the_special_regime_ends_the_hunt() -> None:
    ordinary, special = Side(True, special=False), Side(True, special=True)
    assert has_failed(State(counts={special: Counter({Verdict.WRONG_VALUE: 1})}))
    assert has_failed(State(counts={ordinary: Counter({Verdict.TIMEOUT: 1})}))
    passed = Counter({Verdict.PASS: 3, Verdict.ORACLE_SPLIT: 1})
    assert not has_failed(State(counts={ordinary: passed, special: passed}))


def test_known_findings_alone_do_not_end_the_control() -> None:
    counts = {Side(True, special=False): Counter({Verdict.WRONG_VALUE: 2})}
    attention = family("attention", tuple(PIPELINES))
    case = attention.build({axis.name: axis.default for axis in attention.axes}, seed=1)
    finding = finding_of(Reduced(case, Outcome(Verdict.WRONG_VALUE, "compare"), {}))
    known = {finding.fingerprint: FindingStatus.UNTRIED}
    assert not has_failed(State(counts=counts, known=known))
    same = {finding.fingerprint: finding}
    assert not has_failed(State(counts=counts, known=known, findings=same))
    assert has_failed(State(counts=counts, known=known, findings={"new": finding}))


def test_a_failure_counts_if_it_is_not_there_without_the_plant(tmp_path: Path) -> None:
    attention = family("attention", tuple(PIPELINES))
    point = {axis.name: axis.default for axis in attention.axes}
    cases = [attention.build(point, seed=seed) for seed in range(4)]
    wrong = Outcome(Verdict.WRONG_VALUE, "compare")
    state = State(known={"known": FindingStatus.UNTRIED})
    asked: list[str] = []

    def fails_without(case: Case) -> bool:
        asked.append(case.identifier)
        return case.identifier == cases[2].identifier

    with Journal(tmp_path) as journal:
        # It passes; it is known; it fails without the plant too; it is the plant's.
        for case, outcome in zip(cases, (Outcome(Verdict.PASS), wrong, wrong, wrong), strict=True):
            journal.start(case, DRAWN)
            journal.end(case, outcome)
        journal.count_to(cases[1], "known")
        hunted = hunted_in(PLANTS[0], 1, journal, state, fails_without)
        assert hunted.cases == 4
        assert asked == [case.identifier for case in cases[2:]]
        assert not hunted_in(PLANTS[0], 1, journal, state, lambda case: True).is_found


def test_the_reported_finding_is_the_one_that_counts_the_case(tmp_path: Path) -> None:
    attention = family("attention", tuple(PIPELINES))
    point = {axis.name: axis.default for axis in attention.axes}
    masked = {**point, "causal_mask": "TopLeft"}
    other, mine = (attention.build(at, seed=1) for at in (point, masked))
    wrong = Outcome(Verdict.WRONG_VALUE, "compare")
    blames: tuple[tuple[Case, dict[str, str]], ...] = (
        (other, {}),
        (mine, {"causal_mask": "TopLeft"}),
    )
    first, second = (finding_of(Reduced(case, wrong, blame)) for case, blame in blames)
    state = State(findings={finding.fingerprint: finding for finding in (first, second)})
    with Journal(tmp_path) as journal:
        journal.start(mine, DRAWN)
        journal.end(mine, wrong)
        assert hunted_in(None, 1, journal, state).blame is None
        journal.count_to(mine, second.fingerprint)
        hunted = hunted_in(None, 1, journal, state)
    assert (hunted.blame, hunted.axes) == ({"causal_mask": "TopLeft"}, 1)


def test_a_familiar_size_is_counted_only_where_it_is_to_blame() -> None:
    convolution = family("conv2d", tuple(PIPELINES))
    point = {axis.name: axis.default for axis in convolution.axes}
    case = convolution.build({**point, "kernel.h": 3}, seed=1)
    assert (axes_off(case), axes_off(case, {"kernel.h": "3"})) == (0, 1)
    assert axes_off(convolution.build({**point, "kernel.h": 5}, seed=1)) == 1


def test_an_invalid_program_has_no_axes_to_count() -> None:
    attention = family("attention", tuple(PIPELINES))
    case = attention.build({axis.name: axis.default for axis in attention.axes}, seed=1)
    assert axes_off(case) == 0
    invalid = Invalid("nn.attention", ("causal_mask",))
    assert axes_off(msgspec.structs.replace(case, expect=invalid)) is None


@pytest.mark.parametrize("text", ["nothing of it", "twice: twice"])
def test_an_edit_of_a_text_that_is_not_there_once_is_refused(text: str) -> None:
    with pytest.raises(PlantError):
        Edit("module", "twice", "once").made(text)


def test_blame_of_nothing_where_everything_fails() -> None:
    plant = Plant("name", "description", (Verdict.WRONG_VALUE,), (), ())
    assert plant.is_blamed({})
    assert not plant.is_blamed({"dilation.h": "2"})


def _hunted(**changed: object) -> Hunted:
    good = Hunted(
        PLANTS[0].name,
        seed=1,
        cases=7,
        drawn=7,
        seconds=0.5,
        verdict=PLANTS[0].verdicts[0],
        blame={PLANTS[0].blame[0]: "2"},
        control=(Verdict.PASS,),
        everywhere=300,
    )
    return msgspec.structs.replace(good, **changed)


CLEAN = Hunted(CONTROL, seed=1, cases=None, drawn=2000, seconds=9.0)


@pytest.mark.parametrize(
    ("hunted", "control", "words"),
    [
        (_hunted(), CLEAN, []),
        (_hunted(cases=None), CLEAN, ["not found", "median"]),
        (_hunted(cases=101), CLEAN, ["median is 101 cases"]),
        (_hunted(verdict=Verdict.TIMEOUT), CLEAN, ["timeout, not"]),
        (_hunted(control=(Verdict.WRONG_VALUE,)), CLEAN, ["fails without it"]),
        (_hunted(), _hunted(plant=CONTROL), ["no plant, seed 1"]),
    ],
)
def test_a_missed_target_is_named(hunted: Hunted, control: Hunted, words: list[str]) -> None:
    table_figures = figures(1.0, [1], [(PLANTS[0], [hunted])], [control])
    lines = missed(table_figures)
    assert len(lines) == len(words)
    assert all(part in line for part, line in zip(words, lines, strict=True))
    assert f"`{PLANTS[0].name}`" in markdown(table_figures)


@pytest.mark.parametrize(
    ("hunted", "words"),
    [
        (_hunted(), []),
        (_hunted(cases=None, everywhere=None), ["not found", "0.0% within"]),
        (_hunted(everywhere=5001), ["0.0% within 5000"]),
        (_hunted(everywhere=20001), ["only case 20001", "0.0% within 5000"]),
        (_hunted(verdict=Verdict.TIMEOUT), ["timeout, not"]),
        (_hunted(control=(Verdict.WRONG_VALUE,)), ["fails without it"]),
    ],
)
def test_a_bug_that_everything_finds_too_late_is_named(hunted: Hunted, words: list[str]) -> None:
    found = everywhere.figures([1], [(PLANTS[0], [hunted])])
    lines = everywhere.missed(found)
    assert len(lines) == len(words)
    assert all(part in line for part, line in zip(words, lines, strict=True))
    assert f"`{PLANTS[0].name}`" in everywhere.markdown(found)


def test_the_place_in_a_campaign_over_everything_is_where_it_draws_the_case() -> None:
    drawn = list(islice(stream(EVERY, seed=7), 700))
    for name in ("attention", "conv3d_transpose", "abs"):
        at = [number for number, case in enumerate(drawn, 1) if case.family == name]
        assert at
        assert [place(name, number, 7) for number in range(1, len(at) + 1)] == at


def test_results_of_another_state_or_cut_short_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    results.append(path, "now", 2000, _hunted())
    results.append(path, "before", 2000, _hunted(seed=2))
    with path.open("ab") as cut:
        cut.write(b'{"state": "now"')
    assert results.read(path, "now", 2000) == {(PLANTS[0].name, 1): _hunted()}
    assert results.read(path, "now", 10) == {}
