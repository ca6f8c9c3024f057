"""A campaign as a measurement: so many cases of all families, counted by verdict.

The path is that of ``relaxcheck fuzz``: journal, workers, oracles, judgement, findings.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from relaxcheck.generators.core.axes import Family
from relaxcheck.generators.core.case import Invalid
from relaxcheck.generators.core.program import Case
from relaxcheck.generators.families import every
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.harness.campaign.campaign import Campaign, Plan
from relaxcheck.harness.campaign.drawing import keep_hypothesis_in
from relaxcheck.harness.campaign.fixes import Fixes
from relaxcheck.harness.campaign.options import Options
from relaxcheck.harness.campaign.state import State
from relaxcheck.harness.compiling.pipelines import PIPELINES
from relaxcheck.harness.journal.journal import DRAWN, Journal
from relaxcheck.harness.known.expected_failures import ExpectedFailure
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.outcomes.outcome import Outcome, Verdict
from relaxcheck.harness.releases.releases import own
from relaxcheck.harness.triage.finding import Finding
from relaxcheck.harness.workers.jobs import Limits
from relaxcheck.harness.workers.pool import Pool
from tests.measure.quality.section import Figures, Show
from tests.measure.quality.splits import unexplained

RUNS = Path("runs")
"""Where ``relaxcheck replay`` looks for journals, those of measured campaigns among them."""

FULL_SIZE = 20_000
"""Cases at full size."""

GRACE_SECONDS = 600.0
"""The time left for finding causes of failures, once all cases have run."""


@dataclass(slots=True)
class Tally:
    """Counts over the cases of a campaign."""

    verdicts: dict[str, Counter[str]] = field(default_factory=dict)
    seconds: Counter[str] = field(default_factory=Counter)
    oracles: Counter[int] = field(default_factory=Counter)
    invalid: int = 0
    wide_splits: int = 0
    all_unconstrained: int = 0
    largest: dict[str, float] = field(default_factory=dict)

    def add(self, case: Case | OnnxCase | TorchCase, outcome: Outcome) -> None:
        """Count ``outcome`` of ``case``."""
        cells = {
            "family": case.family,
            "pipeline": case.pipeline,
            "regime": case.regime,
            "dtype": _dtype(case),
        }
        for axis, value in cells.items():
            key = f"{axis} {value}"
            self.verdicts.setdefault(key, Counter())[str(outcome.verdict)] += 1
        self.seconds.update(outcome.seconds)
        self.invalid += isinstance(case.expect, Invalid)
        self.all_unconstrained += outcome.nothing_compared
        if not outcome.checks:
            return
        self.oracles[len(outcome.oracles)] += 1
        outside = any(check.ratio is None or check.ratio > 1 for check in outcome.checks)
        if outcome.verdict is Verdict.ORACLE_SPLIT:
            # TVM's output, and not an oracle's alone, lies outside the bound.
            self.wide_splits += outside
            return
        for check in outcome.checks:
            if check.ratio is not None:
                key = f"family {case.family}"
                self.largest[key] = max(self.largest.get(key, 0.0), check.ratio)


def _dtype(case: Case | OnnxCase | TorchCase) -> str:
    """The dtype of the first input; of a program without inputs, that of its first node."""
    if case.inputs:
        return case.inputs[0].dtype
    if isinstance(case, OnnxCase | TorchCase):
        return "none"
    return str(case.program.nodes[0].attributes.get("dtype", "none"))


def measure(
    name: str,
    cases: int,
    workers: int,
    show: Show,
    *,
    seed: int,
    fixes: bool = False,
    zygote: str = "relaxcheck.harness.workers.zygote",
    gaps: Sequence[ExpectedFailure] = (),
    limits: Limits | None = None,
    among: Sequence[Family] | None = None,
) -> Figures:
    """Run a campaign of ``cases`` cases on workers of ``zygote``; its counts and findings.

    They are drawn from the families ``among``, or from all.

    The journal is kept in a new folder of ``RUNS``, for ``relaxcheck replay``. That runs a case on
    TVM, whatever ``zygote`` was: what failed here on the control in TVM's place does not fail so
    there, and what ``relaxcheck replay`` then says is about TVM.
    """
    stamp = datetime.now(UTC).strftime("%Y-%m-%d-%H%M%S-%f")
    directory = RUNS / f"quality-{name}-{stamp}"
    drawn_from = every(tuple(PIPELINES)) if among is None else tuple(among)
    plan = Plan(drawn_from, seed, float("inf"), (fixes,), cases, GRACE_SECONDS)
    options = Options(
        tuple(family.name for family in drawn_from),
        tuple(PIPELINES),
        seed,
        Fixes.ON if fixes else Fixes.OFF,
        plan.uniform,
        plan.shard,
        own().name,
        directory,
    )

    def progress(state: State) -> None:
        count = sum(finding.verdict.is_failure for finding in state.findings.values())
        show(f"{state.cases} of {cases} cases, {count} findings", state.cases / cases)

    with Journal(directory) as journal:
        keep_hypothesis_in(directory / "hypothesis")
        with Pool(workers, limits, zygote=zygote) as pool:
            journal.describe({**pool.environment, **options.description})
            state = Campaign(plan, pool, journal, gaps).run(progress)
        tally = Tally()
        unended = 0
        for recorded in journal.cases(DRAWN):
            if recorded.outcome is None:
                unended += 1
            else:
                tally.add(recorded.case, recorded.outcome)
        verdicts = journal.counts(DRAWN)
    findings = sorted(
        state.findings.values(), key=lambda finding: (-finding.count, finding.fingerprint)
    )
    return {
        "wanted": cases,
        "unended": unended,
        "all_unconstrained": tally.all_unconstrained,
        "cases": sum(verdicts.values()),
        "invalid": tally.invalid,
        "checks": state.checks,
        "failures": sum(n for verdict, n in verdicts.items() if verdict.is_failure)
        - sum(state.expectations.expected.values()),
        "seed": seed,
        "fixes": fixes,
        "journal": str(directory),
        "elapsed": round(state.elapsed, 1),
        "cpu_seconds": {part: round(spent, 1) for part, spent in tally.seconds.items()},
        "verdicts": {str(verdict): verdicts[verdict] for verdict in Verdict if verdict in verdicts},
        "by": {key: dict(counts) for key, counts in sorted(tally.verdicts.items())},
        "judged_by_oracles": {str(n): tally.oracles[n] for n in sorted(tally.oracles)},
        "largest_error_by_bound": {key: round(r, 3) for key, r in sorted(tally.largest.items())},
        "splits_outside_as_well": tally.wide_splits,
        "gaps": dict(state.expectations.expected),
        "not_looked_into": state.investigating,
        "findings": [_as_figures(finding) for finding in findings],
    }


def _as_figures(finding: Finding) -> dict[str, Any]:
    return {
        "verdict": str(finding.verdict),
        "failure": finding.verdict.is_failure,
        "stage": finding.stage,
        "operator": finding.operator,
        "blame": finding.blame,
        "count": finding.count,
        "confirmed": finding.confirmed,
        "unexplained": (
            unexplained(finding.case, finding.outcome.message)
            if finding.verdict is Verdict.ORACLE_SPLIT
            else []
        ),
        "message": headline(finding.outcome.message)[:400],
        "case": msgspec.to_builtins(finding.case),
    }


def missed(figures: Figures) -> list[str]:
    """Targets of a clean campaign: every case judged and none failed, every fault refused.

    Cases without a verdict on what is tested must have a known reason: no element is
    constrained, or an oracle split that ``tests.measure.quality.splits`` explains.
    """
    lost = []
    if figures["cases"] != figures["wanted"]:
        lost.append(f"cases with a verdict: {figures['cases']} of {figures['wanted']}")
    if figures["unended"]:
        lost.append(f"cases that never ended: {figures['unended']}, not 0")
    if figures["not_looked_into"]:
        lost.append(f"failures not looked into: {figures['not_looked_into']}, not 0")
    verdicts: Mapping[str, int] = figures["verdicts"]
    if figures["failures"]:
        lost.append(f"failures: {figures['failures']} of {figures['cases']}, not 0")
    errors = verdicts.get(Verdict.HARNESS_ERROR, 0)
    if errors:
        lost.append(f"harness errors: {errors}, not 0")
    rejected = verdicts.get(Verdict.REJECTED, 0)
    if rejected != figures["invalid"]:
        lost.append(f"invalid programs refused: {rejected} of {figures['invalid']}")
    alone = verdicts.get(Verdict.NO_ORACLE, 0) - figures["all_unconstrained"]
    if alone:
        lost.append(f"cases without an oracle: {alone}, not 0")
    return lost + _splits_missed(figures)


def _splits_missed(figures: Figures) -> list[str]:
    """The oracle splits that no finding tells of, and those findings that nothing explains."""
    splits = [entry for entry in figures["findings"] if entry["verdict"] == Verdict.ORACLE_SPLIT]
    lost = [
        f"oracle split of {', '.join(split['unexplained'])} without an explanation:"
        f" {split['operator']}, {split['count']} cases"
        for split in splits
        if split["unexplained"]
    ]
    counted = sum(split["count"] for split in splits)
    split_cases = figures["verdicts"].get(Verdict.ORACLE_SPLIT, 0)
    if counted != split_cases:
        lost.append(f"oracle splits in findings: {counted} of {split_cases}")
    return lost


def markdown(figures: Figures) -> str:
    """The counts as tables."""
    cases, elapsed = figures["cases"], figures["elapsed"]
    spent = ", ".join(f"{part} {seconds:g}" for part, seconds in figures["cpu_seconds"].items())
    judged = ", ".join(f"{n} by {oracles}" for oracles, n in figures["judged_by_oracles"].items())
    lines = [
        f"{cases} of {figures['wanted']} cases ({figures['invalid']} of them invalid programs), "
        f"{figures['checks']} outputs checked, seed {figures['seed']}, "
        f"fixes {'on' if figures['fixes'] else 'off'}; "
        f"{elapsed:.0f} s, CPU seconds: "
        f"{spent}. Cases judged by so many oracles: {judged}.",
        "",
        f"**Failures: {figures['failures']} of {cases}.** By regime: {_by_regime(figures['by'])}.",
        "",
        *_counts(figures["by"], [v for v in Verdict if v in figures["verdicts"]]),
    ]
    largest: Mapping[str, float] = figures["largest_error_by_bound"]
    listed = ", ".join(f"{key.removeprefix('family ')} {ratio:g}" for key, ratio in largest.items())
    lines += ["", f"Largest error seen, as a share of its bound: {listed}."]
    if figures["verdicts"].get(Verdict.ORACLE_SPLIT):
        lines += [
            "",
            f"Of the oracle splits, {figures['splits_outside_as_well']} have what is judged outside"
            " the bound as well.",
        ]
    if figures["all_unconstrained"]:
        count = figures["all_unconstrained"]
        lines += ["", f"In {count} cases every element of the outputs is unconstrained."]
    if figures["unended"]:
        lines += ["", f"{figures['unended']} cases never ended."]
    if figures["gaps"]:
        listed_gaps = ", ".join(f"{name} ({count})" for name, count in figures["gaps"].items())
        lines += ["", f"Known gaps, not counted as failures: {listed_gaps}."]
    if figures["not_looked_into"]:
        lines += ["", f"{figures['not_looked_into']} cases were not looked into any more."]
    if figures["findings"]:
        lines += ["", *_findings(figures["findings"])]
    return "\n".join(lines)


def _by_regime(by: Mapping[str, Mapping[str, int]]) -> str:
    cells = []
    for key, counts in by.items():
        axis, _, regime = key.partition(" ")
        if axis == "regime":
            failed = sum(n for verdict, n in counts.items() if Verdict(verdict).is_failure)
            cells.append(f"{regime} {failed} of {sum(counts.values())}")
    return ", ".join(cells)


def _counts(by: Mapping[str, Mapping[str, int]], verdicts: Iterable[Verdict]) -> list[str]:
    columns = list(verdicts)
    lines = [
        "| | " + " | ".join(columns) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for key, counts in by.items():
        cells = " | ".join(str(counts.get(verdict, 0)) for verdict in columns)
        lines.append(f"| {key} | {cells} |")
    return lines


def _findings(findings: Iterable[Mapping[str, Any]]) -> list[str]:
    lines = ["| cases | verdict | operator | blamed on | message |", "|---:|---|---|---|---|"]
    for finding in findings:
        blame = ", ".join(f"{axis}={value}" for axis, value in finding["blame"].items())
        message = str(finding["message"]).replace("|", "\\|")
        row = (str(finding["count"]), finding["verdict"], finding["operator"], blame, message)
        lines.append("| " + " | ".join(row) + " |")
    return lines
