"""``relaxcheck`` as it is, but for workers that need no TVM (see ``tests.faults.zygote``).

``MEMORY_LIMIT``, in MiB, is what a case may use.
"""

import dataclasses
import os

from relaxcheck.cli import app
from relaxcheck.cli.actions import campaign as running
from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool


def pool(size: int, limits: Limits, *, release: Release, early: bool = False) -> Pool:
    memory = int(os.environ.get("MEMORY_LIMIT", "4096")) << 20
    limits = dataclasses.replace(limits, memory=memory)
    return Pool(size, limits, "tests.faults.zygote", release=release, early=early)


if __name__ == "__main__":
    running.Pool = pool  # type: ignore[assignment,misc]
    app()
