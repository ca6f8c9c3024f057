"""Scripts of programs that give numbers, count sizes, or call for an effect: they run, and pass."""

import json
import subprocess
import sys
from pathlib import Path

from relaxcheck.generators.core.fills.kinds import Literal
from relaxcheck.generators.core.program import Case, Input, Node, Program, ShapeValue
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import reproduction
from relaxcheck.reports.programs.repro import repro_text
from tests.reports.programs.test_repro import RUNNER, complaints
from tests.reports.programs.toy_program import VERSIONS, alone

X = Input("x", ("m", 3), "float32")
TRUE = Input("fine", (), "bool", fill=Literal((1,)))
COUNTED = {"shape": ShapeValue((2, "count")), "dtype": "int64"}

PROGRAMS = {
    "number": Program((X,), (Node("y", "inspect.tensor_shape_i", ("x",), {"axis": 1}),), ("y",)),
    "number and tensor": Program(
        (X,),
        (Node("rank", "inspect.tensor_ndim", ("x",)), Node("y", "flip", ("x",), {"axis": 1})),
        ("y", "rank"),
    ),
    "counted": Program(
        (X,),
        (
            Node("places", "nonzero", ("x",)),
            Node("known", "match_cast", ("places",), COUNTED),
            Node("y", "flip", ("known",), {"axis": 1}),
        ),
        ("y",),
        counted=("count",),
    ),
    "effects": Program(
        (X, TRUE),
        (
            Node("turned", "permute_dims", ("x",)),
            Node("shown", "print", ("x", "turned"), {"format": "{} and {}"}),
            Node("held", "assert_op", ("fine", "shown"), {"format": "{}"}),
            Node("y", "permute_dims", ("held",)),
        ),
        ("y",),
    ),
}


def test_they_run_by_themselves_and_exit_with_0_where_nothing_is_wrong(tmp_path: Path) -> None:
    files = []
    for name, program in PROGRAMS.items():
        case = Case("toy", program, ({"m": 2},))
        for verdict in (Verdict.WRONG_VALUE, Verdict.WRONG_SHAPE, Verdict.OPAQUE_CRASH):
            repro = reproduction(case, Outcome(verdict, "run"))
            files.append(tmp_path / f"{name}-{verdict}.py".replace(" ", "_"))
            files[-1].write_text(repro_text(repro, "It breaks", VERSIONS))
    assert not complaints(files)
    ended = subprocess.run(
        [sys.executable, RUNNER, *files],
        capture_output=True,
        text=True,
        check=True,
        env=alone(tmp_path),
        timeout=600,
    )
    answers = json.loads(ended.stdout.splitlines()[-1])
    assert {path: code for path, (code, _) in answers.items()} == dict.fromkeys(map(str, files), 0)
    assert " and " in answers[str(tmp_path / "effects-wrong-value.py")][1]
