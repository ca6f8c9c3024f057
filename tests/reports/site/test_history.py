"""Nights are read once, kept, and outlive their journals."""

import gzip
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from relaxcheck.harness.events import Event, EventType
from relaxcheck.harness.journal.journal import Journal, Mode
from relaxcheck.harness.known.named import NamedCause
from relaxcheck.reports.site.history import folders_in, kept, stamp, stamps, write, write_stamps
from relaxcheck.reports.site.night import NightError, read_night
from tests.reports import html_campaign as made
from tests.reports.site.making import night, seen


def test_a_night_is_read_from_a_campaign(tmp_path: Path) -> None:
    folder = made.usual(tmp_path / "monday")
    with Journal(folder, Mode.RESUME) as journal:
        journal.note(Event(EventType.CURED, "0123"))
    read = read_night(folder)
    assert (read.name, read.fixes, read.tvm) == ("monday", "off", "0.27.0")
    assert read.verdicts == {"pass": 1, "wrong-value": 2, "opaque-crash": 1}
    assert read.cases == 4
    assert read.faults == 2
    assert read.gone == ("0123",)
    dilated = {one.fingerprint: one for one in read.seen}[made.DILATED.fingerprint]
    assert (dilated.count, dilated.confirmed, dilated.severity) == (2, True, "wrong result")
    assert "conv1d_transpose" in dilated.title


def test_a_declared_finding_says_which_entry_expects_it(tmp_path: Path) -> None:
    folder = made.usual(tmp_path / "monday")
    key = made.DILATED.fingerprint
    entry = NamedCause("it drops it", "dropped", None, cured=False, fits=True, declared=True)
    for cause, place in (
        (entry, "corpus entry dropped"),
        (replace(entry, declared=False), ""),
    ):
        read = read_night(folder, lambda findings, versions, cause=cause: {key: cause})
        assert {one.fingerprint: one.declared for one in read.seen}[key] == place
        assert read.faults == 2 - bool(place)


def test_a_campaign_without_a_case_is_no_night(tmp_path: Path) -> None:
    with Journal(tmp_path / "empty"):
        pass
    with pytest.raises(NightError, match="has not run a case"):
        read_night(tmp_path / "empty")


def test_kept_nights_come_back_as_they_were(tmp_path: Path) -> None:
    nights = [night(0, seen("a")), night(1, seen("a"), gone=("b",))]
    for each in nights:
        write(each, tmp_path)
        write(each, tmp_path)
    assert list(kept(tmp_path).values()) == nights
    write_stamps(tmp_path, {"place 1 2": nights[0].key})
    assert stamps(tmp_path) == {"place 1 2": nights[0].key}


def test_nights_of_one_second_on_two_releases_are_two(tmp_path: Path) -> None:
    for release in ("0.26", "0.27"):
        write(night(0, release=release), tmp_path)
    assert len(kept(tmp_path)) == 2


def test_no_name_leads_out_of_the_folder(tmp_path: Path) -> None:
    write(night(0, release="../../x"), tmp_path / "history")
    assert [path.parent.name for path in tmp_path.rglob("*.gz")] == ["history"]


def test_shards_of_one_second_and_their_merge_are_apart(tmp_path: Path) -> None:
    for stream in ("7 1/2", "7 2/2", "7 1/2 2/2"):
        write(night(0, stream=stream), tmp_path)
    assert len(kept(tmp_path)) == 3


def test_a_long_name_is_cut(tmp_path: Path) -> None:
    write(night(0, release="x" * 999), tmp_path)
    assert len(kept(tmp_path)) == 1


_NIGHT = msgspec.json.encode(night(0, seen("a")))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\x1f\x8b\x08\x00nonsense",
        gzip.compress(_NIGHT)[:40] + b"xx" + gzip.compress(_NIGHT)[42:],
        gzip.compress(_NIGHT)[:-9],
        gzip.compress(_NIGHT.replace(b"+00:00", b"").replace(b"00Z", b"00")),
        gzip.compress(_NIGHT.replace(b"wrong result", b"wrong guess")),
        gzip.compress(b"[" * 100_000),
    ],
)
def test_a_file_that_is_no_night_is_named(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.night.json.gz").write_bytes(content)
    with pytest.raises(NightError, match=r"x\.night\.json\.gz is no night"):
        kept(tmp_path)
    (tmp_path / "read.json").write_bytes(b'{"\xff": 1}')
    assert stamps(tmp_path) == {}


def test_folders_of_nights_are_looked_into_but_for_the_known_ones(tmp_path: Path) -> None:
    for name in ("2026-11-02", "2026-11-01", "known"):
        made.usual(tmp_path / "nights" / name)
    found = folders_in([tmp_path / "nights", tmp_path / "nights" / "2026-11-01"])
    assert [folder.name for folder in found] == ["2026-11-01", "2026-11-02"]
    assert stamp(found[0]) != stamp(found[1])
    for place, message in ((tmp_path, "holds no campaign"), (tmp_path / "gone", "is no folder")):
        with pytest.raises(NightError, match=message):
            folders_in([place])
