"""Finds out which operators a TVM release registers, in a process of that release's environment.

``python -m relaxcheck.harness.releases.registered`` is that process. It writes one JSON object.
"""

import sys

import msgspec

from relaxcheck.harness.releases.releases import Release
from relaxcheck.harness.releases.surveying import query


class Registered(msgspec.Struct, frozen=True):
    """The operators of Relax that TVM registers, by name, and the names of the fixes of each.

    ``lowerings`` says how ``relax.build`` lowers those that have something registered for it.
    """

    operators: tuple[str, ...]
    fixes: dict[str, tuple[str, ...]]
    lowerings: dict[str, str] = {}


def registered(release: Release) -> Registered:
    """Ask ``release``; takes some seconds, mostly to import TVM.

    Raises:
        ReleaseError: its process does not start, or ends early.
    """
    return query(release, "relaxcheck.harness.releases.registered", type=Registered)


def _here() -> Registered:
    from relaxcheck import fixes
    from relaxcheck.fixes.tvm_api import operators

    by_operator: dict[str, list[str]] = {}
    for fix in fixes.ALL:
        for name in fix.operators:
            by_operator.setdefault(name.removeprefix("relax."), []).append(fix.name)
    here = operators.registered()
    lowerings = {name: operators.lowering(name) for name in here}
    return Registered(
        here,
        {name: tuple(names) for name, names in by_operator.items()},
        {name: how for name, how in lowerings.items() if how},
    )


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(_here()).decode() + "\n")
