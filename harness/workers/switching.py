"""The bundled fixes, on or off in this process."""

from relaxcheck import fixes


def switch_fixes(on: bool) -> None:
    """Install the fixes, or uninstall them; most cases want them as the last case left them."""
    if on:
        fixes.install()
    else:
        fixes.uninstall()
