"""The lines of a script that apply the passes of a case, and check what a pass broke."""

from collections.abc import Mapping, Sequence

from relaxcheck.generators.passes.calls import passes_of
from relaxcheck.generators.passes.text import BEFORE, CHECKS, pass_text
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.programs.reproduction import Reproduction

_INDENT = "    "


def pass_lines(repro: Reproduction, names: Mapping[str, str]) -> list[str]:
    """The passes of the case, each a line within ``with target:``; then the check that fails.

    ``names`` are the script's names of inputs. Nothing runs after a pass that breaks the module.
    """
    case, check = repro.case, check_of(repro.outcome)
    lines = [BEFORE[check]] if check in BEFORE else []
    for call in passes_of(case):
        made = pass_text(call, case, names)
        lines.append(f"mod = {made}(mod)")
        if check and call.name == repro.outcome.stage and not call.prepares:
            lines += _check_lines(check, made, repro.outcome)
            break
    return [_INDENT + line for line in lines]


def check_of(outcome: Outcome) -> str:
    """The name of the check that a pass fails; "" of any other outcome."""
    if outcome.verdict is not Verdict.BROKEN_MODULE:
        return ""
    words = outcome.message.partition(": ")[2]
    return next((name for name in CHECKS if words.startswith(name)), "")


def _check_lines(check: str, made: str, outcome: Outcome) -> Sequence[str]:
    meta = "metadata[" in outcome.message
    return [line.replace("{again}", made).replace("{meta}", str(meta)) for line in CHECKS[check]]
