"""What it cost to run cases."""

from collections.abc import Iterable

import msgspec


class Spent(msgspec.Struct, frozen=True):
    """Cases and checks, and the seconds they took: CPU, CPU inside TVM, and wall clock."""

    cases: int = 0
    checks: int = 0
    cpu: float = 0.0
    in_tvm: float = 0.0
    wall: float = 0.0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.cases + other.cases,
            self.checks + other.checks,
            self.cpu + other.cpu,
            self.in_tvm + other.in_tvm,
            self.wall + other.wall,
        )


def total(parts: Iterable[Spent]) -> Spent:
    """All of ``parts`` together."""
    return sum(parts, Spent())
