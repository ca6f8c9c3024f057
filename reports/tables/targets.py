"""The table operator × target, for a terminal and as a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table as RichTable

from relaxcheck.generators.targets import TARGETS
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.support.targets import FORMS, Cell, Row, Table

HEADING = "## Operators\n"
"""The heading under which ``page`` puts the tables; what stands before it is written by hand."""

_LEGEND = """\
A program of each operator with a record, at the defaults of its axes, the fixes off: with constant
sizes / with symbolic sizes. *runs*: it ran, and every element is within its bound. *compiled*: code
was generated, and the compiler above finds no error; *built*: it was generated, within the limits.
A number is a failure, listed below; some are there with LLVM, too. *–*: there is no such program.
`relaxcheck targets --docs` writes these tables, and the figures to `targets.json` beside them.
"""

_ENDS = ("runs", "compiled", "built")
_COLUMNS = ("target", *_ENDS, "fail", "other")


def word(cell: Cell) -> str:
    """The end of a case that does not fail; "" of one that does."""
    match cell.verdict:
        case Verdict.PASS:
            return "runs"
        case Verdict.BUILT:
            return "compiled" if "compiled by" in cell.message else "built"
        case verdict if verdict.is_failure:
            return ""
    return str(cell.verdict)


def failures(table: Table, release: str) -> dict[tuple[str, str], list[tuple[str, str, str]]]:
    """The operator, target and form of failures on ``release``, by verdict and message."""
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for row in table.rows:
        for target, form, cell in _cells(row, release):
            if not word(cell):
                key = (str(cell.verdict), cell.message)
                found.setdefault(key, []).append((row.operator, target, form))
    return found


def _cells(row: Row, release: str) -> Iterator[tuple[str, str, Cell]]:
    for target, forms in row.cells.get(release, {}).items():
        for form in FORMS:
            if form in forms:
                yield target, form, forms[form]


def summary(table: Table) -> Iterator[RichTable]:
    """For each release, the numbers of cases by target and end."""
    for release in table.versions:
        shown = RichTable(title=f"operators on {release}", title_justify="left")
        for at, name in enumerate(_COLUMNS):
            shown.add_column(name, justify="right" if at else "left")
        for row in _totals(table, release):
            shown.add_row(*row)
        yield shown


def _totals(table: Table, release: str) -> Iterator[list[str]]:
    """The rows of ``_COLUMNS``: for each target the numbers of cases by end."""
    for target, counts in _counted(table, release).items():
        others = sum(counts.values()) - sum(counts[name] for name in (*_ENDS, ""))
        yield [target, *(str(counts[name]) for name in (*_ENDS, "")), str(others)]


def _counted(table: Table, release: str) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for row in table.rows:
        for target, _, cell in _cells(row, release):
            found.setdefault(target, Counter())[word(cell)] += 1
    return {name: found[name] for name in TARGETS if name in found}


def lines(table: Table) -> Iterator[str]:
    """A line for each failure, of all releases."""
    for release in table.versions:
        for (verdict, message), where in failures(table, release).items():
            yield f"{release}: {verdict}: {message}: {_where(where)}"


def _where(found: Sequence[tuple[str, str, str]]) -> str:
    """The operators of ``found``, and for each its targets."""
    targets: dict[str, dict[str, None]] = {}
    for operator, target, _ in found:
        targets.setdefault(operator, {})[target] = None
    groups: dict[tuple[str, ...], list[str]] = {}
    for operator, own in targets.items():
        groups.setdefault(tuple(own), []).append(operator)
    return "; ".join(f"{', '.join(names)} ({', '.join(own)})" for own, names in groups.items())


def page(table: Table, before: str) -> str:
    """The page of which ``before`` is the one until now, with the tables under ``HEADING``."""
    parts = [before.partition(HEADING)[0] + HEADING, _LEGEND]
    for release, version in table.versions.items():
        found = failures(table, release)
        numbers = {key: number for number, key in enumerate(found, 1)}
        targets = tuple(_counted(table, release))
        totals = _markdown(_COLUMNS, list(_totals(table, release)))
        parts += [f"### apache-tvm {version}\n", totals]
        columns = ["operator", *targets]
        body = [_line(row, release, targets, numbers) for row in table.rows]
        parts.append(_markdown(columns, [line for line in body if line]))
        parts.append(
            "\n".join(
                f"{numbers[key]}. {key[0]}: {_code(key[1])}: {_where(where)}"
                for key, where in found.items()
            )
            + "\n"
        )
    return "\n".join(parts)


def _code(message: str) -> str:
    return f"`` {message} ``" if "`" in message else f"`{message or 'no message'}`"


def _line(
    row: Row, release: str, targets: Sequence[str], numbers: Mapping[tuple[str, str], int]
) -> list[str]:
    by_target = row.cells.get(release)
    if not by_target:
        return []
    cells = [by_target.get(target, {}) for target in targets]
    return [f"`{row.operator}`", *(_both(each, numbers) for each in cells)]


def _both(forms: Mapping[str, Cell], numbers: Mapping[tuple[str, str], int]) -> str:
    words = [_one(forms.get(form), numbers) for form in FORMS]
    return words[0] if words[0] == words[1] else " / ".join(words)


def _one(cell: Cell | None, numbers: Mapping[tuple[str, str], int]) -> str:
    if cell is None:
        return "–"
    return word(cell) or str(numbers[str(cell.verdict), cell.message])


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    made = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in made) + "\n"
