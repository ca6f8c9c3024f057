"""Generated sections of Markdown pages, each between two comments that name the command."""

END = "<!-- to here -->"


def with_section(page: str, command: str, text: str) -> str:
    """``page`` with ``text`` as the section that ``command`` writes, at its end if it has none."""
    start = start_of(command)
    before, marker, rest = page.partition(start)
    _, end, after = rest.partition(END)
    if not marker or not end:
        before, after = page and f"{page.rstrip()}\n\n", "\n"
    return f"{before}{start}\n\n{text}\n{END}{after}"


def section(page: str, command: str) -> str:
    """The section of ``page`` that ``command`` wrote; empty if there is none."""
    _, _, rest = page.partition(start_of(command))
    text, end, _ = rest.partition(END)
    return text.strip() if end else ""


def start_of(command: str) -> str:
    """The comment before the section that ``command`` writes."""
    return f"<!-- written by `{command}` from here -->"
