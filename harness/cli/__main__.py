"""``python -m harness.cli``, where relaxcheck is not installed."""

from harness.cli import app

app()
