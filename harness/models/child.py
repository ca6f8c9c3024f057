"""``python -m relaxcheck.harness.models.child``: checks the model of one job, in this process.

The job comes as JSON on standard input; messages go as JSON, one a line, to standard output, from
which everything that TVM and models print is kept away.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import IO

import msgspec

from relaxcheck.harness.models.job import Job, Known, Message
from relaxcheck.harness.models.report import Report, Verdict

FAILED = 3
"""The exit code after a fault of ours; the traceback is on standard error."""


@contextlib.contextmanager
def _messages() -> Iterator[IO[bytes]]:
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        yield out


def main() -> None:
    """Run the job on standard input."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    with _messages() as out:
        encoder = msgspec.json.Encoder()

        def tell(message: Message) -> None:
            out.write(encoder.encode(message) + b"\n")
            out.flush()

        # Imported here, so that a fault of an import is reported as any other.
        from relaxcheck.harness.models.checking import check
        from relaxcheck.harness.models.sources import ModelError

        try:
            tell(Known(check(job, tell), complete=True))
        except ModelError as error:
            refused = Report(job.model, "", Verdict.BAD_INPUT, message=str(error))
            tell(Known(refused, complete=True))


if __name__ == "__main__":
    main()
