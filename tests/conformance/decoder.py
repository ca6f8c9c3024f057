"""The decoder at every length: one compiled module, at m = 1 to 64 frames, 2048 samples each.

    python -m tests.conformance.decoder         # a table: samples, and the largest error by bound

conv1d, 2048 samples for each frame in one of three ways, conv1d of stride 5, conv1d_transpose and
tanh (``generators.dynamic_templates``), with the fixes on.
"""

from collections.abc import Iterator

import msgspec

from generators import dynamic
from generators.axes import Point
from generators.program import Case
from harness.jobs import Job, Limits
from harness.outcome import Outcome, Verdict
from harness.pool import Pool

LENGTHS = range(1, 65)

WAYS = ("repeat", "broadcast_to", "image.resize2d")
"""The operators that make 2048 samples of a frame."""

PIPELINES = ("fixes-build", "fixes-pipeline")
"""Default and fused; memory that is planned for the largest sizes has them bounded."""


def cases(ways: tuple[str, ...] = WAYS) -> Iterator[tuple[str, Case]]:
    """The decoder in each of ``ways``, by each pipeline, with a name."""
    family = dynamic.family(dynamic.PIPELINES)
    point: Point = {axis.name: axis.default for axis in family.axes}
    for way in ways:
        seed = next(seed for seed in range(50) if way in _operators(_drafted(point, seed)))
        for pipeline in PIPELINES:
            case = family.build({**point, "form": "decoder", "pipeline": pipeline}, seed)
            bindings = tuple({"m": length} for length in LENGTHS)
            yield (
                f"{way}, {pipeline}",
                msgspec.structs.replace(case, bindings=bindings, fixes=True, also=()),
            )


def _drafted(point: Point, seed: int) -> Case:
    return dynamic.family(dynamic.PIPELINES).build({**point, "form": "decoder"}, seed)


def _operators(case: Case) -> set[str]:
    return {node.operator for node in case.program.nodes}


def ran(pool: Pool, given: Case) -> Outcome:
    """What comes of ``given``."""
    pool.submit(Job(given))
    ((_, outcome),) = pool.drain()
    return outcome


def main() -> None:
    """Print the table, and raise ``AssertionError`` where a length is not right."""
    with Pool(1, Limits(seconds=300)) as pool:
        named = dict(cases())
        found = {name: ran(pool, case) for name, case in named.items()}
    print("| m | " + " | ".join(f"{name}: error ÷ bound" for name in found) + " |")
    print("|---:|" + "---:|" * len(found))
    by_length = {
        name: {check.binding["m"]: check for check in outcome.checks}
        for name, outcome in found.items()
    }
    for length in LENGTHS:
        row = [by_length[name].get(length) for name in found]
        cells = [
            f"{one.ratio:.3f}" if one is not None and one.ratio is not None else "–" for one in row
        ]
        print(f"| {length} | " + " | ".join(cells) + " |")
    for name, outcome in found.items():
        assert outcome.verdict is Verdict.PASS, f"{name}: {outcome.verdict}: {outcome.message}"


if __name__ == "__main__":
    main()
