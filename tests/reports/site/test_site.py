"""The site: what its pages say, and that a browser shows it, foreign text as text."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from relaxcheck.cli import app
from relaxcheck.reports.site.night import Night
from relaxcheck.reports.site.site import DATA, INDEX, files_of
from relaxcheck.reports.site.tracking import series_of
from tests.reports import html_campaign as made
from tests.reports.page.test_browser import BROWSER, browse
from tests.reports.site.making import night, seen

HOSTILE = '</script><img src=x onerror="document.title=1">\u2028'
MANY = 250
NIGHTS = (
    night(
        0,
        seen("a"),
        seen("b", declared="corpus entry b"),
        *(seen(f"{number:04x}") for number in range(MANY)),
    ),
    night(
        1, seen("b", declared="corpus entry b"), seen("c", HOSTILE, message=HOSTILE), gone=("a",)
    ),
)

STEPS = """
const seen = {};
const rows = () => [...document.querySelectorAll("#rows tr.fault")];
const wait = async (so) => {
  while (!so()) await new Promise((done) => { setTimeout(done, 10); });
};
const set = (id, value) => {
  at(id).value = value;
  at(id).dispatchEvent(new Event("input", {bubbles: true}));
};
(async () => {
  await wait(() => rows().length);
  seen.all = [at("matching").textContent, rows().length];
  at("further").click();
  seen.further = rows().length;
  set("fate", "new");
  seen.fresh = rows().map((row) => row.querySelector("button").textContent);
  rows()[0].click();
  await wait(() => document.querySelector(".detail pre"));
  seen.message = document.querySelector(".detail pre").textContent;
  seen.case = JSON.parse(document.querySelectorAll(".detail pre")[1].textContent).family;
  rows()[0].click();
  seen.closed = document.querySelectorAll(".detail").length;
  set("fate", "");
  set("declared", "yes");
  seen.declared = rows().map((row) => row.querySelector(".tag").textContent);
  set("declared", "");
  set("words", "no such words");
  seen.none = [rows().length, at("none-match").hidden];
  location.hash = "#fault-251";
  await wait(() => document.querySelector(".detail pre"));
  seen.target = document.activeElement.closest("tr").id;
  seen.images = document.querySelectorAll("main img").length;
  seen.wide = document.documentElement.scrollWidth <= innerWidth;
  document.title = JSON.stringify(seen);
})();
"""


def _written(folder: Path, nights: tuple[Night, ...] = NIGHTS) -> Path:
    now = datetime(2026, 11, 3, tzinfo=UTC)
    for path, text in files_of(series_of(nights), "Faults", now):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder / INDEX


def _data(folder: Path) -> dict[str, Any]:
    text = (folder / DATA).read_text()
    data: dict[str, Any] = json.loads(text.partition("(")[2].rpartition(")")[0])
    return data


def test_the_page_names_what_is_new_and_fixed(tmp_path: Path) -> None:
    text = _written(tmp_path).read_text()
    assert "new in the last night" in text
    assert "fixed in the last night" in text
    assert "came back in the last night" not in text
    assert "TVM 0.27, fixes off" in text
    assert "<img src=x" not in text
    assert text.count("<svg ") == 1
    data = _data(tmp_path)
    assert len(data["rows"]) == MANY + 3
    fates = [row[1] for row in data["rows"]]
    assert fates == sorted(fates, key=data["fates"].index)


def test_declared_faults_are_marked_and_not_counted(tmp_path: Path) -> None:
    entries = {name: f"corpus entry {name}-is-known" for name in "xyz"}
    x, y, z = (seen(name, declared=entry) for name, entry in entries.items())
    nights = (night(0, seen("a"), x, z), night(1, seen("a"), x, y, gone=("z",)))
    text = _written(tmp_path, nights).read_text()
    headline = text.partition('id="faults"')[0]
    facts = dict(re.findall(r"<dt>([\w ]+)</dt><dd>([^<]*)</dd>", headline))
    assert {name: facts[name] for name in ("faults", "new", "fixed", "declared")} == {
        "faults": "1",
        "new": "0",
        "fixed": "0",
        "declared": "3",
    }
    assert "besides; 1 fixed" in text
    assert "new in the last night" not in text
    # Its declaration is to be removed.
    assert f"declared: {entries['z']}" in text
    assert f"declared: {entries['y']}" not in text
    rows = _data(tmp_path)["rows"]
    assert {row[-1] for row in rows} == {"", *entries.values()}
    operators = text.partition('id="operators"')[2].partition("</section>")[0]
    assert '<th scope="row">add</th><td class="number">1 (1)</td>' in operators


def test_one_night_alone_has_no_trend(tmp_path: Path) -> None:
    text = _written(tmp_path, NIGHTS[:1]).read_text()
    assert "The next night is compared with this one." in text
    assert 'id="trend"' not in text


def test_details_are_in_parts_that_the_page_finds(tmp_path: Path) -> None:
    _written(tmp_path)
    parts = sorted(path.name for path in (tmp_path / "details").iterdir())
    assert parts[:2] == ["00.js", "01.js"]
    assert len(parts) == MANY + 3
    held = (tmp_path / "details" / "00.js").read_text()
    assert held.startswith('relaxcheck.details("00",{"0":')


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here (Debian's package: chromium)")
def test_the_site_works_in_a_browser(tmp_path: Path) -> None:
    index = _written(tmp_path)
    text = index.read_text()
    index.write_text(text.replace("</body>", f"<script>{STEPS}</script></body>"))
    options = ("--window-size=500,900", "--virtual-time-budget=5000", "--dump-dom")
    ended = browse(index, tmp_path / "browser", *options)
    assert "CONSOLE" not in ended.stderr, ended.stderr
    title = ended.stdout.partition("<title>")[2].partition("</title>")[0]
    seen_there = json.loads(title.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert seen_there["all"] == [str(MANY + 3), 100]
    assert seen_there["further"] == 200
    (fresh,) = seen_there["fresh"]
    assert fresh.startswith("</script><img src=x")
    assert seen_there["message"].startswith("</script><img src=x")
    assert seen_there["case"] == "conv1d_transpose"
    assert seen_there["closed"] == 0
    assert seen_there["declared"] == ["declared: corpus entry b"]
    assert seen_there["none"] == [0, False]
    assert seen_there["target"] == "fault-251"
    assert seen_there["images"] == 0
    assert seen_there["wide"], "the page is wider than the window"


def test_the_command_keeps_nights_and_needs_their_journals_once(tmp_path: Path) -> None:
    nights = tmp_path / "nights"
    made.usual(nights / "monday")
    out = tmp_path / "site"
    run = CliRunner().invoke
    first = run(app, ["site", str(nights), "--out", str(out), "--title", "Ours"])
    assert first.exit_code == 0, first.output
    assert "1 night, 2 faults" in first.output
    assert "<title>Ours</title>" in (out / INDEX).read_text()
    (nights / "monday" / "campaign.sqlite").rename(tmp_path / "away")
    again = run(app, ["site", "--out", str(out)])
    assert again.exit_code == 0, again.output
    assert "1 night, 2 faults" in again.output


def test_the_command_names_a_night_that_it_cannot_read(tmp_path: Path) -> None:
    nights = tmp_path / "nights"
    made.usual(nights / "monday")
    (nights / "tuesday").mkdir()
    (nights / "tuesday" / "campaign.sqlite").write_text("no journal")
    ended = CliRunner().invoke(app, ["site", str(nights), "--out", str(tmp_path / "site")])
    assert ended.exit_code == 2
    assert "the site is without it" in ended.stderr
    assert "1 night, 2 faults" in ended.stdout


def test_the_command_says_that_there_is_nothing(tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["site", str(tmp_path), "--out", str(tmp_path / "site")])
    assert ended.exit_code == 2
    assert "holds no campaign" in ended.stderr
    assert not (tmp_path / "site").exists()
