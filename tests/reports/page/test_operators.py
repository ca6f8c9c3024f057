"""The operators on the page: each with its oracles, its fixes and the campaign's verdicts."""

import re
from pathlib import Path

import pytest

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.harness.programs.support.rows import support
from relaxcheck.harness.releases.registered import Registered
from relaxcheck.reports.page.operators import last, section, support_text
from relaxcheck.reports.page.page import Sources, page_text
from relaxcheck.reports.page.records import Record

REGISTERED = Registered(("abs", "ccl.allreduce", "nowhere"), {"abs": ("a_fix",)})


def test_every_operator_of_the_support_table_is_on_the_page() -> None:
    committed = last()
    assert committed is not None
    text = page_text(Sources(Record("runs/toy", {}, (), ()), support=committed))
    rows = re.findall(r'<tr><th scope="row">([\w.]+)', text[text.index('id="operators"') :])
    assert set(rows) >= {row.operator for row in committed.rows}
    assert set(rows) > set(OPERATORS)


def test_a_line_has_oracles_fixes_and_the_verdicts_of_the_campaign() -> None:
    shown = section(support(REGISTERED), {"abs": {"pass": 7, "wrong-value": 2}})
    line = next(line for line in shown.lines if line.operator == "abs")
    assert line.oracles == ("yes", "yes", "yes")
    assert (line.fixes, line.verdicts, line.failing) == ("a_fix", "7 pass, 2 wrong-value", 2)
    other = next(line for line in shown.lines if line.operator == "exp")
    assert (other.verdicts, other.failing) == ("", 0)
    assert shown.open == ("nowhere",)
    assert shown.undrawn == (("ccl.allreduce", "needs several processes, one for each device"),)


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "operators.json"
    assert last(path) is None
    table = support(REGISTERED)
    path.write_text(support_text(table))
    assert last(path) == table
    path.write_text("{}")
    with pytest.raises(CaseError, match="relaxcheck operators --docs"):
        last(path)
