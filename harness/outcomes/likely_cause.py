"""A cause that a failure looks like, by a table of its kind of case."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LikelyCause:
    """A fault of TVM that others have described.

    ``name`` is that of the fault, ``title`` says what is wrong with the case at hand, ``page`` of
    the documentation has the fault, and ``fixes`` are the bundled fixes that are made for it.
    ``fault`` says what is wrong in TVM's sources, or whom it affects, if somebody has looked.
    """

    name: str
    title: str
    page: str
    fixes: tuple[str, ...] = ()
    fault: str = ""
