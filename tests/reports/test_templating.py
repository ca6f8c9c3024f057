"""Foreign text in pages, in Markdown and in scripts."""

import ast

import pytest
from jinja2 import UndefinedError

from relaxcheck.reports.templating import docstring_text, environment, fence


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("", "```"), ("a `b` c", "```"), ("```", "````"), ("a ````` b\n```", "``````")],
)
def test_a_fence_is_longer_than_any_within(text: str, wanted: str) -> None:
    assert fence(text) == wanted


@pytest.mark.parametrize(
    "text", ['a"""\nimport os\n"""', "a\\", '\\"""b', "a\x1b[31m\x00", "é ≤ '3'"]
)
def test_text_in_a_docstring_stays_there(text: str) -> None:
    (statement,) = ast.parse(f'"""{docstring_text(text)}"""').body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Constant)
    assert str(statement.value.value).isprintable()


def test_templates_show_control_characters_and_escape_html_alone() -> None:
    hostile = "<b>\x1b[31m</b>\n"
    template = "{{ text }}|{{ number }}"
    html, markdown = (
        environment(html=html).from_string(template).render(text=hostile, number=3)
        for html in (True, False)
    )
    assert html == "&lt;b&gt;␛[31m&lt;/b&gt;\n|3"
    assert markdown == "<b>␛[31m</b>\n|3"
    with pytest.raises(UndefinedError):
        environment().from_string(template).render(text="")
