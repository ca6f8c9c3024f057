"""The lines of a script that apply the passes of a case, and check what a pass broke."""

from collections.abc import Mapping, Sequence

from relaxcheck.generators.passes import known
from relaxcheck.generators.passes.calls import passes_of
from relaxcheck.generators.passes.text import BEFORE, CHECKS, SETUP, START, pass_text
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import Reproduction

_INDENT = "    "


def pass_lines(repro: Reproduction, names: Mapping[str, str]) -> list[str]:
    """The passes of the case, each a line within ``with target:``, and the check that fails.

    ``names`` are the script's names of inputs. A pass that is applied more than once is checked
    each time. Nothing runs after the last time.
    """
    case, check = repro.case, check_of(repro.outcome)
    lines = [START[check]] if check in START else []
    calls = passes_of(case)
    blamed = [
        at
        for at, call in enumerate(calls)
        if check and call.name == repro.outcome.stage and not call.prepares
    ]
    for at, call in enumerate(calls[: blamed[-1] + 1] if blamed else calls):
        if source := known(call.name).source:
            lines += [*source.splitlines(), f"mod = {call.name.rpartition('.')[2]}(mod)"]
            continue
        made = pass_text(call, case, names)
        lines += SETUP.get(call.name, ())
        if at in blamed:
            lines += BEFORE.get(check, ())
        lines.append(f"mod = {made}(mod)")
        if at in blamed:
            lines += _check_lines(check, made, known(call.name).owns)
    return [_INDENT + line if line else "" for line in lines]


def check_of(outcome: Outcome) -> str:
    """The name of the check that a pass fails; "" of any other outcome."""
    if outcome.verdict is not Verdict.BROKEN_MODULE:
        return ""
    words = outcome.message.partition(": ")[2]
    return next((name for name in CHECKS if words.startswith(name)), "")


def _check_lines(check: str, made: str, owned: Sequence[str]) -> Sequence[str]:
    return [
        line.replace("{again}", made).replace("{owned}", str(list(owned))) for line in CHECKS[check]
    ]


def lines_without(names: Sequence[str], *, in_context: bool) -> list[str]:
    """The lines before a call that leaves out the passes ``names``."""
    more = ", **context" if in_context else ""
    return [
        "@tvm.instrument.pass_instrument",
        "class Once:",
        '    """Leaves out the passes that have run already."""',
        "",
        "    def should_run(self, module, info):",
        f"        return info.name not in {list(names)}",
        "",
        f"with tvm.transform.PassContext(instruments=[Once()]{more}):",
    ]
