"""The stream of cases: a function of the seed, in rounds, distinct, none thrown away."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import islice, product
from pathlib import Path

import pytest
from hypothesis import strategies as st

from relaxcheck.generators.core.axes import SEEDS, Axis, Point, Structured, point_of
from relaxcheck.generators.core.case import Valid
from relaxcheck.generators.core.coverage.covering import complete_with
from relaxcheck.generators.core.coverage.pairs import Pairs
from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.families import families
from relaxcheck.generators.torch.families import families as torch_families
from relaxcheck.harness.campaign import drawing
from relaxcheck.harness.campaign.drawing import WHOLE, Shard, order_of, stream, turns_of
from relaxcheck.harness.compiling.pipelines import PIPELINES

FAMILIES = tuple(
    family
    for family in families(tuple(PIPELINES))
    if family.record.own is not None or family.name in ("softmax", "concat")
)
TURNS = dict(zip((member.name for member in FAMILIES), turns_of(FAMILIES), strict=True))
ROUND = 24
"""Rounds, a multiple of eight: one case in eight is invalid."""


MOST = ROUND * sum(TURNS.values())


def _fresh(count: int, seed: int, *, uniform: bool = False) -> tuple[Case, ...]:
    return tuple(islice(stream(FAMILIES, seed, uniform=uniform), count))


@cache
def _cases(*, uniform: bool = False) -> tuple[Case, ...]:
    return _fresh(MOST, 1, uniform=uniform)


@pytest.mark.parametrize("uniform", [False, True])
def test_the_seed_decides_the_cases(uniform: bool) -> None:
    first = _cases(uniform=uniform)[:150]
    assert _fresh(150, 1, uniform=uniform) == first
    assert _fresh(150, 2, uniform=uniform) != first


@pytest.mark.parametrize("seed", [1, 2**63 + 7])
def test_a_few_examples_are_the_first_of_many(seed: int) -> None:
    lot = draw(SEEDS, drawing._LOT, seed)
    assert list(drawing._lot(SEEDS, (1, drawing._FEW, drawing._LOT), seed)) == lot
    assert len(lot) == drawing._LOT


def test_the_cases_of_a_family_do_not_depend_on_the_others() -> None:
    among = [case for case in _cases() if case.family == "attention"]
    (attention,) = (member for member in FAMILIES if member.name == "attention")
    assert list(islice(stream((attention,), 1), len(among))) == among


def test_steering_tells_which_pairs_no_valid_point_has() -> None:
    squeeze = next(each for each in families(tuple(PIPELINES)) if each.name == "squeeze")
    heard: list[tuple[str, int, int]] = []
    drawn = stream((squeeze,), 1, ruled_out=lambda *pair: heard.append(pair))
    for _ in islice(drawn, 300):
        pass
    assert len(set(heard)) == len(heard) > 10
    assert {name for name, *_ in heard} == {"squeeze"}
    apart = Pairs(squeeze.axes)
    for _, *pair in heard:
        cells = dict(apart.cells[number] for number in pair)
        values = [
            [value for value in axis.values if axis.cell(value) == cells[axis.name]]
            for axis in squeeze.axes
            if axis.name in cells
        ]
        for chosen in product(*values):
            names = [axis.name for axis in squeeze.axes if axis.name in cells]
            assert complete_with(squeeze.axes, dict(zip(names, chosen, strict=True))) is None


@pytest.mark.parametrize("uniform", [False, True])
def test_one_in_eight_is_invalid_in_each_family(uniform: bool) -> None:
    cases = _cases(uniform=uniform)
    counts = Counter((case.family, isinstance(case.expect, Valid)) for case in cases)
    for family in FAMILIES:
        invalid = ROUND * TURNS[family.name] // 8 if family.invalid else 0
        assert counts[family.name, False] == invalid
        assert counts[family.name, True] == ROUND * TURNS[family.name] - invalid


def test_families_of_many_pairs_have_more_turns_and_each_has_two() -> None:
    assert min(TURNS.values()) == 2
    # Shares are in quarters of the median's.
    assert TURNS["concat"] == 4
    assert TURNS["conv3d_transpose"] > TURNS["attention"]
    every = families(tuple(PIPELINES))
    turns = dict(zip((family.name for family in every), turns_of(every), strict=True))
    # Einsum has a third of the pairs of the convolution, but two axes of many cells.
    assert turns["conv3d_transpose"] < 2 * turns["einsum"]
    assert turns_of(FAMILIES[:1]) == (1,)


def test_families_of_random_programs_have_a_share_of_every_round() -> None:
    every = torch_families(("build",))
    turns = dict(zip((family.name for family in every), turns_of(every), strict=True))
    random = [family.name for family in every if isinstance(family, Structured)]
    assert len(random) == 6
    share = sum(turns[name] for name in random) / sum(turns.values())
    assert 0.12 < share < 0.13
    assert len({turns[name] for name in random}) == 1
    # Alone they need no such share.
    assert set(turns_of([family for family in every if isinstance(family, Structured)])) == {1}


def test_a_short_campaign_sees_programs_of_all_sorts() -> None:
    every = torch_families(("build",))
    turns = turns_of(every)
    order = order_of(every, "1")
    assert Counter(order) == dict(enumerate(turns))
    assert order == order_of(every, "1") != order_of(every, "2")
    for count in (100, 400):
        begun = order[:count]
        assert len(set(begun)) > 0.8 * count
        # They are listed by name: each tenth of the list has its share of the cases.
        tenths = Counter(at * 10 // len(every) for at in begun)
        of_all = Counter(at * 10 // len(every) for at in order)
        for tenth, turns_of_tenth in of_all.items():
            assert tenths[tenth] > 0.5 * count * turns_of_tenth / len(order)
        random = sum(isinstance(every[at], Structured) for at in begun)
        assert 0.09 < random / count < 0.16
        assert len({at for at in begun if isinstance(every[at], Structured)}) == 6


def test_a_case_drawn_alone_is_the_first_of_those_drawn_together() -> None:
    for family in FAMILIES:
        for seed, faulty in enumerate(family.invalid):
            alone = draw(faulty, 1, seed)
            assert len(alone) == 1
            assert draw(faulty, 4, seed)[:1] == alone


def test_cases_are_distinct() -> None:
    cases = _cases()
    valid = [case for case in cases if isinstance(case.expect, Valid)]
    assert len({case.identifier for case in valid}) == len(valid)
    assert len({case.identifier for case in cases}) > 0.97 * len(cases)


def test_steering_covers_more_pairs_than_drawing_by_weights() -> None:
    missing = {}
    families = [member for member in FAMILIES if "attention" in member.name]
    for uniform in (False, True):
        pairs = {family.name: Pairs(family.axes) for family in families}
        for case in islice(stream(families, 1, uniform=uniform), 400):
            if isinstance(case, Case) and isinstance(case.expect, Valid):
                [family] = [member for member in families if member.name == case.family]
                pairs[case.family].strike([point_of(family, case)])
        missing[uniform] = sum(each.count for each in pairs.values())
    assert missing[False] < 0.4 * missing[True]


def test_the_weights_of_the_axes_stay_roughly() -> None:
    many = [case for case in _fresh(2000, 1) if isinstance(case.expect, Valid)]
    # A share of 0.05: of so many cases three standard deviations are below 0.02.
    assert 0.03 < Counter(case.opt_level for case in many)[3] / len(many) < 0.07
    # A share of 0.82 to 0.83: of so many cases three standard deviations are below 0.03.
    exact = sum("exact" in (case.regime, *case.also) for case in many)
    assert exact > 0.8 * len(many)
    pipelines = Counter(case.pipeline for case in many)
    usual = {name for name, pipeline in PIPELINES.items() if not pipeline.passes_of_fixes}
    assert set(pipelines) == usual
    # It takes programs of float32 alone.
    assert pipelines.pop("mixed-precision") > len(many) / len(usual) / 4
    assert min(pipelines.values()) > len(many) / len(usual) / 2


@pytest.mark.parametrize("uniform", [False, True])
def test_the_seed_alone_decides_whatever_else_is_imported(uniform: bool, tmp_path: Path) -> None:
    # Hypothesis by itself draws the odd constant from the source of modules that are not installed.
    (tmp_path / "bystander.py").write_text(f"NUMBERS = {list(range(2**40, 2**40 + 300))}\n")
    script = (
        "import sys, bystander\n"
        "from tests.harness.campaign.test_drawing import _fresh\n"
        "assert bystander.NUMBERS\n"
        f"print(*(case.identifier for case in _fresh(240, 1, uniform={uniform})))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    here = [case.identifier for case in _fresh(240, 1, uniform=uniform)]
    assert ended.stdout.split() == here


@dataclass(frozen=True, slots=True)
class Pinned:
    """A family that no change of the real ones changes."""

    name: str = "pinned"
    axes: tuple[Axis, ...] = (Axis("size", (1, 2, 3, 5, 8), 1), Axis("flag", (False, True), False))

    @property
    def invalid(self) -> tuple[st.SearchStrategy[Case], ...]:
        return (st.builds(self.build, st.just({"size": -1, "flag": False}), SEEDS),)

    def build(self, point: Point, seed: int) -> Case:
        node = Node("y", "toy", ("x",), dict(point))  # type: ignore[arg-type]
        return Case(self.name, Program((Input("x", (1,), "float32"),), (node,), ("y",)), seed=seed)


def _identifiers(count: int, seed: int, shard: Shard) -> list[str]:
    cases = islice(stream([Pinned()], seed, uniform=True, shard=shard), count)
    return [case.identifier for case in cases]


def test_the_first_cases_of_some_streams_are_these_on_every_machine() -> None:
    pinned = {
        WHOLE: "45a3ab2df35f608d 7efba6e3a3a1dbae e61f4450467c6a5f 3056ce8955b2f134",
        Shard(1, 4): "8ffc41b0beacca70 263c07ba4d8629d6 59dc312a8380d0d8 2c26787fd876dabf",
        Shard(4, 4): "dd4f31786c3e6bea 323ce7ae0d31d132 8164e575c0ea4890 0aa696bff45ac3ec",
    }
    assert {shard: " ".join(_identifiers(4, 1, shard)) for shard in pinned} == pinned


def test_a_stream_is_the_same_however_many_there_are() -> None:
    third = _identifiers(40, 7, Shard(3, 3))
    assert third == _identifiers(40, 7, Shard(3, 100))
    others = [
        _identifiers(40, 7, WHOLE),
        _identifiers(40, 8, Shard(3, 3)),
        *(_identifiers(40, 7, Shard(number, 3)) for number in (1, 2)),
    ]
    # Few programs of this family are invalid, and its seeds are small first: those come again.
    assert all(len(set(third) & set(other)) < 3 for other in others)


@pytest.mark.parametrize("wrong", [(0, 2), (3, 2), (1, 0)])
def test_a_shard_that_is_none_is_refused(wrong: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="shard"):
        Shard(*wrong)
