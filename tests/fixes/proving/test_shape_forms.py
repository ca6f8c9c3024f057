"""Forms of expressions: their values, and what their polynomials show."""

import random
from itertools import product
from typing import Any

import pytest

from relaxcheck.fixes.proving import forms as shape_forms
from relaxcheck.fixes.proving import solver
from relaxcheck.fixes.proving.forms import Form, holds_written_out, negated, polynomial, value

M, N, K, S = ("size", 0), ("size", 1), ("size", 2), ("integer", 0)


def c(number: int) -> Form:
    return ("constant", number)


ARITHMETIC = ("add", "sub", "mul", "floordiv", "floormod", "truncdiv", "truncmod", "min", "max")
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def drawn_number(draw: random.Random, depth: int, atoms: tuple[Form, ...]) -> Form:
    if depth == 0 or draw.random() < 0.25:
        return draw.choice((*atoms, *atoms, c(draw.choice((-2, -1, 0, 1, 2, 3)))))
    if draw.random() < 0.07:
        condition = drawn_truth(draw, 0, atoms)
        return ("select", condition, *(drawn_number(draw, depth - 1, atoms) for _ in range(2)))
    kind = draw.choice((*ARITHMETIC, "add", "sub", "mul"))
    return (kind, *(drawn_number(draw, depth - 1, atoms) for _ in range(2)))


def drawn_truth(draw: random.Random, depth: int, atoms: tuple[Form, ...]) -> Form:
    if depth and draw.random() < 0.1:
        # Assumptions, and a claim that may follow from them.
        low, high = (drawn_number(draw, 1, atoms) for _ in range(2))
        shift = c(draw.choice((-1, 0, 1)))
        return ("or", ("ge", low, high), ("gt", ("sub", high, low), shift))
    if depth and draw.random() < 0.3:
        return (draw.choice(("and", "or")), *(drawn_truth(draw, 0, atoms) for _ in range(2)))
    sides = [drawn_number(draw, depth + 1, atoms) for _ in range(2)]
    if draw.random() < 0.5:
        # Two spellings of one number, so that many claims are true.
        sides[1] = rewritten(draw, sides[0])
    return (draw.choice(COMPARISONS), *sides)


def rewritten(draw: random.Random, form: Form) -> Form:
    """A form that mostly has the value of ``form`` wherever that is defined."""
    match form:
        case ("mul", left, ("add", first, second)):
            return ("add", ("mul", left, first), ("mul", left, second))
        case ("add" | "mul" | "min" | "max" as kind, left, right):
            return (kind, rewritten(draw, right), left)
        case ("sub", left, right):
            return ("add", left, ("mul", c(-1), rewritten(draw, right)))
    return draw.choice(
        (
            ("sub", ("add", form, M), M),
            ("floordiv", ("mul", form, N), N),
            ("add", form, c(draw.choice((-1, 0, 1)))),
        )
    )


@pytest.mark.parametrize(
    ("form", "point", "expected"),
    [
        (("floordiv", S, c(3)), (-7,), -3),
        (("floordiv", S, c(-3)), (7,), -3),
        (("floormod", S, c(3)), (-7,), 2),
        (("floormod", S, c(-3)), (7,), -2),
        (("truncdiv", S, c(3)), (-7,), -2),
        (("truncmod", S, c(3)), (-7,), -1),
        (("truncmod", S, c(-3)), (7,), 1),
        (("floordiv", M, N), (3, 0), None),
        (("eq", ("truncmod", M, N), c(0)), (3, 0), None),
        (("and", ("ne", N, c(0)), ("eq", ("floordiv", M, N), c(1))), (3, 0), False),
        (("and", ("eq", ("floordiv", M, N), c(1)), ("ne", N, c(0))), (3, 0), False),
        (("or", ("eq", N, c(0)), ("eq", ("floordiv", M, N), c(1))), (3, 0), True),
        (("or", ("ne", N, c(0)), ("eq", ("floordiv", M, N), c(1))), (3, 0), None),
        (("not", ("eq", ("floordiv", M, N), c(1))), (3, 0), None),
        (("select", ("eq", N, c(0)), c(5), ("floordiv", M, N)), (3, 0), 5),
    ],
)
def test_values(form: Form, point: tuple[int, ...], expected: Any) -> None:
    assert value(form, point) == expected


def at_small_points(form: Form, variables: int, lowest: int = 0) -> set[Any]:
    return {value(form, point) for point in product(range(lowest, 8), repeat=variables)}


def test_conditions_that_hold_written_out_are_nowhere_false() -> None:
    draw, held = random.Random(1), 0
    for _ in range(6000):
        form = drawn_truth(draw, draw.choice((0, 1)), (M, N))
        if holds_written_out(form):
            held += 1
            assert False not in at_small_points(form, 2), form
    assert held > 500


def test_written_out_a_number_is_the_same() -> None:
    """A polynomial is rebuilt term by term."""
    draw, compared = random.Random(2), 0
    for _ in range(1500):
        form = drawn_number(draw, 3, (M, N))
        terms = polynomial(form)
        if terms is None:
            continue
        for point in ((0, 1), (1, 2), (3, 2), (5, 7), (4, 0)):
            expected = value(form, point)
            if expected is not None:
                compared += 1
                assert sum(term_at(term, point) for term in terms.items()) == expected, form
    assert compared > 4000


def term_at(term: tuple[tuple[Any, ...], int], point: tuple[int, ...]) -> int:
    atoms, result = term
    for atom in atoms:
        result *= atom_at(atom, point)
    return result


def atom_at(atom: Any, point: tuple[int, ...]) -> int:
    if atom[0] in ("size", "select"):
        return int(value(atom, point))
    sides = [c(sum(term_at(term, point) for term in side)) for side in atom[1:]]
    return int(value((atom[0], *sides), point))


def test_a_negation_is_the_other_way_round_everywhere() -> None:
    draw = random.Random(3)
    for _ in range(1500):
        form = drawn_truth(draw, 1, (M, N))
        for point in ((0, 0), (1, 0), (0, 3), (5, 2)):
            whole = value(form, point)
            assert value(negated(form), point) == (None if whole is None else not whole), form


@pytest.mark.parametrize(
    "form",
    [
        ("eq", ("mul", ("add", M, c(1)), ("sub", M, c(1))), ("sub", ("mul", M, M), c(1))),
        ("eq", ("floordiv", ("mul", ("mul", M, N), c(6)), ("mul", N, c(2))), ("mul", M, c(3))),
        ("eq", ("floormod", ("mul", M, N), M), c(0)),
        (
            "eq",
            ("floordiv", ("sub", M, c(1)), c(2)),
            ("sub", ("floordiv", ("add", M, c(1)), c(2)), c(1)),
        ),
        (
            "eq",
            ("floormod", ("add", ("mul", M, c(7)), c(8)), c(5)),
            ("floormod", ("sub", ("mul", M, c(2)), c(2)), c(5)),
        ),
        ("eq", ("floordiv", ("add", ("mul", M, N), K), N), ("add", ("floordiv", K, N), M)),
        ("eq", ("min", M, ("mul", N, K)), ("min", ("mul", K, N), M)),
        ("eq", ("floordiv", ("add", ("mul", M, c(2)), c(3)), c(2)), ("add", M, c(1))),
        ("eq", ("truncmod", c(-7), c(3)), c(-1)),
        ("ge", ("add", ("mul", M, N), c(1)), c(1)),
        ("lt", M, ("add", ("add", M, N), c(1))),
        ("ne", ("add", M, c(1)), c(0)),
        ("or", ("eq", M, N), ("le", M, ("add", M, N))),
        ("or", ("ge", N, M), ("ge", ("sub", ("sub", M, c(1)), N), c(0))),
        ("or", ("or", ("ge", N, M), ("gt", K, N)), ("gt", M, K)),
    ],
)
def test_conditions_that_writing_out_shows(form: Form) -> None:
    assert holds_written_out(form)


@pytest.mark.parametrize(
    "form",
    [
        ("eq", ("floordiv", ("add", ("mul", M, N), c(1)), N), M),
        ("eq", ("truncdiv", ("sub", M, c(2)), c(2)), ("sub", ("truncdiv", M, c(2)), c(1))),
        ("eq", ("mul", ("floordiv", M, N), N), M),
        ("ge", ("sub", M, N), c(0)),
        ("gt", M, c(0)),
        ("ge", ("integer", 0), c(0)),
        ("ne", ("add", ("integer", 0), c(1)), c(0)),
        ("and", ("eq", M, M), ("eq", M, N)),
        ("or", ("ge", N, M), ("ge", ("sub", ("sub", M, c(2)), N), c(0))),
        ("or", ("gt", N, M), ("gt", M, N)),
    ],
)
def test_conditions_that_writing_out_does_not_show(form: Form) -> None:
    assert not holds_written_out(form)


def test_a_long_product_is_given_up() -> None:
    total: Form = ("add", ("add", M, N), ("add", K, ("size", 3)))
    power = ("mul", ("mul", total, total), ("mul", total, total))
    assert polynomial(power) is None


@pytest.mark.parametrize("lowest", [0, -7])
def test_conditions_that_z3_proves_are_nowhere_false(lowest: int) -> None:
    """Signs, both ways of dividing, divisors of 0, and operands that decide alone."""
    pytest.importorskip("z3")
    atoms = (M, N) if lowest == 0 else (S, ("integer", 1))
    draw, proved, true = random.Random(4 + lowest), 0, 0
    for _ in range(150):
        form = drawn_truth(draw, draw.choice((0, 1)), atoms)
        result = at_small_points(form, 2, lowest)
        if False in result and draw.random() < 0.8:
            # Most claims are false; some are asked about anyway.
            continue
        holds = solver.proves(form)
        assert not (holds and False in result), form
        true += False not in result
        proved += holds
    assert proved > 0.6 * true
    assert true > 20


@pytest.mark.parametrize("kind", ["floordiv", "floormod", "truncdiv", "truncmod"])
def test_z3_divides_as_values_do(kind: str) -> None:
    pytest.importorskip("z3")
    for left, right in product((-7, -6, 0, 6, 7), (-3, 3)):
        result = value((kind, c(left), c(right)), ())
        # A variable of this value, as constants would be folded.
        where = ("ne", S, c(left)), ("ne", ("integer", 1), c(right))
        for number, holds in ((result, True), (result + 1, False)):
            claim = ("eq", (kind, S, ("integer", 1)), c(number))
            assert solver.proves(("or", where[0], ("or", where[1], claim))) is holds, (left, right)


def test_a_claim_at_the_edge_is_no_more_than_it_says() -> None:
    pytest.importorskip("z3")
    divided = ("eq", ("mul", ("floordiv", M, N), N), M)
    assert not solver.proves(divided)
    # If n is 0 the quotient is undefined and claims nothing. Other operands still count.
    assert solver.proves(("le", ("mul", ("floordiv", M, N), N), M))
    assert not solver.proves(("and", ("le", ("mul", ("floordiv", M, N), N), M), ("ne", N, c(0))))


def test_points_show_what_is_false_at_an_edge() -> None:
    for form in (
        ("ge", M, c(1)),
        ("ne", M, c(1)),
        ("ne", M, N),
        ("le", M, c(900)),
        ("ge", S, c(0)),
    ):
        assert False in {value(form, point) for point in shape_forms.points(form)}, form
