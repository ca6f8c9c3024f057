"""Sections about passes: right rewritings pass all checks, wrong ones do not; hunts are shown."""

from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec
import pytest

from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.program import Case, Node, Program
from relaxcheck.generators.passes import PASSES
from relaxcheck.generators.passes.calls import prepared
from relaxcheck.generators.passes.family import ORDERS
from relaxcheck.harness.campaign.drawing import stream
from relaxcheck.harness.compiling.passes.applying import Log
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.workers.jobs import Job
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.passes import alarms, control, hunts
from tests.measure.quality.passes.families import CAMPAIGN, families, families_for
from tests.measure.quality.passes.plants import PLANTS
from tests.measure.quality.planted.hunt import Hunted, pool_with
from tests.measure.quality.planted.place import place

CASES = 60


def _case(seed: int = 0, name: str = "Normalize") -> Case:
    draft = Draft("float32")
    value = draft.start(("m", 3))
    first = draft.call("exp", [value], ("m", 3))
    draft.call("add", [first, draft.call("tanh", [first], ("m", 3))], ("m", 3))
    draft.call("negative", [value], ("m", 3))
    passes = prepared([(PASSES[name], {})])
    return Case("passes", draft.program(), ({"m": 2},), passes=passes, seed=seed)


@pytest.mark.parametrize("name", control.REWRITINGS)
def test_right_rewritings_pass_all_checks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "REWRITINGS", {name: control.REWRITINGS[name]})
    control.apply(_case(), log := Log())
    assert (log.ran, log.broken) == (["Normalize"], [])


def _without_an_output(program: Program) -> Program:
    return msgspec.structs.replace(program, outputs=program.outputs[:1])


def test_a_wrong_rewriting_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "REWRITINGS", {"wrong": _without_an_output})
    control.apply(_case(), log := Log())
    assert [each.check for each in log.broken] == ["makes types of main less precise"]


def test_a_program_that_tvm_does_not_emit_is_an_error() -> None:
    case = _case()
    nodes = (*case.program.nodes, Node("wrong", "nn.softmax", ("lv",), {"axis": 7}))
    first = case.program.nodes[0].name
    nodes = tuple(
        msgspec.structs.replace(node, arguments=(first,)) if node.name == "wrong" else node
        for node in nodes
    )
    wrong = msgspec.structs.replace(
        case, program=msgspec.structs.replace(case.program, nodes=nodes)
    )
    with pytest.raises(control.NotEmitted, match="does not emit"):
        control.apply(wrong, Log())


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with Pool(1, zygote=alarms.CONTROL) as started:
        yield started


@pytest.mark.tvm
@pytest.mark.slow
def test_no_false_alarm(pool: Pool) -> None:
    for case in islice(stream(families(), seed=7), CASES):
        pool.submit(Job(case))
    outcomes = [(job.case, outcome) for job, outcome in pool.drain()]
    bad = [
        f"{outcome.verdict} {case.identifier}: {headline(outcome.message)}"
        for case, outcome in outcomes
        if outcome.verdict.is_failure or outcome.verdict is Verdict.HARNESS_ERROR
    ]
    assert bad == []
    assert sum(outcome.verdict is Verdict.PASS for _, outcome in outcomes) > CASES * 2 // 3


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_hunt_draws_from_the_pass_s_family_orders_and_graphs(plant: object) -> None:
    own = plant.operators[0]  # type: ignore[attr-defined]
    assert [each.name for each in families_for(own)] == ["graphs", own, ORDERS]


def test_the_place_of_a_case_is_among_all_of_these_families() -> None:
    names = [each.name for each in families()]
    firsts = sorted(place(name, 1, 5, CAMPAIGN) for name in names)
    assert firsts == list(range(1, len(names) + 1))
    assert place(names[0], 3, 5, CAMPAIGN) == place(names[0], 1, 5, CAMPAIGN) + 2 * len(names)


WRONG = Hunted(
    "x", 1, 3, 3, 1.0, Verdict.WRONG_VALUE, message="off", everywhere=70, culprit="FuseOps", nodes=2
)


def _figures(**changes: object) -> Mapping[str, object]:
    plant = next(plant for plant in PLANTS if plant.name == "fusion-swaps-arguments")
    return hunts.figures((1,), [(plant, [msgspec.structs.replace(WRONG, **changes)])])


def test_a_hunt_that_names_the_pass_misses_nothing() -> None:
    assert hunts.missed(_figures()) == []
    page = hunts.markdown(_figures())
    assert "**Found: 1 of 1; the pass named right: 1**; the median" in page
    assert "| FuseOps | `fusion-swaps-arguments`: " in page
    assert page.endswith("| wrong-value | 70 | 2 | yes |")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"culprit": "FuseTIR"}, "the pass is named right for 0 of 1, less than 95%"),
        ({"culprit": None}, "the pass is named right for 0 of 1, less than 95%"),
        ({"nodes": 5}, "the median of the reduced programs has 5 nodes, over 4"),
        ({"cases": None}, "fusion-swaps-arguments, seed 1: not found in 3 cases of its families"),
        (
            {"everywhere": 20_001},
            "fusion-swaps-arguments, seed 1: only case 20001 of a campaign over passes and graphs",
        ),
        (
            {"verdict": Verdict.OPAQUE_CRASH},
            "fusion-swaps-arguments, seed 1: opaque-crash, not wrong-value",
        ),
    ],
)
def test_what_a_hunt_misses_is_said(changes: dict[str, object], line: str) -> None:
    assert hunts.missed(_figures(**changes)) == [line]


def test_a_bug_that_is_not_found_is_shown() -> None:
    row = hunts.markdown(_figures(cases=None, verdict=None, everywhere=None)).splitlines()[-1]
    assert "**not found**" in row


@pytest.mark.tvm
@pytest.mark.slow
def test_a_planted_bug_is_found_and_its_pass_named() -> None:
    plant = next(plant for plant in PLANTS if plant.name == "dead-code-counted")
    with pool_with(plant) as pool:
        found = hunts.hunted(plant, 1, pool, most_cases=40)
    assert (found.verdict, found.culprit) == (Verdict.BROKEN_MODULE, "DeadCodeElimination")
    assert not any(verdict.is_failure for verdict in found.control)
