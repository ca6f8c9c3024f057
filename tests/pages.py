"""README, CONTRIBUTING, CHANGELOG and docs: their blocks of code and their commands."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.M | re.S)

_CODE = re.compile(r"`([^`]+)`")
_PROGRAM = r"(?:\.venv/bin/)?(?:relaxcheck|python|pytest|pip|make|tox|git|mkdir|echo|cp)"
_COMMAND = re.compile(rf"{_PROGRAM} |\./\w+\.sh |17 1 \* \* \* ")


def blocks(page: Path, *languages: str) -> Iterator[str]:
    """The blocks of code in one of ``languages``; an empty one is a block without a language."""
    for language, text in BLOCK.findall(page.read_text()):
        if language in languages:
            yield text


def commands(page: Path) -> Iterator[str]:
    """The commands of the page's blocks, without their comments."""
    for text in blocks(page, "", "sh", "console"):
        for line in text.replace("\\\n", " ").splitlines():
            command = " ".join(re.split(r" {2,}#", line)[0].split())
            if _COMMAND.match(f"{command} "):
                yield command


def mentioned(page: Path) -> Iterator[str]:
    """The commands within the page's sentences and tables, those with arguments."""
    for code in _CODE.findall(BLOCK.sub("", page.read_text())):
        if _COMMAND.match(code):
            yield " ".join(code.split())
