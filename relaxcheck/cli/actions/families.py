"""``relaxcheck families``: prints every axis."""

from rich.table import Table

from relaxcheck.cli.terminal import console
from relaxcheck.harness import kinds


def families() -> None:
    """Print a table for each family: its axes, their defaults and values; then those left out."""
    out = console()
    drawn = {family.name for family in kinds.usual_families()}
    for family in kinds.families():
        title = family.name if family.name in drawn else f"{family.name} (only when named)"
        table = Table(title=title, title_justify="left")
        table.add_column("axis", no_wrap=True)
        table.add_column("default", no_wrap=True)
        table.add_column("values")
        for axis in family.axes:
            values = ", ".join(str(value) for value in axis.values[:24])
            more = f", … ({len(axis.values)} in all)" if len(axis.values) > 24 else ""
            table.add_row(axis.name, str(axis.default), values + more)
        out.print(table)
    if left_out := kinds.left_out():
        table = Table(title="left out", title_justify="left")
        table.add_column("family", no_wrap=True)
        table.add_column("reason")
        for name, reason in left_out.items():
            table.add_row(name, reason)
        out.print(table)
