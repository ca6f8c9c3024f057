"""The support table: ``docs/operators.md`` says what the records, oracles and TVM say."""

import re
from collections.abc import Iterator

import pytest
from rich.console import Console

from relaxcheck.generators.operators import OPERATORS
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.support import NO, OPEN, YES, support
from relaxcheck.harness.releases.registered import Registered, registered
from relaxcheck.harness.releases.releases import own
from relaxcheck.reports.tables.operators import page, table

assert CHECKOUT is not None
PAGE = (CHECKOUT / "docs" / "operators.md").read_text()
WRITE = "run: python -m relaxcheck operators --docs"


def _rows() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The operators of the page and their fixes: the part of it that only TVM knows."""
    for line in PAGE.splitlines():
        if line.startswith("| `") and line.count("|") != 5:
            first, *_, last = (
                line.strip("| ").split("|")
                if not line.endswith("| |")
                else (
                    *line.strip("| ").split("|"),
                    "",
                )
            )
            yield first.split("`")[1], tuple(re.findall(r"`(\w+)`", last))


def _read_back() -> Registered:
    rows = dict(_rows())
    return Registered(tuple(rows), {name: fixes for name, fixes in rows.items() if fixes})


def test_the_page_is_that_of_the_records_and_oracles() -> None:
    assert page(support(_read_back())) == PAGE, WRITE


@pytest.mark.tvm
def test_every_operator_that_tvm_registers_is_on_the_page() -> None:
    here = registered(own())
    assert set(here.operators) > {"nn.conv2d", "topk", "vm.alloc_storage"}
    assert page(support(here)) == PAGE, WRITE


def test_rows_say_who_answers_and_what_is_open() -> None:
    result = support(Registered(("nn.attention_bias", "nowhere"), {"sum": ("a_fix",)}))
    by_name = {row.operator: row for row in result.rows}
    assert set(by_name) == {*OPERATORS, "nn.attention_bias", "nowhere"}
    assert by_name["nowhere"].reason == OPEN
    assert set(by_name["nowhere"].oracles.values()) == {NO}
    assert by_name["nn.attention_bias"].record == "nn.attention"
    assert by_name["sum"].fixes == ("a_fix",)
    assert by_name["abs"].oracles == dict.fromkeys(("reference", "pytorch", "onnxruntime"), YES)


def test_the_table_has_a_line_for_each_operator() -> None:
    result = support(Registered(("nowhere",), {}))
    console = Console(width=200)
    with console.capture() as text:
        console.print(table(result))
    lines = text.get().splitlines()
    assert all(any(name in line for line in lines) for name in (*OPERATORS, "nowhere"))
