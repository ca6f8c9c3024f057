"""The bundled fixes, on or off in this process."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from relaxcheck import fixes
from relaxcheck.harness.workers.protocol import BundledFix


def switch_fixes(on: bool) -> None:
    """Install the fixes, or uninstall them; most cases want them as the last case left them."""
    if on:
        fixes.install()
    else:
        fixes.uninstall()


@contextmanager
def only_fixes(names: Collection[str]) -> Iterator[None]:
    """Install the fixes ``names`` alone, so that ``switch_fixes(True)`` adds none, for a block."""
    fixes.uninstall()
    with fixes.install(names):
        yield


def bundled() -> tuple[BundledFix, ...]:
    """Every fix, in the order in which they are put on."""
    return tuple(
        BundledFix(
            fix.name, _bare(fix.operators), _bare(fix.mends_one_fault_of), fix.mends_one_fault
        )
        for fix in fixes.ALL
    )


def _bare(operators: Iterable[str]) -> tuple[str, ...]:
    return tuple(name.removeprefix("relax.") for name in operators)
