"""The committed page of the support table: its figures are those of its data."""

import re
from pathlib import Path

import msgspec

from relaxcheck.harness.torch.table.counting import ENDINGS, Table
from relaxcheck.reports.torch.table import page, totals

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_committed_page_is_that_of_its_figures() -> None:
    data = msgspec.json.decode((DOCS / "torch.json").read_bytes(), type=Table)
    text = (DOCS / "torch.md").read_text()
    assert text == page(data)
    # The sums of the table at the top are those of the rows below.
    for (release, side, form), counts in totals(data).items():
        figures = " | ".join(str(counts.get(name, 0)) for name in ENDINGS)
        assert f"| {release} | {side} | {form} | {figures} |" in text
    rows = re.findall(r"^\| `([\w.]+)` \|", text, re.MULTILINE)
    assert rows == [row.name for row in data.rows]
