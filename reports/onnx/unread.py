"""The list of attributes and inputs that TVM's converters never read, as text."""

from collections.abc import Iterable, Iterator

from relaxcheck.harness.onnx.unread.listing import Unread
from relaxcheck.harness.wording import plural


def text(rows: Iterable[Unread], release: str) -> str:
    """A line for each attribute or input, with the versions of its operator that lose it."""
    return "\n".join(_lines(tuple(rows), release)) + "\n"


def _lines(rows: tuple[Unread, ...], release: str) -> Iterator[str]:
    by_name: dict[tuple[str, str, str, str], list[int]] = {}
    for row in rows:
        key = row.operator, row.kind, row.name, row.converter
        by_name.setdefault(key, []).append(row.since)
    for (operator, kind, name, converter), since in by_name.items():
        versions = ", ".join(map(str, since))
        yield f"{operator} {versions}: {kind} {name}, never read by {converter}"
    names = {(row.operator, row.kind, row.name) for row in rows}
    attributes = sum(kind == "attribute" for _, kind, _ in names)
    yield (
        f"TVM {release} never reads {plural(attributes, 'attribute')} and "
        f"{plural(len(names) - attributes, 'input')} of operators that it converts."
    )
