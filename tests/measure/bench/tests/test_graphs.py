"""The benchmark of graphs: shares and rows, and cases that a worker runs."""

from relaxcheck.harness.workers import pool
from tests.measure.bench import graphs


def test_the_share_of_drawing_is_of_all_parts() -> None:
    cost = graphs.Cost(cases=10, drawing=1, tvm=8, judging=1)
    assert cost.share == 0.1
    assert graphs.table({"graphs": cost}).splitlines()[-1] == (
        "| graphs | 10.0 | 1.25 | 10.0 | 10.0 % |"
    )


def test_cases_are_drawn_and_run() -> None:
    assert graphs.Pool is pool.Pool
    cases, drawing = graphs.drawn("graphs", 1)
    assert len(cases) == graphs.WARM + 1
    assert drawing > 0
