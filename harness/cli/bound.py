"""``python -m harness.cli.bound PID …``: relaxcheck for the process PID, with which it dies.

Whoever kills the parent, a Dask worker, kills this as well: nobody would take what it finds.
"""

import ctypes
import os
import signal
import sys

from harness.cli import app

_PR_SET_PDEATHSIG = 1

if __name__ == "__main__":
    parent = int(sys.argv.pop(1))
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # It may have died before that was asked for.
    if os.getppid() != parent:
        sys.exit(f"process {parent} is gone")
    app()
