"""A process to start, as a message to the one that forks it."""

import msgspec

LARGEST = 1 << 17
"""The bytes of a request, at most: nearly all of it is the environment."""
MOST_DESCRIPTORS = 64
"""The file descriptors that are sent along, at most."""


class Request(msgspec.Struct, frozen=True):
    """Run ``module``, or the file ``script``, with ``arguments`` in ``folder``.

    ``descriptors`` are the numbers that the file descriptors sent along have in the new process.
    ``search`` are the folders of ``PYTHONPATH``.
    """

    arguments: tuple[str, ...]
    folder: str
    environment: dict[str, str]
    descriptors: tuple[int, ...]
    module: str = ""
    script: str = ""
    search: tuple[str, ...] = ()
    new_session: bool = False
    group: int = -1
