"""Every point of the grids conforms (``--grid full`` for all that is exhaustive)."""

import msgspec
import pytest

from relaxcheck.harness.programs.conformance import Conformance
from tests.conformance import grids


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    config = metafunc.config
    families = config.getoption("--family")
    metafunc.parametrize(
        ("grid", "chunk"),
        [
            pytest.param(
                name,
                chunk,
                id=f"{name}-{chunk}",
                marks=[pytest.mark.thorough] if chunk and grids.is_small(name) else [],
            )
            for name in grids.names(config.getoption("--grid"))
            if not families or name.partition("-")[0] in families
            for chunk in range(grids.chunks(name))
        ],
    )


def test_every_point_conforms(
    grid: str, chunk: int, conformance: Conformance, fixes_on: bool
) -> None:
    family = grids.member(grid.partition("-")[0])
    mine = grids.part(grid, chunk)
    cases = [
        msgspec.structs.replace(family.build(point, seed), fixes=fixes_on)
        for seed, point in enumerate(mine)
    ]
    assert cases
    failures = conformance.failures(cases)
    if failures:
        # The first line is what a summary shows.
        more = f"\n{len(failures)} of {len(cases)} cases do not conform"
        pytest.fail("\n".join(failures[:20]) + more, pytrace=False)
