"""Blocks of expressions and expressions alone: their JSON, their parts, where they lie."""

import msgspec
import pytest

from generators import cases, program
from generators.algebra_case import ExpressionCase
from generators.algebra_family import family
from generators.axes import complete, is_valid
from generators.causes import cause
from generators.expression_cases import (
    ANALYZED,
    DEFINED,
    EXTENT,
    INDEX,
    NEGATIVE,
    SIZES,
    Block,
    Member,
)
from generators.expressions import Variable, apply, constant, converted, variable
from generators.program import CaseError
from generators.steering import Steering

FAMILY = family()
POINT = complete(FAMILY.axes, {})
X = variable(Variable("x", "int32", 0, 7))
BLOCK = msgspec.structs.replace(FAMILY.build(POINT, 7), count=9)


def test_a_block_and_its_expressions_are_what_they_were_after_json() -> None:
    for case in (BLOCK, *BLOCK.members):
        again = cases.decode(program.encode(case))
        assert again == case
        assert type(again) is type(case)
        assert again.identifier == case.identifier


def test_the_format_number_says_of_which_kind_a_case_is() -> None:
    numbers = {kind.__struct_config__.tag: kind for kind in cases.KINDS.values()}
    assert numbers == cases.KINDS
    assert len(cases.KINDS) == 3
    with pytest.raises(CaseError, match="format 3 is unknown; this version reads 1"):
        program.decode(program.encode(BLOCK))


def test_the_parts_of_a_block_have_the_expressions_of_the_whole() -> None:
    halves = BLOCK.halves
    assert [one.count for one in halves] == [4, 5]
    assert halves[0].members + halves[1].members == BLOCK.members
    assert len({one.identifier for one in BLOCK.members}) == BLOCK.count
    assert msgspec.structs.replace(BLOCK, count=1).halves == ()


@pytest.mark.parametrize("wrong", [{"count": 0}, {"first": -1}])
def test_a_block_holds_something(wrong: dict[str, int]) -> None:
    raw = msgspec.json.decode(program.encode(BLOCK))
    with pytest.raises(CaseError, match="a block of"):
        cases.decode(msgspec.json.encode({**raw, **wrong}))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"told": "whispers"}, "'whispers' is not one of"),
        ({"variables": []}, "x"),
        ({"constraints": [msgspec.to_builtins(X)]}, "a constraint is not a condition"),
    ],
)
def test_an_expression_that_is_none_is_refused_in_one_line(
    wrong: dict[str, object], said: str
) -> None:
    subject = ExpressionCase((Variable("x", "int32", 0, 7),), apply("+", X, constant(1)))
    raw = msgspec.json.decode(program.encode(Member(family="algebra", at=POINT, subject=subject)))
    assert cases.decode(msgspec.json.encode(raw)).subject == subject  # type: ignore[union-attr]
    broken = {**raw, "subject": {**raw["subject"], **wrong}}
    with pytest.raises(CaseError) as raised:
        cases.decode(msgspec.json.encode(broken), "case.json")
    assert str(raised.value).startswith("case.json: ")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_drawn_lies_where_it_was_drawn() -> None:
    steering = Steering(FAMILY.axes)
    for number in range(120):
        block = FAMILY.build(steering.point(number), number)
        point = FAMILY.point(block)
        assert is_valid(FAMILY.axes, point)
        assert FAMILY.point(block.halves[0].members[0]) == point
        if block.position in SIZES:
            assert point["dtype"] == "int64"
        if block.position in (INDEX, *SIZES):
            assert point["kind"] != "claim"
        assert (block.points == DEFINED) is (block.count != 8)
        assert block.points == DEFINED or block.position in SIZES
        assert block.points != NEGATIVE or block.position == EXTENT
        if block.position != ANALYZED:
            assert block.members[0].subject.constraints == ()
        else:
            assert block.opt_level == 0


def test_a_smaller_one_stays_where_it_was_but_for_the_level() -> None:
    member = Member(
        family="algebra", at={**POINT, "opt_level": 3}, subject=BLOCK.members[0].subject
    )
    first, *others = list(member.smaller)[:5]
    assert (first.opt_level, first.subject) == (0, member.subject)
    assert all(one.at == member.at and one.subject != member.subject for one in others)


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        (apply("//", apply("-", constant(0), X), constant(-2)), "//(…, -c)"),
        (apply("%", X, constant(-1)), "%(…, -1)"),
        (apply("+", converted(X, "uint8"), constant(3, "uint8")), "unsigned +"),
        (apply("<", converted(X, "uint8"), constant(3, "uint8")), "unsigned <"),
        (converted(converted(X, "int8"), "int32"), "narrow cast"),
        (X, "…"),
    ],
)
def test_a_cause_is_the_outermost_operator_and_an_unusual_dtype(
    expression: object, wanted: str
) -> None:
    assert cause(expression) == wanted  # type: ignore[arg-type]


def test_a_block_counts_as_one_kind_of_case() -> None:
    assert isinstance(BLOCK, Block)
    assert cases.operators(BLOCK) == ("algebra",)
    assert not cases.is_compiled(BLOCK)
    assert cases.at_level(BLOCK, 3).opt_level == 3


def test_an_expression_that_is_drawn_twice_is_one_case() -> None:
    whole = FAMILY.build(POINT, 5)
    seen = [one.identifier for one in whole.members]
    assert len(seen) == len(set(seen)) < whole.count
    assert whole.members == whole.members
