"""Keys of an outcome's details about the passes of a case."""

RAN = "passes"
"""The names of the passes that were judged."""

CHANGED = "passes that change it"
"""The names of those that returned another module than they took."""

BROKEN = "broken by"
"""The checks that they fail, a sentence for each."""

UNCOMPILED = "not compiled"
"""True of a program whose passes were applied and checked, and that was not compiled."""

ALIKE = "fails without passes"
"""The verdict of the same program without passes, where that fails in the same way."""
