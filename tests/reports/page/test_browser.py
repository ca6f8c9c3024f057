"""The page in a real browser: its script runs without an error, and does what it says."""

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from relaxcheck.reports.page.findings import Known
from relaxcheck.reports.page.page import Sources, page_text
from relaxcheck.reports.page.records import read_campaign
from tests.reports import html_campaign as made
from tests.reports.page.test_page import BISECTED, ID, OTHER, OUTPUT

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")

STEPS = """
const seen = {};
const visible = () => findings.filter((one) => !one.hidden).map((one) => one.id);
const send = (target, event) => target.dispatchEvent(event);
const set = (id, value) => {
  at(id).value = value;
  send(at(id), new Event("input", {bubbles: true}));
};
const press = (target, key) => send(target, new KeyboardEvent("keydown", {key, bubbles: true}));
seen.all = visible();
set("words", "NWC crash");
seen.words = visible();
seen.said = at("matching").textContent;
set("words", "no such word");
seen.none = [visible().length, at("none-match").hidden];
set("words", "");
set("verdict", "wrong-value");
seen.verdict = visible();
set("verdict", "");
at("only-new").click();
seen.new = visible();
at("only-new").click();
at("open-all").click();
seen.open = findings.filter((one) => one.open).length;
at("close-all").click();
seen.closed = findings.filter((one) => one.open).length;
press(document.body, "j");
seen.first = document.activeElement.parentElement.id;
press(document.activeElement, "j");
seen.second = document.activeElement.parentElement.id;
press(document.body, "/");
seen.focus = document.activeElement.id;
location.hash = "#IDENTIFIER";
openTarget();
seen.target = findings.filter((one) => one.open).map((one) => one.id);
const cells = () => [...document.querySelectorAll("#map td[data-said]")];
seen.cells = cells().length;
seen.met = cells().filter((one) => one.textContent).map((one) => one.dataset.said);
[["0", "dilation.w"], ["1", ""], ["2", "data_layout"], ["3", ""]].forEach(([number, value]) => {
  at(`map-${number}`).value = value;
});
drawMap();
seen.crossed = cells().filter((one) => one.textContent).map((one) => one.dataset.said);
const corner = cells()[0];
corner.focus();
press(corner, "ArrowDown");
seen.moved = document.activeElement.dataset.said;
seen.announced = at("map-said").textContent;
seen.wide = document.documentElement.scrollWidth <= innerWidth;
document.title = JSON.stringify(seen);
"""


def browse(page: Path, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    assert BROWSER is not None
    return subprocess.run(
        [
            BROWSER,
            *(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--disable-sync",
            ),
            *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
            *("--disable-sync", "--disable-dev-shm-usage", "--enable-logging=stderr", "--v=0"),
            *(f"--user-data-dir={folder / 'profile'}", *options, page.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )


@pytest.mark.skipif(BROWSER is None, reason="no Chromium here (Debian's package: chromium)")
def test_the_page_works_in_a_browser_at_phone_width(tmp_path: Path) -> None:
    record = read_campaign(made.usual(tmp_path / "campaign"))
    earlier = [replace(record, name="monday", findings=(made.DILATED,))]
    known = {ID: Known(outputs=(OUTPUT,), bisected=BISECTED)}
    text = page_text(Sources(record, earlier, known))
    page = tmp_path / "page.html"
    steps = STEPS.replace("IDENTIFIER", OTHER)
    page.write_text(text.replace("</body>", f"<script>{steps}</script></body>"))
    ended = browse(page, tmp_path, "--window-size=500,900", "--dump-dom")
    assert "CONSOLE" not in ended.stderr, ended.stderr
    title = ended.stdout.partition("<title>")[2].partition("</title>")[0]
    seen = json.loads(title.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    assert seen["all"] == [ID, OTHER]
    assert (seen["words"], seen["said"]) == ([OTHER], "1 of 2")
    assert seen["none"] == [0, False]
    assert seen["verdict"] == [ID]
    assert seen["new"] == [OTHER]
    assert (seen["open"], seen["closed"]) == (2, 0)
    assert (seen["first"], seen["second"], seen["focus"]) == (ID, OTHER, "words")
    assert seen["target"] == [OTHER]
    assert sorted(seen["met"]) == [
        "data_layout NCW, dilation.w 1; out_layout None, shapes static: 1 case: 1 pass",
        "data_layout NCW, dilation.w 2; out_layout None, shapes static: 1 case: 1 wrong-value",
        "data_layout NCW, dilation.w 3; out_layout None, shapes static: 1 case: 1 wrong-value",
        "data_layout NWC, dilation.w 1; out_layout None, shapes static: 1 case: 1 opaque-crash",
    ]
    assert len(seen["crossed"]) == 4
    assert "dilation.w 1; data_layout NWC: 1 case: 1 opaque-crash" in seen["crossed"]
    assert (
        seen["moved"] == seen["announced"] == "dilation.w 2; data_layout NCW: 1 case: 1 wrong-value"
    )
    assert seen["wide"], "the page is wider than the window"
