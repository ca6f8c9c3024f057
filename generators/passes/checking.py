"""Check the passes of a case that was decoded."""

from difflib import get_close_matches

from msgspec import UNSET

from relaxcheck.generators.core.case import CaseError
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.passes import PASSES, PUBLISHED, known
from relaxcheck.generators.passes.calls import passes_of


def check_passes(case: Case) -> None:
    """Check names and options of the passes of ``case``.

    Raises:
        CaseError: one is unknown, in one line.
    """
    for call in passes_of(case):
        try:
            record = known(call.name)
        except KeyError:
            close = get_close_matches(call.name, [*PASSES, *PUBLISHED], 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise CaseError(f"pass {call.name!r} is unknown{hint}") from None
        options = {option.name: option.values for option in record.options}
        for name, value in call.options.items():
            if name not in options:
                raise CaseError(f"pass {call.name}: it has no option {name!r}")
            if not any(value == each and type(value) is type(each) for each in options[name]):
                values = ", ".join(map(repr, options[name]))
                raise CaseError(f"pass {call.name}: {name} is {value!r}, not one of {values}")
    if case.passes is not UNSET and not case.passes:
        raise CaseError("passes: leave the field out where there are none")
