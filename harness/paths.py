"""Paths of relaxcheck's own files: in a checkout, or in an installed wheel.

``relaxcheck/data`` holds the corpus, the pins of each TVM release and the tests that go into
patches: as links in a checkout, as copies in a wheel.
"""

import os
from importlib import resources
from pathlib import Path

_PACKAGE = Path(str(resources.files("relaxcheck")))
_DATA = _PACKAGE / "data"

SOURCES = _PACKAGE
"""The package's own folder, with a folder for each room."""


def _checkout() -> Path | None:
    top = _PACKAGE.parent
    return top.resolve() if (top / "corpus" / "known.json").is_file() else None


CHECKOUT = _checkout()
"""The checkout that relaxcheck runs from; None where it is installed from a wheel."""

WORKING = CHECKOUT or _DATA
"""The working directory of our processes. ``python -m`` imports a checkout's modules from there."""

CORPUS = (_DATA / "corpus").resolve()
CONSTRAINTS = CHECKOUT or _DATA
"""The folder of ``constraints.txt``, and of ``constraints-0.27.txt`` and so on."""
UPSTREAM_TESTS = _DATA / "upstream_tests"
"""A test in TVM's style for each fix; it passes on a TVM that has the fix's patch."""

BUNDLED_KNOWN = CORPUS / "known.json"
"""The expected failures that come with relaxcheck."""
KNOWN = BUNDLED_KNOWN if CHECKOUT else Path("relaxcheck-known.json")
"""The expected failures that commands change: a project's own where relaxcheck is installed."""


def releases() -> Path:
    """The default folder of the environments of other TVM releases."""
    if CHECKOUT:
        return CHECKOUT / ".releases"
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "relaxcheck" / "releases"


def link_package(site_packages: Path) -> None:
    """Link an installed relaxcheck into another environment. Raises ``OSError``."""
    link = site_packages / _PACKAGE.name
    if not link.is_symlink():
        link.symlink_to(_PACKAGE, target_is_directory=True)
