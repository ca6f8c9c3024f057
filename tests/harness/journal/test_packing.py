"""Records are packed, come back as they were, and damage is named."""

import msgspec
import pytest

from relaxcheck.generators.core.case import encode
from relaxcheck.harness.journal import packing
from relaxcheck.harness.journal.packing import PackingError, pack, unpack
from tests.reports.html_campaign import PASS, case

RECORDS = (encode(case(1)), msgspec.json.encode(PASS), b"{}", b"[1]", "\u2028 é".encode() * 99)


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_comes_back(record: bytes) -> None:
    assert unpack(pack(record)) == record
    assert pack(record) == pack(record)


def test_records_of_earlier_versions_are_read() -> None:
    """The text that records are packed against is part of the format: it never changes."""
    packed = bytes.fromhex("78bb5af1ca49c39fa36a01abc60adc")
    assert unpack(packed) == b'{"verdict":"pass","stage":null}'
    assert unpack('{"a":1}') == b'{"a":1}'


def test_records_that_are_usual_take_a_third_of_the_room() -> None:
    for record in RECORDS[:2]:
        assert len(pack(record)) < len(record) / 3


def test_plain_records_of_earlier_journals_are_read() -> None:
    for record in RECORDS[:4]:
        assert unpack(record) == record


@pytest.mark.parametrize("harm", [lambda packed: packed[:-3], lambda packed: packed[:9] + b"xx"])
def test_damage_is_named(harm: object) -> None:
    with pytest.raises(PackingError, match="cannot be unpacked"):
        unpack(harm(pack(RECORDS[0])))  # type: ignore[operator]


def test_a_record_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_MOST", 1000)
    with pytest.raises(PackingError, match="too large"):
        unpack(pack(b" " * 100_000))
