"""Read from outside what a running campaign has written so far."""

import sqlite3
from pathlib import Path

from relaxcheck.harness.journal.journal import DRAWN, FILE_NAME


def ended(folder: Path) -> int:
    """The number of ended drawn cases of the campaign in ``folder``; 0 before it has a journal."""
    try:
        with sqlite3.connect(f"file:{folder / FILE_NAME}?mode=ro", uri=True) as database:
            ((count,),) = database.execute(
                "SELECT count(*) FROM cases WHERE purpose = ? AND verdict NOT NULL", (DRAWN,)
            )
    except sqlite3.Error:
        # It is not there yet.
        return 0
    return int(count)
