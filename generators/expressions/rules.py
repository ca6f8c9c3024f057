"""Shapes of expressions that the analyzer has rules for, and near misses of them.

Written from the algebra: which identities hold for sums, products, quotients, remainders, extrema,
choices and comparisons, with and without conditions on signs and on divisibility. A rule that is
right where a constant is positive or divides another is applied here to constants that are not, and
do not. ``a``, ``b``, ``c``, ``d`` stand for constants, ``x``, ``y``, ``z`` for anything, ``p``,
``q`` for conditions.
"""

SUMS = (
    *("x - y + y", "x + (y - x)", "x - y + (y - z)", "x - (y - z)", "x + y - (z + x)"),
    *("x * y + x * z", "x * y - z * x", "x + x * y", "x * a - x * b", "x * a * b", "(x + a) * b"),
    *("(a - x) + y", "(a - x) - (b - y)", "x + a + b", "x - (y + a)", "x * y * a + y * x * b"),
    *("(x + y) * (x - y)", "x * a + y * a", "(x + a) * (y + b)", "a - (b - x)", "x * (a - y)"),
)
FLOORED = (
    *("x // a // b", "(x // a + b) // c", "(x * a + y) // b", "(x * a) // b", "(y + x * a) // b"),
    *("(x * a + y + z) // b", "(x * a - y + z) // b", "(x + a) // b", "(x * a) // (x * b)"),
    *("(x + y) // x", "(x + y + z) // x", "x * y // y", "(x * y + z) // y", "(x - x % a) // b"),
    *("(x * y * a + z) // (y * a)", "min(x * a, y) // b", "max(x, y * a) // b", "(x % a) // b"),
    *("x // a * a + x % a", "x // y * y + x % y", "x // a * b + x % a", "x - x // a * a"),
    *("(x % a + b) // a + x // a", "x // 2 + x % 2", "(x + 1) // 2 - x % 2", "(x + a) // 2"),
    *("(x + a) // c - (x + b) // c", "(x + a) // c - x // c", "x * a - x // b * c"),
    *("x * b - (x + y) // a * c", "(x - y) // a * a - x", "(x + y) // a * b - x * c"),
    *("(x // a) % b", "(x * a // b) * b", "(x // a + y // a) // b", "x // (a * b)", "x // -a"),
    *("(x // y) // z", "(a - x) // b", "(x + y // a * a) // b", "(a * x + b * y) // c", "a // x"),
)
REMAINDERS = (
    *("x * a % b", "(x * a + y) % b", "(x + a) % b", "(x + y * a) % b", "x * a % (x * b)"),
    *("x * y % y", "(x + z % y) % y", "(x - x % z) % y", "(x * y * a + z) % (y * a)", "x % a % b"),
    *("x % a * b % c", "(x % a + y % a) % a", "(x + a) % 2 + x % 2", "(x % 2 + 1) // 2"),
    *("(a - x) % b", "(x * a + b) % c", "x % -a", "(x // a * a) % b", "(x % a) * b + y % c"),
    *("(x + y) % x", "min(x, a) % b", "(x % a - b) % c", "(x * a - y) % b", "a % x"),
)
TRUNCATED = (
    *("truncdiv(truncdiv(x, a), b)", "truncdiv(x * a, b)", "truncdiv(x * a + y, b)"),
    *("truncdiv(x + a, b)", "truncdiv(x * y, y)", "truncdiv(x + y, x)", "truncdiv(x * a, x * b)"),
    *("truncdiv(x, a) * a + truncmod(x, a)", "x - truncdiv(x, a) * a", "truncdiv(x, a) * a - x"),
    *("truncdiv(x + a, c) - truncdiv(x + b, c)", "x * b - truncdiv(x, a) * c"),
    *("truncdiv(truncdiv(x, a) + b, c)", "truncdiv(min(x * a, y), b)", "truncdiv(max(x, y), a)"),
    *("truncmod(x * a, b)", "truncmod(x * a + y, b)", "truncmod(x + a, b)", "truncmod(x, -a)"),
    *("truncmod(truncmod(x, a), b)", "truncmod(x * a + y * b, c)", "truncdiv(a, x)"),
    *("truncdiv(x * y + z, y)", "truncmod(x - truncmod(x, a), b)", "truncdiv(-a * x, b)"),
)
EXTREMA = (
    *("min(x, y) + max(x, y)", "min(x, y) - y", "x - max(y, x)", "min(x + y, z) - x"),
    *("x - min(x + y, z)", "min(x, y - z) + z", "max(x, y + z * a) + z * b", "min(x, y + a) + b"),
    *("min(x + a, x + b)", "max(x + a, x)", "min(a - x, b - x)", "max(a - x, b)", "min(a - x, b)"),
    *("min(max(x, y), x)", "max(min(x, y), x)", "min(max(x, a), b)", "max(min(x, a), b)"),
    *("min(max(x, y), max(x, z))", "max(min(x, y), min(z, x))", "min(min(x, a), b)"),
    *("min(min(min(x, y), z), y)", "max(max(max(x, y), z), x)", "min(x + y, z + y)"),
    *("max(y - x, z - x)", "max(x - y, x - z)", "min(x // a, y // a)", "max(x // a, y // a)"),
    *("min(truncdiv(x, a), truncdiv(y, a))", "min(x * a, y * a)", "max(x * a, y * a)"),
    *("min(x * a, b)", "max(x * a, b)", "min(x // a * a, x)", "max(x // a * a, x)"),
    *("min((x + a) // b * b, x)", "max((x + a) // b * b, x)", "max(x // a * b + c, x)"),
    *("min(x, y) - min(z, x)", "min(x + a, y + b) - min(x, y)", "max(x, y) * a", "min(x, x * a)"),
    *("max(x % a, b)", "min(x % a, x)", "max(max(x, y), a) - max(y, x)"),
)
CHOICES = (
    *("select(p, x, y) + select(p, y, z)", "select(p, x, y) - select(p, x, z)"),
    *("select(p, x, y) - x", "select(p, x, y) - y", "min(select(p, x, y), select(p, z, x))"),
    *("select(not p, x, y)", "select(p, select(p, x, y), z)", "select(x < y, x, y)"),
    *("select(x < a, x % a, x)", "select(p and q, x, y)", "select(x == y, x - y, a)"),
    *("if_then_else(x < a, x, a)", "if_then_else(p, x // a, x)", "select(p, x + a, x + b)"),
    *("if_then_else(x == 0, a, b // x)", "select(x >= y, x - y, y - x)", "select(p, x, x) * a"),
    *("if_then_else(x < y, min(x, y), max(x, y))", "select(x % a == b, x // a, y)"),
)
SHIFTS = (
    *("(x << 1) + x", "x >> 1", "(x << 2) >> 2", "(x >> 1) << 1", "x & 7", "x & 3 | x & 4"),
    *("(x & 1) + (x >> 1) * 2", "(x * 4) & 3", "(x << 3) % 8", "(x << 1) // 2", "x ^ x", "x | 0"),
    *("(x & 12) // 4", "x - (x & 7)", "(x >> 2) * 4 + (x & 3)", "(x | 3) & 5", "(x ^ 5) ^ 5"),
)
COMPARED = (
    *("x + a < y + b", "x * a < y * a", "x * a < b", "a < x * b", "x // a < b", "b < x // a"),
    *("x // a == b", "x % a == b", "x + a == b", "a - x == b", "x * a == b", "x * y == 0"),
    *("x - y == 0", "x // a * a == x", "x // a * a < x", "x // a * a + b < x", "x < x // a * a"),
    *("min(x, y) < x", "max(x, y) < x", "min(x, a) < b", "max(x, a) < b", "min(x, y) == x"),
    *("x + y < x", "x - y < x", "x - y < y", "a - x < b - y", "x * a + b < c", "x * a == y * b"),
    *("x < y and y < x", "x < y or y <= x", "x == a and x != b", "x <= a and a <= x"),
    *("x < a and b < x", "x < a or b < x", "not x < y", "not (p and not p)", "p or not p"),
    *("x == a or x != a", "x < y and x < y + a", "x <= y and x != y", "p and (q or p)"),
    *("truncdiv(x, a) < b", "truncmod(x, a) == b", "b <= truncdiv(x, a)", "x // a <= x"),
    *("(x + a) // b == (x + c) // b", "x % a < b", "x % a <= x", "x * x >= 0", "x * a >= x"),
    *("max(x, y) - min(x, y) >= 0", "select(p, x, y) < z", "x % a + y % a < b", "x // y <= x"),
    *("x == y and x + a == y", "x < y and y < z and z < x", "x // a != y // a or x < y + b"),
)
RULES: dict[str, tuple[str, ...]] = {
    "sum": SUMS,
    "floor": FLOORED,
    "remainder": REMAINDERS,
    "trunc": TRUNCATED,
    "extremum": EXTREMA,
    "choice": CHOICES,
    "shift": SHIFTS,
    "comparison": COMPARED,
}

SIZES = (
    *("(n + 2*a - b) // c + 1", "(n + a - b * (c - 1) - 1) // d + 1", "(n + a - b + c - 1) // c"),
    *("(n - 1) * a - 2*b + c * (d - 1) + 1", "(n + a - 1) // a * a", "(n + a - 1) // a * a - n"),
    *("(n // a) * (m // b) * a", "n * m // a", "(n * a) // (m * a)", "n // a + n % a", "n % a"),
    *("max(n - a, 0)", "min(n, a)", "min(n, m) + max(n - m, 0)", "n + m - min(n, m)", "n * m * a"),
    *("(min(n, a) - min(b, a) + c - 1) // c", "max((n + a - b) // c + 1, 0)", "(n - a) // b - 1"),
    *("(n * m + a - 1) // a", "((n + 1) // 2 + 1) // 2", "n // 2 * 2", "n // a * (a * b)"),
    *("n - n // a * a", "(n * a + b) // a", "(n + m) * a - n * a", "a * n // 2 + a * n % 2"),
    *("select(n < a, n, n - a)", "(-n) % a", "-(-n // a)", "0 - (0 - n) // a", "2*n - 1 - (n - 1)"),
)
"""Sizes that programs compute: windows, padding, splits, ceiling divisions, slices, products. ``m``
and ``n`` are sizes."""

INDICES = (
    *("i // a", "i % a", "i // a % b", "i // a * a + i % a", "(i * a + j) // b", "(i * a + j) % b"),
    *("(i * a + j) // b * b + (i * a + j) % b", "(i // a * b + j) // b", "i * a + j", "j * a + i"),
    *(
        "(i * a + j) // b % c",
        "(i // a + j * b) % c",
        "i % a * b + j",
        "(i + a) // b",
        "(i + a) % b",
    ),
    *("(i % a * b + j) % c", "i // (a * b) * b + i % b", "i * 4 + j // 2 * 2 + j % 2", "a - 1 - i"),
    *("(i * a + j + b) // c", "i // a + j // b", "(i + j * a) % a", "(i + j * a) // a", "i - a"),
    *("(i // a * a + i % a) * b + j", "i * a + j * b", "(i % a + j * a) // b", "(a - i) % b"),
)
"""Places in a buffer, of loop variables ``i`` and ``j`` that start at 0."""
