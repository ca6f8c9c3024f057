"""The check of one model on this release: import, compile, run, compare, locate what is wrong."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec

from relaxcheck.generators.core.values import Array
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.models import compiling, stepping
from relaxcheck.harness.models.blaming import blamed, misconverted
from relaxcheck.harness.models.compiling import Way, compiled
from relaxcheck.harness.models.converting import converted
from relaxcheck.harness.models.explaining import explanation
from relaxcheck.harness.models.faults import left, raised, telling
from relaxcheck.harness.models.imported import Conversion, Imported, ImportFault
from relaxcheck.harness.models.job import Job, Known, Message, Progress
from relaxcheck.harness.models.judging import MODEL_LIMIT, measured
from relaxcheck.harness.models.planning import Planned, planned
from relaxcheck.harness.models.regions import region
from relaxcheck.harness.models.report import (
    Lacking,
    Node,
    Place,
    Ratio,
    Report,
    Trial,
    Verdict,
    ratio,
)
from relaxcheck.harness.models.sources import ModelError, Source, source
from relaxcheck.harness.outcomes.errors import headline
from relaxcheck.harness.releases.environment import versions
from relaxcheck.harness.workers.switching import switch_fixes

_BLAMED = 10
"""The number of wrong nodes, the worst first, whose blame is looked for."""

_NAMED = 6
"""The number of nodes that the report names of an operator that is not supported."""


@dataclass(slots=True)
class _Check:
    """A check while it goes on."""

    job: Job
    tell: Callable[[Message], None]
    report: Report
    seconds: dict[str, float] = field(default_factory=dict)

    def know(self, **changes: Any) -> None:
        """Add to the report, and send it."""
        self.report = msgspec.structs.replace(self.report, seconds=dict(self.seconds), **changes)
        self.tell(Known(self.report))

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A stage of the check, whose time is measured."""
        self.tell(Progress(name))
        begun = time.monotonic()
        try:
            yield
        finally:
            spent = self.seconds.get(name, 0.0) + time.monotonic() - begun
            self.seconds[name] = round(spent, 3)

    def within(self, stage: str) -> None:
        """Say that a stage of TVM's begins."""
        self.tell(Progress(stage))


def check(job: Job, tell: Callable[[Message], None]) -> Report:
    """Check the model of ``job``; ``tell`` gets each stage, and the report as it grows.

    Raises:
        ModelError: the model, or its inputs, cannot be used.
    """
    going = _Check(job, tell, Report(job.model, "", Verdict.INTERRUPTED, fixes=job.fixes))
    with going.stage("load"):
        model = source(job.model)
        way = Way(job.pipeline, job.fixes, job.target)
        try:
            compiling.parsed(job.target)
        except compiling.TargetError as error:
            raise ModelError(str(error)) from error
        switch_fixes(job.fixes)
    going.know(
        framework=model.framework,
        pipeline=job.pipeline,
        target=job.target,
        versions=versions(),
    )
    with going.stage("framework"):
        runs, skipped = planned(model, job)
    going.know(skipped=skipped)
    with going.stage("import"):
        try:
            imported = model.imported()
        except ImportFault as fault:
            going.know(**_import_fault(fault))
            if fault.before:
                # There is no program of the importer's nodes to take a piece of.
                return going.report
            _converted(going, model, runs[0], fault.conversions)
            with going.stage("piece"):
                subject = _explained(going, model, runs, runs[0], way)
                for changes in explanation.import_explained(subject, going.report, fault.cause):
                    going.know(**changes)
            return going.report
    going.know(nodes=len(imported.steps))
    if job.again:
        subject = _explained(going, model, runs, runs[0], way)
        with going.stage("piece"):
            for changes in explanation.death_explained(subject, imported):
                going.know(**changes)
        return going.report
    with going.stage("compile"):
        try:
            main = compiled(imported.module, way, going.within)
        except (StageError, SilentBail) as error:
            going.know(verdict=Verdict.COMPILE, stage=error.stage, message=telling(error))
            cause = (
                left(error) if isinstance(error, SilentBail) else raised(error.stage, error.cause)
            )
            _contradicting(going, model, imported, runs[0])
            with going.stage("piece"):
                subject = _explained(going, model, runs, runs[0], way)
                wrong = next(iter(going.report.wrong), None)
                for changes in explanation.compile_explained(subject, imported, cause, wrong):
                    going.know(**changes)
            return going.report
    _verdict(going, model, imported, main, runs)
    if going.report.verdict is Verdict.RUN:
        run = runs[len(going.report.trials)]
        _contradicting(going, model, imported, run)
        with going.stage("piece"):
            subject = _explained(going, model, runs, run, way)
            wrong = next(iter(going.report.wrong), None)
            for changes in explanation.run_explained(subject, imported, wrong):
                going.know(**changes)
    if going.report.verdict is Verdict.WRONG or (job.nodes and going.report.trials):
        trials = going.report.trials
        first = next((n for n, trial in enumerate(trials) if not trial.right), 0)
        with going.stage("nodes"):
            _locate(going, model, imported, runs[first], way)
        if going.report.wrong or going.report.region:
            with going.stage("piece"):
                subject = _explained(going, model, runs, runs[first], way)
                for changes in explanation.wrong_explained(
                    subject, imported, going.report.wrong[:1], going.report.region
                ):
                    going.know(**changes)
    return going.report


def _explained(
    going: _Check, model: Source, runs: Sequence[Planned], run: Planned, way: Way
) -> explanation.Subject:
    """The model, as its faults are explained on the inputs of ``run``."""

    def right(results: Sequence[Sequence[Array]]) -> bool:
        return all(_trial(each, result).right for each, result in zip(runs, results, strict=True))

    inputs = [each.arrays for each in runs]
    return explanation.Subject(model, run.arrays, way, inputs, right, going.within)


def _import_fault(fault: ImportFault) -> dict[str, Any]:
    message = headline(fault.text)
    if fault.before:
        message = f"{fault.before}, which TVM calls first, fails: {message}"
    lacking = tuple(
        Lacking(each.operator, len(each.nodes), each.nodes[:_NAMED]) for each in fault.unsupported
    )
    place = Place(fault.node, fault.operator, fault.operands, message) if fault.node else None
    return {
        "verdict": Verdict.IMPORT,
        "stage": "import",
        "message": message,
        "lacking": lacking,
        "place": place,
    }


def _verdict(
    going: _Check,
    model: Source,
    imported: Imported,
    main: Callable[..., Any],
    runs: Sequence[Planned],
) -> None:
    trials: list[Trial] = []
    for run in runs:
        at = ", ".join(f"{name} = {size}" for name, size in run.binding.items())
        with going.stage("run"):
            going.within(f"run {run.label}{f' at {at}' if at else ''}")
            values = [*run.arrays, *imported.parameters.values()]
            try:
                results = compiling.run(main, values)
            except StageError as error:
                going.know(
                    verdict=Verdict.RUN,
                    stage=error.stage,
                    message=f"{telling(error)} ({run.label}{f', {at}' if at else ''})",
                    trials=tuple(trials),
                )
                return
        trials.append(_trial(run, results))
        going.know(trials=tuple(trials))
    if not all(trial.right for trial in trials):
        going.know(verdict=Verdict.WRONG, message=_off(trials))
        return
    if differs := _exporter_differs(model, runs):
        going.know(verdict=Verdict.EXPORTER, message=differs)
        return
    going.know(verdict=Verdict.RIGHT)


def _trial(run: Planned, results: Sequence[Array]) -> Trial:
    own, double = run.values.own, run.values.double
    outputs = [
        ratio(name, measured(result, own[name], double.get(name)))
        for name, result in zip(own, results, strict=False)
    ]
    if len(results) != len(own):
        text = f"{len(results)} outputs instead of {len(own)}"
        outputs.append(Ratio("outputs", None, difference=text))
    right = all(each.factor <= MODEL_LIMIT for each in outputs)
    return Trial(dict(run.binding), run.label, tuple(outputs), right)


def _off(trials: Sequence[Trial]) -> str:
    wrong = [
        (trial, each) for trial in trials for each in trial.outputs if each.factor > MODEL_LIMIT
    ]
    trial, worst = max(wrong, key=lambda pair: pair[1].factor)
    text = worst.difference or (
        f"off by {worst.error:.3g}, {worst.factor:.3g} times the framework's own error"
    )
    return f"{worst.name}: {text} ({trial.inputs})"


def _exporter_differs(model: Source, runs: Sequence[Planned]) -> str:
    """How the module differs from what was exported of it; "" if it does not."""
    for run in runs:
        eager = model.eager(run.arrays)
        if eager is None:
            return ""
        for name, value in run.values.own.items():
            each = measured(value, eager[name], run.values.double.get(name))
            if each.ratio > MODEL_LIMIT:
                text = each.difference or f"off by {each.error:.3g}"
                return f"the exported program differs from the module: {name} {text}"
    return ""


def _converted(
    going: _Check, model: Source, run: Planned, conversions: Sequence[Conversion]
) -> None:
    """Name the nodes that are wrong before the one at which the import fails."""
    if not conversions:
        return
    with going.stage("nodes"):
        values = model.steps(run.arrays, [each.step.name for each in conversions])
        judged = converted(conversions, values, {}, types={}, owners={}, sizes={})
    going.know(wrong=tuple(map(misconverted, judged.wrong[:_BLAMED])))


def _contradicting(going: _Check, model: Source, imported: Imported, run: Planned) -> None:
    """Name the nodes of a model that does not run that are wrong as soon as it is imported."""
    with going.stage("nodes"):
        setting = stepping.setting(model, imported, run.arrays)
        judged = stepping.contradictions(setting)
        borders = frozenset(imported.borders()) - judged.variables
        wrong = tuple(misconverted(each, setting, borders) for each in judged.wrong[:_BLAMED])
    going.know(wrong=wrong)


def _locate(going: _Check, model: Source, imported: Imported, run: Planned, way: Way) -> None:
    """Name the steps that are wrong; where none is, the part that is wrong only as a whole."""
    setting = stepping.setting(model, imported, run.arrays)
    try:
        stepped = stepping.stepped(setting, way, going.within)
    except (StageError, SilentBail) as error:
        going.know(notes=(f"the nodes could not be run on their own: {telling(error)}",))
        return
    going.know(checked=stepped.checked, behind=stepped.behind, special=stepped.special)
    nodes: list[Node] = []
    for each in stepped.wrong[:_BLAMED]:
        going.within(f"node {each.step.name}")
        nodes.append(blamed(each, setting, stepped, way))
        going.know(wrong=tuple(nodes))
    if not nodes and going.report.verdict is Verdict.WRONG:
        going.within("all nodes together")
        found = region(setting, stepped.borders, way, going.within)
        if found is not None:
            going.know(region=found.steps, passes=found.passes)
