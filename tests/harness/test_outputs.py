from pathlib import Path

import numpy as np

from generators.program import Case, Input, Node, Program
from harness.corpus import entries
from harness.jobs import Limits
from harness.outcome import Verdict
from harness.outputs import Ended, run_again
from harness.releases import own
from oracles.answer import Bounded
from oracles.compare import within

RIGHT = Case(
    "toy",
    Program((Input("x", ("B", 3), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",)),
    ({"B": 1}, {"B": 2}),
)


def test_outputs_are_what_was_judged(tmp_path: Path) -> None:
    by_name = {entry.name: entry.case for entry in entries()}
    wrong, left = by_name["attention-grouped-query"], by_name["attention-window"]
    heard: dict[str, Ended] = {}
    again = run_again([RIGHT, wrong, left], tmp_path, own(), Limits(), heard.__setitem__)
    assert heard == again.ended
    assert len(heard) == 3
    assert "apache-tvm" in again.environment
    assert {path.name for path in tmp_path.iterdir()} <= set(again.ended)
    right = again.ended[RIGHT.identifier]
    assert right.outcome.verdict is Verdict.PASS
    assert [(one.name, one.binding, one.shape) for one in right.outputs] == [
        ("y", {"B": 1}, (1, 3)),
        ("y", {"B": 2}, (2, 3)),
    ]
    assert all(one.actual == one.expected for one in right.outputs)
    # What did not run has no outputs.
    assert again.ended[left.identifier].outputs == ()
    ended = again.ended[wrong.identifier]
    assert ended.outcome.verdict is Verdict.WRONG_VALUE
    checks = {(str(one.binding), one.output, one.regime): one for one in ended.outcome.checks}
    assert len(ended.outputs) == len(checks)
    for one in ended.outputs:
        texts = (one.actual, one.expected, one.bound)
        actual, expected, bound = (np.array(list(map(float, text))) for text in texts)
        compared = within(actual, Bounded(expected, bound, one.dtype))
        check = checks[str(one.binding), one.name, one.regime]
        assert check.elements == actual.size
        found = compared.ratio if np.isfinite(compared.ratio) else None
        assert found == check.ratio
