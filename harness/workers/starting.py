"""Starting the workers' parent, and the error for whoever wants to use them."""

from collections.abc import Sequence

from relaxcheck.harness.releases.releases import Release, advice
from relaxcheck.harness.workers.processes import Zygote, ZygoteGone


class PoolError(RuntimeError):
    """The workers cannot be started; the message says why in one line."""


def launched(module: str, arguments: Sequence[str], release: Release) -> Zygote:
    """A zygote that begins to import. Raises ``PoolError``: there is no place for its files."""
    try:
        return Zygote(module, arguments, release)
    except OSError as error:
        raise PoolError(_about(f"cannot start the workers: {error}", release)) from error


def wait_for(zygote: Zygote, release: Release) -> None:
    """Wait until ``zygote`` is ready. Raises ``PoolError``: it ended before that."""
    try:
        zygote.ready()
    except ZygoteGone as gone:
        message = f"the workers' parent process ended: {gone}"
        raise PoolError(_about(message, release)) from gone


def _about(message: str, release: Release) -> str:
    """The error ``message``; for another release than the engine's with the remedy."""
    return message if release.own else f"{release.title}: {message}; {advice(release.name)}"
