"""Templates of text for people: pages, Markdown, issues; and foreign text in scripts."""

import re

from jinja2 import Environment, PackageLoader, StrictUndefined

from relaxcheck.harness.wording import in_sight, plural

_LEAST = 3
"""Backticks of a fence in Markdown, unless the text between has as many."""


def environment(*, html: bool = False, trim: bool = True) -> Environment:
    """The templates of ``reports``: control characters in what they show are in sight.

    ``html`` escapes; ``trim`` removes the line of a block. The global ``plural`` counts a noun, the
    filter ``fence`` gives the fence that text needs.
    """
    templates = Environment(
        loader=PackageLoader("relaxcheck.reports"),
        undefined=StrictUndefined,
        autoescape=html,
        keep_trailing_newline=not html,
        trim_blocks=trim,
        lstrip_blocks=trim,
        finalize=_shown,
    )
    templates.globals["plural"] = plural
    templates.filters["fence"] = fence
    return templates


def fence(text: str) -> str:
    """The fence around ``text`` in Markdown: longer than any row of backticks within."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(_LEAST, longest + 1)


def docstring_text(text: str) -> str:
    """``text`` as one line of a docstring, which it neither ends nor escapes from.

    People run scripts that hold text of a journal or of TVM: a quote there would make it code.
    """
    return in_sight(" ".join(text.split())).replace("\\", "/").replace('"', "'")


def _shown(value: object) -> object:
    return in_sight(value) if isinstance(value, str) else value
