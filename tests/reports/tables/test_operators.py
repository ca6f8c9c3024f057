"""The support table: ``docs/operators.md`` says what the records, oracles and TVM say."""

import re

import pytest
from rich.console import Console

from relaxcheck.generators.operators import OPERATORS
from relaxcheck.harness.paths import CHECKOUT
from relaxcheck.harness.programs.support.rows import NO, OPEN, YES, support
from relaxcheck.harness.releases.registered import Registered, registered
from relaxcheck.harness.releases.releases import own
from relaxcheck.reports.page.operators import last
from relaxcheck.reports.tables.operators import page, table

assert CHECKOUT is not None
PAGE = (CHECKOUT / "docs" / "operators.md").read_text()
WRITE = "run: python -m relaxcheck operators --docs"


def _read_back() -> Registered:
    """The operators of the page, their fixes and lowerings: the part of it that only TVM knows."""
    lowerings: dict[str, str] = {}
    fixes: dict[str, tuple[str, ...]] = {}
    heading: list[str] = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells and cells[0] == "operator":
            heading = cells
        elif cells and cells[0].startswith("`") and "oracle" not in heading:
            row = dict(zip(heading, cells, strict=True))
            name = row["operator"].split("`")[1]
            lowerings[name] = row.get("lowering", "")
            fixes[name] = tuple(re.findall(r"`(\w+)`", row.get("fixes", "")))
    return Registered(
        tuple(lowerings),
        {name: names for name, names in fixes.items() if names},
        {name: how for name, how in lowerings.items() if how},
    )


def test_the_page_is_that_of_the_records_and_oracles() -> None:
    assert page(support(_read_back())) == PAGE, WRITE


def test_the_table_that_comes_with_relaxcheck_is_that_of_the_page() -> None:
    committed = last()
    assert committed is not None
    assert page(committed) == PAGE, WRITE


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
    assert not by_name["nowhere"].record
    assert by_name["nn.attention_bias"].drawn_by == "nn.attention"
    assert by_name["nn.attention_bias"].record
    assert by_name["sum"].fixes == ("a_fix",)
    assert by_name["abs"].oracles == dict.fromkeys(("reference", "pytorch", "onnxruntime"), YES)


def test_the_table_has_a_line_for_each_operator() -> None:
    result = support(Registered(("nowhere",), {}))
    console = Console(width=200)
    with console.capture() as text:
        console.print(table(result))
    lines = text.get().splitlines()
    assert all(any(name in line for line in lines) for name in (*OPERATORS, "nowhere"))


def test_an_operator_that_gets_no_record_has_its_reason() -> None:
    result = support(Registered(("ccl.allreduce", "vm.alloc_tensor"), {}))
    reasons = {row.operator: row.reason for row in result.rows if not row.record}
    assert reasons == {
        "ccl.allreduce": "needs several processes, one for each device",
        "vm.alloc_tensor": "only the compiler emits it (LowerRuntimeBuiltin)",
    }


def test_known_failures_and_the_last_campaign_are_counted_by_operator() -> None:
    result = support(Registered(("abs",), {}), {"abs": 2}, {"abs": {"pass": 7, "wrong-value": 1}})
    (row,) = (row for row in result.rows if row.operator == "abs")
    assert row.known == 2
    console = Console(width=200)
    with console.capture() as text:
        console.print(table(result))
    assert "7 pass, 1 wrong-value" in text.get()
