"""What a running campaign has written so far, read from outside."""

import sqlite3
from pathlib import Path

from harness.journal import DRAWN, FILE_NAME


def ended(folder: Path) -> int:
    """How many drawn cases of the campaign in ``folder`` have ended; 0 before it has a journal."""
    try:
        with sqlite3.connect(f"file:{folder / FILE_NAME}?mode=ro", uri=True) as database:
            ((count,),) = database.execute(
                "SELECT count(*) FROM cases WHERE purpose = ? AND verdict NOT NULL", (DRAWN,)
            )
    except sqlite3.Error:
        # It is not there yet.
        return 0
    return int(count)
