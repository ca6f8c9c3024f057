"""Progress of a section: a bar with the time left on a terminal, occasional lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

_LINE_EVERY_SECONDS = 15.0


class Showing:
    """Shows one section's progress; use as a context manager, call as ``section.Show``."""

    def __init__(self, console: Console, name: str) -> None:
        self._console = console
        self._name = name
        self._began = self._shown_at = time.monotonic()
        self._bar = Progress(
            TextColumn("[b]{task.fields[section]}[/b]"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.description}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("starting", total=1.0, section=name)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def __call__(self, doing: str, done: float) -> None:
        """Show what is being measured, and the share ``done`` of the section."""
        self._bar.update(self._task, description=doing, completed=done)
        now = time.monotonic()
        if self._console.is_terminal or now - self._shown_at < _LINE_EVERY_SECONDS:
            return
        self._shown_at = now
        left = (now - self._began) * (1 - done) / done if done > 0 else 0
        soon = f", about {left:.0f} s left" if done > 0 else ""
        self._console.print(f"{self._name}: {done:.0%} ({doing}){soon}")
