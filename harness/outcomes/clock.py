"""CPU time by part of a case."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Clock:
    """CPU seconds by part."""

    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Add the CPU time spent within the context to ``part``."""
        start = time.process_time()
        try:
            yield
        finally:
            self.add(part, time.process_time() - start)

    def add(self, part: str, seconds: float) -> None:
        """Add ``seconds`` to ``part``."""
        self.seconds[part] = self.seconds.get(part, 0.0) + seconds
