"""``python -m relaxcheck``: the command line."""

from relaxcheck.cli import app

app(prog_name="python -m relaxcheck")
