"""The mutants of ``fixes/`` that mutmut makes, each with a name that outlives other edits."""

import difflib
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


def mutants(file: str) -> tuple[Mutant, ...]:
    """Every mutant of ``file`` that lies in a function, in the order of the lines.

    Mutmut changes functions only: the tables of a module are for the type checker and the tests.
    """
    code = (ROOT / file).read_text()
    module, mutations, *_ = create_mutations(file, code)
    statements = [module.code_for_node(statement) for statement in module.body]
    before, after = code.split("".join(statements))
    places = {id(node): at for at, top in enumerate(module.body) for node in _nodes(top)}
    seen: dict[tuple[str, str], int] = {}
    result = []
    for mutation in mutations:
        if not isinstance(mutation.contained_by_top_level_function, cst.FunctionDef):
            continue
        at = places[id(mutation.original_node)]
        top = module.body[at]
        changed = module.code_for_node(
            top.deep_replace(mutation.original_node, mutation.mutated_node)  # type: ignore[arg-type]
        )
        function = _function(top, mutation)
        change = _change(statements[at], changed)
        if not change:
            continue
        seen[function, change] = seen.get((function, change), 0) + 1
        number = seen[function, change]
        source = "".join([before, *statements[:at], changed, *statements[at + 1 :], after])
        shown = change if number == 1 else f"{change}\n({number})"
        result.append(Mutant(file, function, shown, source))
    return tuple(result)


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
