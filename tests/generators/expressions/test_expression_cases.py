"""Batches of expressions and expressions alone: their JSON, their parts, where they lie."""

import os
import subprocess
import sys

import msgspec
import pytest

from relaxcheck.generators.core import program
from relaxcheck.generators.core.axes import complete, is_valid, point_of
from relaxcheck.generators.core.case import CaseError, Refusable, encode
from relaxcheck.generators.core.coverage.steering import Steering
from relaxcheck.generators.expressions.cases import (
    ANALYZED,
    DEFINED,
    EXTENT,
    INDEX,
    NEGATIVE,
    SIZES,
    ExpressionBatch,
    ExpressionCase,
)
from relaxcheck.generators.expressions.causes import cause
from relaxcheck.generators.expressions.family import family
from relaxcheck.generators.expressions.language import (
    Variable,
    apply,
    constant,
    converted,
    variable,
)
from relaxcheck.generators.expressions.subject import Problem
from relaxcheck.harness import kinds as cases

FAMILY = family()
POINT = complete(FAMILY.axes, {})
X = variable(Variable("x", "int32", 0, 7))
BATCH = msgspec.structs.replace(FAMILY.build(POINT, 7), count=9)


def test_a_batch_and_its_expressions_are_what_they_were_after_json() -> None:
    for case in (BATCH, *BATCH.members):
        again = cases.decode(encode(case))
        assert again == case
        assert type(again) is type(case)
        assert again.identifier == case.identifier


def test_the_format_number_says_of_which_kind_a_case_is() -> None:
    formats = [pair for kind in cases.every() for pair in kind.formats.items()]
    assert len(dict(formats)) == len(formats) == 6
    for kind in cases.every():
        for number, form in kind.formats.items():
            assert form.__struct_config__.tag == number  # type: ignore[attr-defined]
            assert form.kind == kind.name
    with pytest.raises(
        CaseError, match="case: format 9 is unknown; this version reads 1, 2, 3, 4, 5, 6"
    ):
        cases.decode('{"format": 9}')
    with pytest.raises(CaseError, match="format 3 is unknown; this version reads 1"):
        program.decode(encode(BATCH))


def test_the_parts_of_a_batch_have_the_expressions_of_the_whole() -> None:
    halves = BATCH.halves
    assert [half.count for half in halves] == [4, 5]
    assert halves[0].members + halves[1].members == BATCH.members
    assert len({member.identifier for member in BATCH.members}) == BATCH.count
    assert msgspec.structs.replace(BATCH, count=1).halves == ()


@pytest.mark.parametrize("wrong", [{"count": 0}, {"first": -1}])
def test_a_batch_holds_something(wrong: dict[str, int]) -> None:
    raw = msgspec.json.decode(encode(BATCH))
    with pytest.raises(CaseError, match="a batch of"):
        cases.decode(msgspec.json.encode({**raw, **wrong}))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"told": "whispers"}, "'whispers' is not one of"),
        ({"variables": []}, "x"),
        ({"constraints": [msgspec.to_builtins(X)]}, "a constraint is not a condition"),
    ],
)
def test_an_expression_that_is_none_is_refused_in_one_line(
    wrong: dict[str, object], message: str
) -> None:
    subject = Problem((Variable("x", "int32", 0, 7),), apply("+", X, constant(1)))
    raw = msgspec.json.decode(encode(ExpressionCase(family="algebra", at=POINT, subject=subject)))
    assert cases.decode(msgspec.json.encode(raw)).subject == subject  # type: ignore[union-attr]
    broken = {**raw, "subject": {**raw["subject"], **wrong}}
    with pytest.raises(CaseError) as raised:
        cases.decode(msgspec.json.encode(broken), "case.json")
    assert str(raised.value).startswith("case.json: ")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("case", [BATCH, BATCH.members[0]], ids=["batch", "expression"])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"family": "sums"}, "of the family 'sums', not algebra"),
        ({"at": {}}, "its point has no"),
        ({"at": {**POINT, "position": "zzz"}}, "'zzz' is no value of position"),
        ({"at": {**POINT, "opt_level": "high"}}, "'high' is no value of opt_level"),
        ({"at": {**POINT, "colour": "red"}}, "its point has an unknown axis 'colour'"),
    ],
)
def test_a_point_off_the_axes_is_refused_in_one_line(
    case: ExpressionCase, changes: dict[str, object], message: str
) -> None:
    broken = encode(msgspec.structs.replace(case, **changes))
    with pytest.raises(CaseError, match=f"^case.json: .*{message}[^\n]*$"):
        cases.decode(broken, "case.json")


def test_drawn_cases_lie_at_their_point() -> None:
    steering = Steering(FAMILY.axes)
    for number in range(120):
        batch = FAMILY.build(steering.point(number), number)
        point = point_of(FAMILY, batch)
        assert is_valid(FAMILY.axes, point)
        assert point_of(FAMILY, batch.halves[0].members[0]) == point
        if batch.position in SIZES:
            assert point["dtype"] == "int64"
        if batch.position in (INDEX, *SIZES):
            assert point["kind"] != "claim"
        assert (batch.points == DEFINED) is (batch.count != 8)
        assert batch.points == DEFINED or batch.position in SIZES
        assert batch.points != NEGATIVE or batch.position == EXTENT
        # An extent that is negative has to be refused.
        assert isinstance(batch.expect, Refusable) is (batch.points == NEGATIVE)
        if batch.position != ANALYZED:
            assert batch.members[0].subject.constraints == ()
        else:
            assert batch.opt_level == 0


def test_a_smaller_one_stays_where_it_was_but_for_the_level() -> None:
    member = ExpressionCase(
        family="algebra", at={**POINT, "opt_level": 3}, subject=BATCH.members[0].subject
    )
    first, *others = list(member.smaller)[:5]
    assert (first.opt_level, first.subject) == (0, member.subject)
    assert all(smaller.at == member.at and smaller.subject != member.subject for smaller in others)


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


def test_a_batch_counts_as_one_kind_of_case() -> None:
    assert isinstance(BATCH, ExpressionBatch)
    assert cases.operators(BATCH) == ("algebra",)
    kind = cases.of(BATCH)
    assert kind.is_batch(BATCH)
    assert kind.at_level(BATCH, 3) is None
    compiled = msgspec.structs.replace(BATCH, at={**BATCH.at, "position": INDEX})
    assert kind.at_level(compiled, 3).opt_level == 3


def test_an_expression_that_is_drawn_twice_is_one_case() -> None:
    whole = FAMILY.build(POINT, 5)
    seen = [member.identifier for member in whole.members]
    assert len(seen) == len(set(seen)) < whole.count
    assert whole.members == whole.members


def test_a_seed_draws_the_same_in_every_process() -> None:
    script = "from tests.problems import problems\nprint(*problems(5, 300), sep='\\n')"
    drawn = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert drawn[0].count("\n") == 300
    assert drawn[0] == drawn[1]
