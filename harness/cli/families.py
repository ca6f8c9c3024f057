"""``relaxcheck families``."""

from rich.table import Table

from generators.families import every
from generators.families import families as usual
from harness.cli.terminal import console
from harness.pipelines import PIPELINES


def families() -> None:
    """List the families and their axes: everything that a campaign varies."""
    out = console()
    drawn = {one.name for one in usual(tuple(PIPELINES))}
    for one in every(tuple(PIPELINES)):
        title = one.name if one.name in drawn else f"{one.name} (where it is asked for by name)"
        table = Table(title=title, title_justify="left")
        table.add_column("axis", no_wrap=True)
        table.add_column("default", no_wrap=True)
        table.add_column("values")
        for axis in one.axes:
            values = ", ".join(str(value) for value in axis.values[:24])
            more = f", … ({len(axis.values)} in all)" if len(axis.values) > 24 else ""
            table.add_row(axis.name, str(axis.default), values + more)
        out.print(table)
