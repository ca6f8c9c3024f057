"""Plurals, and control characters that are shown instead of obeyed."""

import pytest
from markupsafe import Markup

from relaxcheck.harness.wording import in_sight, outside_of, plural


@pytest.mark.parametrize(
    ("count", "wanted"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases"), (12345, "12,345 cases")]
)
def test_a_noun_is_singular_for_one_alone(count: int, wanted: str) -> None:
    assert plural(count, "case") == wanted


def test_irregular_nouns_have_their_own_plural() -> None:
    assert [plural(count, "axis", "axes") for count in (1, 2)] == ["1 axis", "2 axes"]
    assert outside_of(1, 1) == "1 of 1 element outside its bound"
    assert outside_of(1, 4) == "1 of 4 elements outside their bound"


def test_no_control_character_reaches_a_terminal() -> None:
    every = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0), 0x202E, 0x2066)))
    shown = in_sight(every)
    assert len(shown) == len(every)
    assert shown.replace("\t", "").replace("\n", "").isprintable()
    assert in_sight("\x1b[31mred\r\n\x7f\u202egnp.exe") == "␛[31mred␍\n␡\ufffdgnp.exe"
    assert in_sight("größer\t≤ 3 × 3\n") == "größer\t≤ 3 × 3\n"


def test_escaped_text_stays_escaped() -> None:
    assert isinstance(in_sight(Markup("<b>\x1b</b>")), Markup)
