"""Control flow that export keeps, and values that a module changes."""

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.torch.graphs.drafting import Drafting
from relaxcheck.generators.torch.graphs.idioms.idiom import Idiom, tokens
from relaxcheck.generators.torch.graphs.steps.step import METHOD
from relaxcheck.generators.torch.graphs.wire import Wire
from relaxcheck.generators.torch.program import BUFFER, COND, Argument, Branch, Many, Node, Ref


def _branch(inputs: tuple[str, ...], *calls: tuple[str, tuple[Argument, ...]]) -> Branch:
    """A function that calls each of ``calls`` in order; a number stands for itself."""
    nodes = tuple(
        Node(target, args, outputs=(f"r{at}",)) for at, (target, args) in enumerate(calls)
    )
    return Branch(inputs, nodes, (f"r{len(nodes) - 1}",))


_LARGER = _branch(("a",), ("torch.mul", (Ref("a"), 2)), ("torch.tanh", (Ref("r0"),)))
_SMALLER = _branch(("a",), ("torch.sub", (Ref("a"), 1)))


def _predicate(draft: Drafting, x: Wire, variant: str) -> object:
    """A truth value: an input, of the data, or of a size."""
    if variant == "size":
        return draft.number("operator.gt", x.size(0), 2)
    if variant == "data":
        total = draft.call("torch.amax", x, (0, 1, 2), shape=(), exact=True)
        return draft.call("torch.gt", total, 1.5, shape=(), gives="bool", exact=True)
    return draft.data((), "bool", name="flag")


def _cond(draft: Drafting, variant: str) -> None:
    """Two ways, by a truth value."""
    x = tokens(draft)
    before = draft.call("torch.relu", x, shape=x.shape)
    made = draft.call(
        COND, _predicate(draft, x, variant), _LARGER, _SMALLER, [before], shape=x.shape
    )
    draft.give(draft.call("torch.neg", made, shape=x.shape))


def _cond_of_two(draft: Drafting, variant: str) -> None:
    """Branches of two operands, or of two results."""
    x, y = tokens(draft), tokens(draft, "y")
    flag = draft.data((), "bool", name="flag")
    if variant == "operands":
        first = _branch(("a", "b"), ("torch.sub", (Ref("a"), Ref("b"))))
        second = _branch(
            ("a", "b"),
            ("torch.sub", (Ref("b"), Ref("a"))),
            ("torch.mul", (Ref("r0"), 3)),
        )
        draft.give(draft.call(COND, flag, first, second, [x, y], shape=x.shape))
        return
    nodes = (
        Node("torch.add", (Ref("a"), Ref("b")), outputs=("s",)),
        Node("torch.sub", (Ref("a"), Ref("b")), outputs=("d",)),
    )
    first = Branch(("a", "b"), nodes, ("s", "d"))
    second = Branch(("a", "b"), nodes, ("d", "s"))
    results = ((x.shape, x.dtype),) * 2
    draft.give(*draft.several(COND, flag, first, second, [x, y], results=results))


def _nested(draft: Drafting, variant: str) -> None:
    """A branch within a branch, or one behind the other."""
    x = tokens(draft)
    flag = draft.data((), "bool", name="flag")
    again = draft.data((), "bool", name="again")
    if variant == "behind":
        first = draft.call(COND, flag, _LARGER, _SMALLER, [x], shape=x.shape)
        draft.give(draft.call(COND, again, _SMALLER, _LARGER, [first], shape=x.shape))
        return
    operands = draft.branch(
        ("a", "p"),
        (
            Node(COND, (Ref("p"), _LARGER, _SMALLER, _many("a")), outputs=("inner",)),
            Node("torch.add", (Ref("inner"), 1), outputs=("r",)),
        ),
        "r",
    )
    other = draft.branch(("a", "p"), (Node("torch.neg", (Ref("a"),), outputs=("r",)),), "r")
    draft.give(draft.call(COND, flag, operands, other, [x, again], shape=x.shape))


def _many(*names: str) -> Argument:
    return Many(tuple(Ref(name) for name in names))


def _state(draft: Drafting, variant: str) -> None:
    """A buffer that the module changes as it runs."""
    x = tokens(draft)
    match variant:
        case "counter":
            count = draft.weight((), "int64", Literal((3,)), "count", BUFFER)
            draft.do(f"{METHOD}.add_", count, 1)
            draft.give(draft.call("torch.mul", x, count, shape=x.shape), count)
        case "average":
            mean = draft.weight((8,), name="mean", held=BUFFER)
            now = draft.call("torch.mean", x, (0, 1), shape=(8,))
            draft.do(f"{METHOD}.mul_", mean, 0.5)
            draft.do(f"{METHOD}.add_", mean, now, alpha=0.5)
            draft.give(draft.call("torch.sub", x, mean, shape=x.shape))
        case "read-before":
            last = draft.weight((8,), name="last", held=BUFFER)
            made = draft.call("torch.add", x, last, shape=x.shape)
            draft.do(f"{METHOD}.copy_", last, draft.weight((8,)))
            draft.give(made, draft.call("torch.neg", last, shape=(8,)))
        case "cache":
            cache = draft.weight((4, 8), name="cache", held=BUFFER)
            row = draft.cut(cache, 1, shape=(8,))
            draft.do(f"{METHOD}.copy_", row, draft.call("torch.mean", x, (0, 1), shape=(8,)))
            draft.give(
                draft.call("torch.matmul", x, _turned(draft, cache), shape=(*x.shape[:2], 4))
            )


def _turned(draft: Drafting, wire: Wire) -> Wire:
    shape = (wire.shape[1], wire.shape[0])
    return draft.call("torch.transpose", wire, 0, 1, shape=shape)


def _written_input(draft: Drafting, variant: str) -> None:
    """An input that the module writes."""
    x = tokens(draft)
    before = draft.call("torch.tanh", x, shape=x.shape)
    if variant == "view":
        draft.do(f"{METHOD}.mul_", draft.cut(x, 0, shape=x.shape[1:]), 2)
    else:
        draft.do(f"{METHOD}.add_", x, 1)
    made = draft.call("torch.add", x, before, shape=x.shape)
    draft.give(*((made, before) if variant != "returned" else (made, x)))


def _results(draft: Drafting, variant: str) -> None:
    """Outputs: an input, one twice, what the module holds, in an order of their own."""
    x = tokens(draft)
    made = draft.call("torch.relu", x, shape=x.shape)
    weight = draft.weight((8,))
    match variant:
        case "input":
            draft.give(made, x)
        case "twice":
            draft.give(made, draft.call("torch.neg", made, shape=x.shape), made)
        case "held":
            draft.give(weight, draft.call("torch.mul", made, weight, shape=x.shape))
        case "reversed":
            second = draft.call("torch.sub", made, weight, shape=x.shape)
            third = draft.call("torch.mean", second, (1,), shape=(x.shape[0], 8))
            draft.give(third, second, made)
        case _:
            draft.tuple_of_one = True
            draft.give(made)


IDIOMS = (
    Idiom("cond", _cond, ("input", "data", "size")),
    Idiom("cond-of-two", _cond_of_two, ("operands", "results")),
    Idiom("cond-nested", _nested, ("within", "behind")),
    Idiom("state", _state, ("counter", "average", "read-before", "cache")),
    Idiom("input-written", _written_input, ("whole", "view", "returned")),
    Idiom("results", _results, ("input", "twice", "held", "reversed", "tuple")),
)
