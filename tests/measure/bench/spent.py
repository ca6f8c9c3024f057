"""The cost of running cases."""

from collections.abc import Iterable

import msgspec


class Spent(msgspec.Struct, frozen=True):
    """Cases and checks, and the seconds they took: CPU, some parts of that, and wall clock.

    ``parts`` is the CPU time of cases inside TVM ("tvm"), of oracles and reference ("oracles") and
    of what compares ("compare").
    """

    cases: int = 0
    checks: int = 0
    cpu: float = 0.0
    parts: dict[str, float] = {}
    wall: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.cases + other.cases,
            self.checks + other.checks,
            self.cpu + other.cpu,
            {
                part: self.parts.get(part, 0.0) + other.parts.get(part, 0.0)
                for part in (self.parts | other.parts)
            },
            self.wall + other.wall,
        )

    @property
    def in_tvm(self) -> float:
        """CPU seconds inside TVM."""
        return self.parts.get("tvm", 0.0)


def total(parts: Iterable[Spent]) -> Spent:
    """All of ``parts`` together."""
    return sum(parts, Spent())
