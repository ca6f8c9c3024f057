"""The time that a process takes, as deadlines count it."""

import os
import time
from dataclasses import dataclass

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_USER, _SYSTEM = 11, 12
"""The fields of the CPU times of a process behind its state, in ``/proc/PID/stat``."""


@dataclass(slots=True)
class Spending:
    """The seconds that the process ``pid`` has taken since it was made.

    While the process runs, or could, they are of its CPU time, and while it waits, of the clock on
    the wall: so one that others keep from a core is not late, and one that waits for ever is.
    """

    pid: int
    seconds: float = 0.0
    _wall: float = 0.0
    _cpu: float = 0.0

    def __post_init__(self) -> None:
        self._wall, self._cpu = time.monotonic(), _looked_at(self.pid)[1]

    def look(self) -> float:
        """The seconds until now; the state of the process now is taken for that since last time."""
        wall = time.monotonic()
        runs, cpu = _looked_at(self.pid)
        self.seconds += cpu - self._cpu if runs else max(wall - self._wall, cpu - self._cpu)
        self._wall, self._cpu = wall, cpu
        return self.seconds


def _looked_at(pid: int) -> tuple[bool, float]:
    """True if the process runs, or could; and the seconds of CPU time that it took."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # Its name, in parentheses, may hold any characters.
            fields = stat.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True, 0.0
    return fields[0] == b"R", (int(fields[_USER]) + int(fields[_SYSTEM])) * _TICK
