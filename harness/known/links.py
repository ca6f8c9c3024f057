"""Addresses of upstream issues, which pages link to."""

import re

_LINK = re.compile(r"https?://[^\s<>\"'`]+", re.IGNORECASE)


def check_link(address: str | None) -> None:
    """Check that a page may link to ``address``.

    Raises:
        ValueError: it is no address of the web (``javascript:`` would run in the page).
    """
    if address is not None and not _LINK.fullmatch(address):
        raise ValueError(f"{address[:80]!r} is no address: give one that begins with https://")
