"""Scripts define the functions that they call, and build what emission builds."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
import tvm

from relaxcheck.generators.core import values
from relaxcheck.generators.core.axes import cases
from relaxcheck.generators.core.called.meanings import CALLS
from relaxcheck.generators.core.called.tir_functions import CALL_TIR
from relaxcheck.generators.core.program import CLOSURES, Case
from relaxcheck.generators.core.sampling import draw
from relaxcheck.generators.emission.programs import emit
from relaxcheck.generators.families import families
from relaxcheck.generators.operators.family import OperatorFamily
from relaxcheck.reports.programs.imports import imports_of
from relaxcheck.reports.programs.program_text import printed_names, program_lines

FAMILIES = [
    family for family in families(("build",)) if family.operator in {*CALLS, *CLOSURES, CALL_TIR}
]


def run(case: Case, folder: Path) -> Any:
    """The module that the script's function ``program`` builds."""
    own = [*case.program.inputs, *case.program.nodes]
    body = "\n".join(program_lines(case, {named.name: named.name for named in own}))
    path = folder / f"script_{case.identifier}.py"
    # TVM reads the source of a function of TIR.
    path.write_text("\n".join([*imports_of(body), "", body]))
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    constants = values.constants(case)
    return script.program(
        *(constants[tensor.name] for tensor in case.program.inputs if tensor.constant)
    )


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_script_builds_the_module_that_is_run(family: OperatorFamily, tmp_path: Path) -> None:
    for case in draw(cases(family), 15, 4):
        module = run(case, tmp_path)
        tvm.ir.assert_structural_equal(module, emit(case))
        for name, printed in printed_names(case.program).items():
            assert re.search(rf"\b{printed}\b", str(module["main"])), name
