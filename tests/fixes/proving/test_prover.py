"""The prover proves only true claims, and the claims that matter most."""

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from tvm import tirx

from relaxcheck.fixes import tvm_api
from relaxcheck.fixes.proving import checks as run_time_checks
from relaxcheck.fixes.proving import forms as shape_forms
from relaxcheck.fixes.proving import prover, solver
from relaxcheck.fixes.proving import tvm_forms as tvm_api_forms
from relaxcheck.fixes.proving.checks import Check, undecided
from relaxcheck.fixes.proving.forms import value
from relaxcheck.fixes.proving.prover import Level
from relaxcheck.fixes.tvm_api import PrimExpr, equal, floordiv, floormod
from tests.fixes.proving.test_shape_forms import drawn_truth

M, N, K = SYMBOLS = tuple(map(tvm_api.shape_var, "mnk"))
_SIZES = (("size", 0), ("size", 1))


@pytest.fixture(autouse=True)
def _anew() -> None:
    prover.forget()


_MAKE: dict[str, Callable[..., PrimExpr]] = {
    "add": tirx.Add,
    "sub": tirx.Sub,
    "mul": tirx.Mul,
    "floordiv": tirx.FloorDiv,
    "floormod": tirx.FloorMod,
    "truncdiv": tirx.Div,
    "truncmod": tirx.Mod,
    "min": tirx.Min,
    "max": tirx.Max,
    "eq": tirx.EQ,
    "ne": tirx.NE,
    "lt": tirx.LT,
    "le": tirx.LE,
    "gt": tirx.GT,
    "ge": tirx.GE,
    "and": tirx.And,
    "or": tirx.Or,
    "select": tirx.Select,
}


def expression(form: Any) -> PrimExpr:
    """The expression whose form is ``form``, unsimplified."""
    kind = form[0]
    if kind in ("size", "integer"):
        return SYMBOLS[form[1]]
    return (
        tvm_api.integer(form[1]) if kind == "constant" else _MAKE[kind](*map(expression, form[1:]))
    )


def test_an_expression_is_read_as_it_is_written() -> None:
    draw = random.Random(5)
    for _ in range(300):
        form = drawn_truth(draw, 1, _SIZES)
        result = tvm_api_forms.form_of(expression(form))
        assert result is not None
        for point in ((0, 0), (3, 2), (7, 1), (2, 5)):
            assert value(result, renumbered(form, point)) == value(form, point)


def renumbered(form: Any, point: tuple[int, ...]) -> tuple[int, ...]:
    """``point`` in the order in which the variables occur in ``form``."""
    seen: list[int] = []

    def visit(node: Any) -> None:
        if node[0] in ("size", "integer"):
            seen.append(node[1])
        for part in node[1:]:
            if isinstance(part, tuple):
                visit(part)

    visit(form)
    return tuple(point[number] for number in dict.fromkeys(seen))


def test_proved_conditions_are_nowhere_false(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of claims, each compared with all small sizes; z3 has its own test."""
    monkeypatch.setattr(solver, "proves", lambda form: False)
    draw, proved, true = random.Random(6), 0, 0
    for _ in range(4000):
        form = drawn_truth(draw, draw.choice((0, 1)), _SIZES)
        holds = prover.proves(expression(form))
        if holds or draw.random() < 0.1:
            seen = {value(form, point) for point in product(range(9), repeat=2)}
            assert not (holds and False in seen), form
            true += False not in seen
        proved += holds
    assert proved > 800


def test_a_wrong_analyzer_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sure:
        def can_prove(self, *claim: Any) -> bool:
            return True

        can_prove_equal = can_prove

    monkeypatch.setattr(prover, "_analyzer", lambda expressions, signed: Sure())
    for claim in (equal(M, N), M >= 1, M * N >= M, equal(floordiv(M, 2) * 2, M), M - 1 >= 0):
        assert prover.proved_by(claim) is None
    assert prover.proved_by(equal(M * N, N * M)) is Level.ANALYZER


FACTS: list[tuple[str, PrimExpr]] = [
    ("product", equal(M * N * 4, N * (M * 4))),
    ("heads", equal(floordiv(M * N, N), M)),
    ("squares", equal((M + 1) * (M - 1), M * M - 1)),
    ("flattened", equal((M + 1) * 4 * N, M * N * 4 + N * 4)),
    ("upsampling", equal(floordiv(M * 2048, 2048), M)),
    ("stride", floordiv(M + 2 - 3, 2) + 1 >= 0),
    ("same padding", equal(floordiv(M + 2 - 3, 1) + 1, M)),
    ("ceiling", equal(floordiv(M + 3, 4), floordiv(M - 1, 4) + 1)),
    ("padded to 8", floordiv(M + 7, 8) * 8 >= M),
    ("blocks", equal(floordiv(floordiv(M, 2), 3), floordiv(M, 6))),
    ("one of two", tirx.any(equal(M * 2, M + M), equal(M, 1))),
    ("both", tirx.all(equal(M + N, N + M), M + N >= M)),
    ("smaller", tirx.min(M, N) <= M),
]
STRONGER: list[tuple[str, PrimExpr]] = [
    ("halves", equal(floordiv(M, 2) + floordiv(M + 1, 2), M)),
    ("square", M * M >= M),
    ("rows of n", floordiv(M, tirx.max(N, 1)) * tirx.max(N, 1) <= M),
    ("a remainder", tirx.any(floormod(M, tirx.max(N, 1)) < N, equal(N, 0))),
]
BY_Z3 = [("divided twice", equal(floordiv(floordiv(M, N), K), floordiv(M, N * K)))]


@pytest.mark.parametrize(("name", "fact"), FACTS, ids=[name for name, _ in FACTS])
def test_conditions_from_shapes_are_proved_on_every_release(name: str, fact: PrimExpr) -> None:
    level = prover.proved_by(fact)
    assert level is not None
    assert level <= Level.WRITTEN_OUT


@pytest.mark.parametrize(("name", "fact"), STRONGER, ids=[name for name, _ in STRONGER])
def test_conditions_that_need_a_solver(name: str, fact: PrimExpr) -> None:
    """TVM includes z3 since 0.26; earlier releases need z3-solver."""
    if not hasattr(tvm_api.analyzer(), "is_z3_enabled"):
        pytest.importorskip("z3")
    level = prover.proved_by(fact)
    assert level is not None
    assert level >= Level.STRONGEST


@pytest.mark.parametrize(("name", "fact"), BY_Z3, ids=[name for name, _ in BY_Z3])
def test_conditions_that_need_z3_itself(
    name: str, fact: PrimExpr, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("z3")
    assert prover.proved_by(fact) is Level.SOLVER
    prover.forget()
    monkeypatch.setattr(solver, "_z3", lambda: None)
    assert prover.proved_by(fact) is None


@pytest.mark.parametrize(
    "claim",
    [
        equal(M, N),
        M >= 1,
        equal(floordiv(M, 2) * 2, M),
        equal(floordiv(M, N) * N, M),
        equal(tirx.FloorDiv(M, tvm_api.integer(0)), N),
        floordiv(M, 4) * 4 >= M - 2,
        equal(M.astype("int32"), N.astype("int32")),
        tirx.Cast("int64", tirx.Cast("int8", M)) <= M,
    ],
    # TVM prints the address of a quotient by 0.
    ids=["another", "1 at least", "even", "a multiple", "by 0", "of four", "narrow", "cast"],
)
def test_false_and_unreadable_conditions_are_not_proved(claim: PrimExpr) -> None:
    assert not prover.proves(claim)


def test_an_unreadable_term_is_equal_to_itself() -> None:
    assert prover.equal(M.astype("int32"), M.astype("int32"))


def test_sides_of_two_dtypes() -> None:
    assert prover.equal(tirx.IntImm("int32", 4), tvm_api.integer(4))
    assert not prover.equal(tirx.IntImm("int32", 4), tvm_api.integer(5))
    assert not prover.equal(tirx.Var("i", "int32"), M)


def test_a_scalar_may_be_negative() -> None:
    assert prover.proves(M + 1 > 0)
    assert not prover.proves(M + 1 > 0, signed=[M])
    assert prover.proves(equal(M + M, M * 2), signed=[M])


def test_premises_are_used() -> None:
    inside = [N < M]
    assert prover.proves(M - 1 - N >= 0, premises=inside)
    assert not prover.proves(M - 1 - N >= 0)
    assert not prover.proves(equal(floordiv(K * M + N, M), K + 1), premises=inside)
    assert not prover.proves(M - 2 - N >= 0, premises=inside)


def test_an_index_taken_apart_again() -> None:
    if not hasattr(tvm_api.analyzer(), "is_z3_enabled"):
        pytest.importorskip("z3")
    index = K * M + N
    assert prover.proves(equal(floordiv(index, M), K), premises=[N < M])
    assert prover.proves(equal(floormod(index, M), N), premises=[N < M])
    assert not prover.proves(equal(floormod(index, M), N))


def test_checks_that_are_proved_or_never_hold() -> None:
    kept = Check(M - 3 >= 0, "m {}", (M,))
    assert undecided([Check(equal(M * N, N * M), ""), kept, kept]) == [kept]
    with pytest.raises(ValueError, match=r"^n \+ 1 is 0$"):
        undecided([Check(equal(N + 1, 0), "{} is 0", (N + 1,))])
    below = Check(N + 1 >= 1, "")
    assert undecided([below]) == []
    assert run_time_checks.undecided([below], signed=[N]) == [below]


def test_answers_are_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    assert prover.proves(equal(M * N, N * M))
    monkeypatch.setattr(shape_forms, "points", lambda form: pytest.fail("asked again"))
    # The same question about other symbols.
    assert prover.proves(equal(K * M, M * K))
