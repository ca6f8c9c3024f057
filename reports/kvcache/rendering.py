"""Cases about KV caches as text, failures as scripts and issues."""

from collections.abc import Mapping

from relaxcheck.generators.core.axes import OPERATIONS
from relaxcheck.generators.core.case import Valid
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.operations import text_of, tokens_of
from relaxcheck.generators.kvcache.settings import CLASS
from relaxcheck.harness.kvcache.naming import LEAK, settings_off, wrong_part
from relaxcheck.harness.outcomes.attribution import Attribution
from relaxcheck.harness.outcomes.errors import headline, own_words, without_addresses
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.outcomes.plain import does
from relaxcheck.harness.wording import plural
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.reports.issue.template import TEMPLATES, on_release, process_words
from relaxcheck.reports.kvcache.script import script_text
from relaxcheck.reports.rendering import About, Rendering

_PACKAGES = ("apache-tvm", "numpy", "python", "platform")
_MESSAGE_LENGTH = 3000
_MAKERS = {CLASS: "`TIRPagedKVCache`"}


class KvRendering(Rendering[KvCase]):
    """A line for each operation; failures as scripts and issues."""

    def text(self, case: KvCase) -> str:
        """A line for each operation, and the settings."""
        lines = (f"{at}: {text_of(each)}" for at, each in enumerate(case.operations))
        return "\n".join((*lines, f"# {_settings(case)}"))

    def extent(self, case: KvCase) -> str:
        """Counts of operations and tokens."""
        tokens = sum(map(tokens_of, case.operations))
        return f"{plural(len(case.operations), 'operation')}, {plural(tokens, 'token')}"

    def title(
        self,
        case: KvCase,
        outcome: Outcome,
        attribution: Attribution | None,
        blame: Mapping[str, str],
        limits: Limits | None = None,
    ) -> str:
        """The operation that shows the failure, what happens, after what, with which settings."""
        before = [each for each in blame.get(OPERATIONS, "").split(", ") if each]
        after = f" after {', '.join(before[:-1])}" if len(before) > 1 else ""
        off = ", ".join(f"{name}={value}" for name, value in settings_off(case).items())
        words = _does(outcome)
        return f"KV cache: {outcome.operator} {words}{after}{f' with {off}' if off else ''}"

    def pasted(
        self, case: KvCase, outcome: Outcome, title: str, about: About, limits: Limits | None = None
    ) -> tuple[str, str]:
        """A script that needs TVM and NumPy, and the issue with it."""
        script = script_text(case, outcome, title, about.environment)
        message = without_addresses(process_words(outcome.message.strip(), outcome))
        if outcome.verdict in (Verdict.OPAQUE_CRASH, Verdict.UNSUPPORTED):
            message = headline(message)
        valid = isinstance(case.expect, Valid)
        issue = TEMPLATES.get_template("issue/issue.md.j2").render(
            title=f"[Bug][Relax] {title}",
            feature="",
            expected=_VALID if valid else _INVALID,
            actual=f"The cache {_does(outcome)}{':' if message else '.'}",
            message=message[:_MESSAGE_LENGTH],
            rounding="",
            source=f"The operations, in order:\n\n```\n{self.text(case)}\n```",
            attribution="",
            culprit=None,
            valid=valid,
            cured="right" if valid else "refused, as it should be",
            releases={name: on_release(came, outcome) for name, came in about.releases.items()},
            known=about.known,
            environment=[
                (name, about.environment[name]) for name in _PACKAGES if name in about.environment
            ],
            pipeline=_MAKERS.get(case.model.interface, "the kernels of `kv_cache.py`"),
            repro=script,
            patched=about.patched,
            cure=", ".join(f"`{name}`" for name in about.cure),
            siblings=", ".join(about.siblings),
            otherwise="",
            fault=about.fault,
        )
        return script, issue

    def conditions(self, case: KvCase) -> tuple[tuple[str, str], ...]:
        """Name the interface that makes the cache, and its settings."""
        return (("interface", case.model.interface), ("settings", _settings(case)))


def _settings(case: KvCase) -> str:
    model, limits = case.model, case.limits
    scaling = f" {model.scaling}" if model.scaling else ""
    return (
        f"{model.heads} heads, {model.kv_heads} for keys, of {model.head_dim}; "
        f"{plural(model.layers, 'layer')}, {model.dtype}, pages of {model.page}; "
        f"RoPE {limits.rope}{scaling}, theta {model.theta:g}, scale {model.scale:g}; "
        f"{limits.sequences} sequences, {limits.capacity} tokens"
        f"{', windows' if limits.windows else ''}; {model.interface}; {case.regime} values"
    )


def _does(outcome: Outcome) -> str:
    if part := wrong_part(outcome):
        return f"gives wrong {part}" if part != LEAK else "leaks pages"
    if outcome.verdict is Verdict.OPAQUE_CRASH and (words := own_words(outcome.message)):
        return f"raises an error ({words})"
    return does(outcome)


_VALID = (
    "After each operation the cache holds the tokens that the operations before it left, attention "
    "is that of dense attention over them, and no page is lost."
)
_INVALID = "The cache refuses the last operation with an error that says what is wrong."

RENDERING = KvRendering()
