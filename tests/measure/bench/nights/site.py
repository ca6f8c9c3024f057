"""Seconds to write a site of a year of nights, and until a browser shows it.

    python -m tests.measure.bench.nights.site

Makes nights without a campaign, writes their site as ``relaxcheck site`` does, and opens it in
Chromium from a folder. The page says itself when it was shown: the time from the begin of its
navigation to the layout of the first rows. An empty page in turn with it shows what the browser
costs alone.
Exit codes: 0 the target is met; 1 it is missed; 2 there is no Chromium.
"""

import random
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.console import Console

from relaxcheck.reports.site.history import kept, write
from relaxcheck.reports.site.night import Night
from relaxcheck.reports.site.site import INDEX, files_of
from relaxcheck.reports.site.tracking import series_of
from tests.reports.page.test_browser import BROWSER, browse
from tests.reports.site.making import night, seen

_TARGET = 1.0
"""Seconds until the page is shown."""

_RELEASES = ("0.25", "0.26", "0.27")

_EMPTY = "<!doctype html><title></title><body></body>"
_SAY = """
<script>
addEventListener("load", () => {
  // Asked for a height, the browser lays the page out.
  const height = document.body.offsetHeight, rows = document.querySelectorAll("#rows tr").length;
  document.title = `${performance.now()} ${rows} ${height}`;
});
</script>
"""


def year(nights: int, faults: int, source: random.Random) -> list[Night]:
    """So many ``nights`` of each release, with so many ``faults`` in all: most live for weeks."""
    made = []
    each = faults // len(_RELEASES)
    for release in _RELEASES:
        lives = [
            (born, born + source.randrange(1, 60), f"{release}-{number:x}")
            for number in range(each)
            for born in (source.randrange(nights),)
        ]
        for day in range(nights):
            there = tuple(
                seen(name, f"nn.operator_{hash(name) % 200} gives wrong values ({name})")
                for born, ended, name in lives
                if born <= day < ended
            )
            gone = tuple(name for _, ended, name in lives if ended == day)
            made.append(night(day, *there, gone=gone, release=release))
    return made


def _opened(page: Path, folder: Path) -> float:
    """Seconds from the navigation until ``page`` is laid out, with its rows if it has a table.

    Raises:
        RuntimeError: it has a table without rows.
    """
    ended = browse(page, folder, "--dump-dom")
    milliseconds, rows, _ = ended.stdout.partition("<title>")[2].partition("</title>")[0].split()
    if 'id="rows"' in ended.stdout and rows == "0":
        raise RuntimeError("the table is empty")
    return float(milliseconds) / 1000


def bench(
    nights: Annotated[int, typer.Option(min=2, help="Nights of each release.")] = 365,
    faults: Annotated[int, typer.Option(min=3, help="Faults in all.")] = 10_000,
    turns: Annotated[int, typer.Option(min=1, help="Times that the page is opened.")] = 5,
) -> None:
    """Time a year of nights."""
    console = Console(soft_wrap=True, highlight=False)
    if BROWSER is None:
        console.print("no Chromium here (Debian's package: chromium)", style="red")
        raise typer.Exit(2)
    with tempfile.TemporaryDirectory(prefix="relaxcheck-bench-") as name:
        folder = Path(name)
        console.print("making nights …", style="dim")
        for each in year(nights, faults, random.Random(1)):
            write(each, folder / "history")
        begun = time.perf_counter()
        series = series_of(kept(folder / "history").values())
        for path, text in files_of(series, "A year"):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        written = time.perf_counter() - begun
        index, empty = folder / INDEX, folder / "empty.html"
        empty.write_text(_EMPTY)
        for page in (index, empty):
            page.write_text(page.read_text().replace("</body>", f"{_SAY}</body>"))
        shown, alone = [], []
        for turn in range(turns):
            console.print(f"opening: {turn + 1} of {turns}", style="dim")
            alone.append(_opened(empty, folder / f"empty-{turn}"))
            shown.append(_opened(index, folder / f"site-{turn}"))
        size = sum(file.stat().st_size for file in (folder / "history").iterdir())
        console.print(
            f"{nights} nights of {len(_RELEASES)} releases,"
            f" {sum(len(each.faults) for each in series):,} faults: history {size / 2**20:.1f} MiB,"
            f" written in {written:.1f} s\n"
            f"shown after {median(shown):.2f} s ({min(shown):.2f} to {max(shown):.2f}),"
            f" target {_TARGET:g} s; an empty page after {median(alone):.2f} s"
        )
    raise typer.Exit(int(median(shown) > _TARGET))


if __name__ == "__main__":
    typer.run(bench)
