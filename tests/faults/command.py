"""``relaxcheck`` as it is, but for workers that need no TVM (see ``tests.faults.zygote``).

``MEMORY_LIMIT``, in MiB, is what a case may use.
"""

import dataclasses
import os

from harness.cli import app, running
from harness.jobs import Limits
from harness.pool import Pool
from harness.releases import Release


def pool(size: int, limits: Limits, *, release: Release) -> Pool:
    memory = int(os.environ.get("MEMORY_LIMIT", "4096")) << 20
    limits = dataclasses.replace(limits, memory=memory)
    return Pool(size, limits, "tests.faults.zygote", release=release)


if __name__ == "__main__":
    running.Pool = pool  # type: ignore[assignment,misc]
    app()
