"""The decoder at every length: one compiled module, at m = 1 to 64 frames, 2048 samples each.

    python -m tests.conformance.decoder         # a table: samples, and the largest error by bound

conv1d, 2048 samples for each frame in one of three ways, conv1d of stride 5, conv1d_transpose and
tanh (``relaxcheck.generators.graphs.templates``), with the fixes on.
"""

from collections.abc import Iterator

import msgspec

from relaxcheck.generators.core.axes import Point
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.graphs import family as dynamic
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.workers.jobs import Job, Limits
from relaxcheck.harness.workers.pool import Pool

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
            # Input values of one seed, whichever seed draws the way.
            yield (
                f"{way}, {pipeline}",
                msgspec.structs.replace(case, bindings=bindings, fixes=True, also=(), seed=0),
            )


def _drafted(point: Point, seed: int) -> Case:
    return dynamic.family(dynamic.PIPELINES).build({**point, "form": "decoder"}, seed)


def _operators(case: Case) -> set[str]:
    return {node.operator for node in case.program.nodes}


def ran(pool: Pool, case: Case) -> Outcome:
    """The outcome of ``case``."""
    pool.submit(Job(case))
    ((_, outcome),) = pool.drain()
    return outcome


def main() -> None:
    """Print the table, and raise ``AssertionError`` where a length is not right."""
    with Pool(1, Limits(seconds=300)) as pool:
        named = dict(cases())
        outcomes = {name: ran(pool, case) for name, case in named.items()}
    print("| m | " + " | ".join(f"{name}: error ÷ bound" for name in outcomes) + " |")
    print("|---:|" + "---:|" * len(outcomes))
    by_length = {
        name: {check.binding["m"]: check for check in outcome.checks}
        for name, outcome in outcomes.items()
    }
    for length in LENGTHS:
        row = [by_length[name].get(length) for name in outcomes]
        cells = [
            f"{check.ratio:.3f}" if check is not None and check.ratio is not None else "–"
            for check in row
        ]
        print(f"| {length} | " + " | ".join(cells) + " |")
    for name, outcome in outcomes.items():
        assert outcome.verdict is Verdict.PASS, f"{name}: {outcome.verdict}: {outcome.message}"


if __name__ == "__main__":
    main()
