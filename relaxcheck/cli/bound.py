"""``python -m relaxcheck.cli.bound PID …``: relaxcheck as a child that dies with the process PID.

A shard on a Dask cluster dies with the worker that started it: its result would be lost anyway.
"""

import ctypes
import os
import signal
import sys

from relaxcheck.cli import app

_PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    parent = int(sys.argv.pop(1))
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # The parent may have died before the call.
    if os.getppid() != parent:
        sys.exit(f"process {parent} is gone")
    app()
