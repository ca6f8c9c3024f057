"""The differences between a user's pipeline and TVM's, for a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rich.table import Table

from relaxcheck.harness.conforming.comparing import Difference, Pair, Standing
from relaxcheck.harness.kinds import way
from relaxcheck.harness.outcomes.severity import rank, severity_of
from relaxcheck.harness.wording import plural

_MESSAGE = 160
_OPERATORS = 4
_FAMILIES = 6


def counts(pairs: Sequence[Pair]) -> Table:
    """The cases by standing."""
    of = Counter(pair.standing for pair in pairs)
    table = Table(show_edge=False, show_header=False)
    table.add_column("cases", justify="right")
    table.add_column("standing")
    for standing in Standing:
        if of[standing]:
            style = "red" if standing is Standing.WORSE else ""
            table.add_row(f"{of[standing]:,}", str(standing), style=style)
    return table


def title(each: Difference) -> str:
    """A cause in one line: the pass, the operators, the verdict and its message."""
    names = list(each.operators)
    more = f" and {len(names) - _OPERATORS} more" if len(names) > _OPERATORS else ""
    about = ", ".join(filter(None, names[:_OPERATORS])) + more
    culprit = f"{each.culprit}: " if each.culprit else ""
    stage = f" at {each.cell.stage}" if each.cell.stage and each.cell.stage != each.culprit else ""
    message = f": {each.cell.message[:_MESSAGE]}" if each.cell.message else ""
    return f"{culprit}{about}: {each.cell.verdict}{stage}{message}"


def lines(found: Sequence[Difference], commands: Mapping[str, str]) -> Iterator[str]:
    """For each cause its smallest case and how to run it, by identifier in ``commands``."""
    for number, each in enumerate(found, 1):
        yield f"{number}. {each.severity}, {plural(len(each.pairs), 'case')}: {title(each)}"
        yield f"   smallest case: {each.example.family}, {way(each.example)}"
        if each.why:
            yield f"   {each.why}"
        yield f"   {commands[each.example.identifier]}"


def better(pairs: Sequence[Pair]) -> str:
    """A line on the cases that only TVM's pipeline fails on; "" if there is none."""
    own = [pair for pair in pairs if pair.standing is Standing.BETTER]
    if not own:
        return ""
    worst = min(own, key=lambda pair: rank(severity_of(pair.tvms.verdict, pair.case.expect)))
    names = list(dict.fromkeys(pair.case.family for pair in own))
    more = ", …" if len(names) > _FAMILIES else ""
    return (
        f"Only TVM's pipeline fails, or fails worse, on {plural(len(own), 'case')} of "
        f"{', '.join(names[:_FAMILIES])}{more}; the worst is {worst.tvms.verdict}: "
        f"{worst.tvms.message[:_MESSAGE]}"
    )
