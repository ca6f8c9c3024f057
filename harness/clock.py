"""What the parts of a case cost."""

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
        """Count what passes while this is open to ``part``."""
        start = time.process_time()
        try:
            yield
        finally:
            self.add(part, time.process_time() - start)

    def add(self, part: str, seconds: float) -> None:
        """Count ``seconds`` to ``part``."""
        self.seconds[part] = self.seconds.get(part, 0.0) + seconds
