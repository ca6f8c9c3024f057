"""Pass pipelines that the user names: TVM's, an entry point's, or ``package:function``."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from relaxcheck.extensions.naming import is_own
from relaxcheck.extensions.pipelines import allow, check_allowed, named
from relaxcheck.generators.core.case import AnyCase, CaseError
from relaxcheck.harness import kinds

C = TypeVar("C", bound=AnyCase)


def named_by_user(options: Iterable[str]) -> tuple[str, ...]:
    """The pipelines that ``options`` name, separated by commas in each; a user's own are allowed.

    Raises:
        ExtensionError: there is no module of such a name.
    """
    names = tuple(named(name.strip()) for option in options for name in option.split(","))
    allow(name for name in names if is_own(name))
    return names


def compiled_by(case: C, option: str | None) -> C:
    """``case`` compiled by the pipeline that ``option`` names, None: by its own.

    Raises:
        CaseError: there is no such pipeline, or ``case`` is compiled by none.
        ExtensionError: its own is a user's, and nobody named it; or there is no such module.
    """
    if option is None:
        own = str(getattr(case, "pipeline", ""))
        check_allowed(own)
        # One that an installed package registers: workers on other releases have no such package.
        allow([own] if is_own(own) else [])
        return case
    (name,) = named_by_user([option])
    if name not in kinds.pipelines():
        raise CaseError(f"no pipeline {name!r}; the pipelines are {', '.join(kinds.pipelines())}")
    if "pipeline" not in getattr(type(case), "__struct_fields__", ()):
        raise CaseError(f"the family {case.family} is compiled by no pipeline")
    if name == getattr(case, "pipeline", ""):
        return case
    return msgspec.structs.replace(case, pipeline=name)  # type: ignore[type-var]
