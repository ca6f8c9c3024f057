from pathlib import Path

import numpy as np
import pytest

from relaxcheck.generators.core.program import Case, Input, Node, Program
from relaxcheck.harness.known.corpus import entries
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.programs.outputs import RanAgain, run_again
from relaxcheck.harness.releases.releases import own
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.oracles.answer import Bounded
from relaxcheck.oracles.compare import within

RIGHT = Case(
    "toy",
    Program((Input("x", ("B", 3), "float32"),), (Node("y", "nn.relu", ("x",)),), ("y",)),
    ({"B": 1}, {"B": 2}),
)


@pytest.mark.tvm
def test_outputs_are_what_was_judged(tmp_path: Path) -> None:
    by_name = {entry.name: entry.case for entry in entries()}
    wrong, left = by_name["attention-grouped-query"], by_name["attention-window"]
    heard: dict[str, RanAgain] = {}
    again = run_again([RIGHT, wrong, left], tmp_path, own(), Limits(), heard.__setitem__)
    assert heard == again.ended
    assert len(heard) == 3
    assert "apache-tvm" in again.environment
    assert {path.name for path in tmp_path.iterdir()} <= set(again.ended)
    right = again.ended[RIGHT.identifier]
    assert right.outcome.verdict is Verdict.PASS
    assert [(output.name, output.binding, output.shape) for output in right.outputs] == [
        ("y", {"B": 1}, (1, 3)),
        ("y", {"B": 2}, (2, 3)),
    ]
    assert all(output.actual == output.expected for output in right.outputs)
    # A case that did not run has no outputs.
    assert again.ended[left.identifier].outputs == ()
    ended = again.ended[wrong.identifier]
    assert ended.outcome.verdict is Verdict.WRONG_VALUE
    checks = {(str(each.binding), each.output, each.regime): each for each in ended.outcome.checks}
    assert len(ended.outputs) == len(checks)
    for output in ended.outputs:
        texts = (output.actual, output.expected, output.bound)
        actual, expected, bound = (np.array(list(map(float, text))) for text in texts)
        compared = within(actual, Bounded(expected, bound, output.dtype))
        check = checks[str(output.binding), output.name, output.regime]
        assert check.elements == actual.size
        result = compared.ratio if np.isfinite(compared.ratio) else None
        assert result == check.ratio
