"""The mutants that mutmut makes of a file, each with a name that outlives other edits."""

import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import libcst as cst
from mutmut.mutation.file_mutation import Mutation, create_mutations

ROOT = Path(__file__).resolve().parents[4]
FILES = tuple(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "fixes").rglob("*.py")))


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one file: ``source`` is the whole mutated file.

    ``function`` is the function or method at the top level that the change is in ("Mask.span").
    ``change`` is the changed lines, removed ones with "-" and added ones with "+"; a number follows
    where the same change is possible again further down in the function.
    """

    file: str
    function: str
    change: str
    source: str

    @property
    def key(self) -> str:
        """File, function and change: the same as long as these lines are."""
        return f"{self.file}:{self.function}\n{self.change}"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Mutants of one file: those drawn, in the order of the lines, of ``of`` in all."""

    of: int
    mutants: tuple[Mutant, ...]


def mutants(file: str) -> tuple[Mutant, ...]:
    """Every mutant of ``file``."""
    return drawn(file, 1.0).mutants


def drawn(file: str, share: float) -> Drawn:
    """A ``share`` (0 to 1) of the mutants of ``file`` that lie in a function, at least one.

    The draw is the same each time, and a larger share contains a smaller one.
    Mutmut changes functions only: the tables of a module are for the type checker and the tests.
    """
    code = (ROOT / file).read_text()
    module, mutations, *_ = create_mutations(file, code)
    statements = [module.code_for_node(statement) for statement in module.body]
    before, after = code.split("".join(statements))
    places = {id(node): at for at, top in enumerate(module.body) for node in _nodes(top)}
    edits = []
    for mutation in mutations:
        if isinstance(mutation.contained_by_top_level_function, cst.FunctionDef):
            nodes = (mutation.original_node, mutation.mutated_node)
            edit = _edit(*(module.code_for_node(node) for node in nodes))  # type: ignore[arg-type]
            if edit != ("", ""):
                at = places[id(mutation.original_node)]
                edits.append((mutation, at, (_function(module.body[at], mutation), *edit)))
    chosen = _chosen(file, len(edits), share)
    # Another mutant with the same change comes of the same edit, and numbers this one.
    alike = {edits[position][2] for position in chosen}
    seen: dict[tuple[str, str], int] = {}
    result = []
    for position, (mutation, at, name) in enumerate(edits):
        if name not in alike:
            continue
        top = module.body[at]
        changed = module.code_for_node(
            top.deep_replace(mutation.original_node, mutation.mutated_node)  # type: ignore[arg-type]
        )
        function = name[0]
        change = _change(statements[at], changed)
        if not change:
            continue
        seen[function, change] = seen.get((function, change), 0) + 1
        number = seen[function, change]
        if position not in chosen:
            continue
        source = "".join([before, *statements[:at], changed, *statements[at + 1 :], after])
        shown = change if number == 1 else f"{change}\n({number})"
        result.append(Mutant(file, function, shown, source))
    return Drawn(len(edits), tuple(result))


def _chosen(file: str, count: int, share: float) -> set[int]:
    order = sorted(range(count), key=lambda at: hashlib.sha256(f"{file}:{at}".encode()).digest())
    return set(order[: max(1, round(share * count))])


def _edit(before: str, after: str) -> tuple[str, str]:
    """The texts that differ, without what both begin and end with."""
    begin = _alike(before, after)
    before, after = before[begin:], after[begin:]
    end = _alike(before[::-1], after[::-1])
    return before[: len(before) - end], after[: len(after) - end]


def _alike(left: str, right: str) -> int:
    """The number of characters that both begin with."""
    pairs = zip(left, right, strict=False)
    return next(
        (at for at, (one, other) in enumerate(pairs) if one != other), min(len(left), len(right))
    )


def _nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _function(top: cst.CSTNode, mutation: Mutation) -> str:
    function = mutation.contained_by_top_level_function
    assert function is not None
    name = function.name.value
    return f"{top.name.value}.{name}" if isinstance(top, cst.ClassDef) else name


def _change(before: str, after: str) -> str:
    lines = difflib.ndiff(
        [line.strip() for line in before.splitlines()],
        [line.strip() for line in after.splitlines()],
    )
    return "\n".join(line for line in lines if line[:2] in ("- ", "+ "))
