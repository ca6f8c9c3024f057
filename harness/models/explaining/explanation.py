"""Explain a fault of a model: known traps, the smallest piece that fails alike, and its cure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from relaxcheck.generators.core.values import Array
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.harness.compiling.passes.stages import SilentBail, StageError
from relaxcheck.harness.compiling.watching import Progress
from relaxcheck.harness.models import stepping
from relaxcheck.harness.models.compiling import RUN, Way, compiled, run
from relaxcheck.harness.models.converting import DTYPE, SHAPE, VALUE
from relaxcheck.harness.models.explaining.alone import Alone
from relaxcheck.harness.models.explaining.curing import cure_of
from relaxcheck.harness.models.explaining.cutting import Cut, cut
from relaxcheck.harness.models.explaining.digging import Trying, cut_by_fault, cut_by_steps, showing
from relaxcheck.harness.models.explaining.neighbours import around
from relaxcheck.harness.models.explaining.traps import Sprung, scan
from relaxcheck.harness.models.explaining.uses import made
from relaxcheck.harness.models.fault import Fault
from relaxcheck.harness.models.faults import Died, asked, isolated_fault_of, raised
from relaxcheck.harness.models.forcing import Part, bindings
from relaxcheck.harness.models.imported import Imported, ImportFault
from relaxcheck.harness.models.pieces.calls import TorchInput
from relaxcheck.harness.models.pieces.captured import Captured, captured
from relaxcheck.harness.models.pieces.making import WRONG, Taken, is_right, piece_of
from relaxcheck.harness.models.pieces.running import IMPORT
from relaxcheck.harness.models.report import Failing, Node, Piece, Place, Report, Trap
from relaxcheck.harness.models.sources import OnnxSource, Source
from relaxcheck.harness.outcomes.outcome import Verdict
from relaxcheck.harness.triage.curing import Names
from relaxcheck.harness.workers.switching import only_fixes

_WHOLE_SECONDS = 300.0
"""Time limit of a whole model with some of the fixes."""

_SCRIPT = 6000
"""The length to which the text of a part is cut."""

_STORED = 100_000
"""Elements at most of the values that a report holds."""

_DIFFERS = {
    SHAPE: Verdict.WRONG_SHAPE,
    DTYPE: Verdict.WRONG_DTYPE,
    VALUE: Verdict.WRONG_VALUE,
}

Changes = dict[str, Any]
"""Fields of a report, and their values."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model that fails, in a ``way``, on the inputs ``arrays``.

    ``runs`` are the inputs of all its runs, and ``right(results)`` judges the outputs of each.
    """

    source: Source
    arrays: Sequence[Array]
    way: Way
    runs: Sequence[Sequence[Array]]
    right: Callable[[Sequence[Sequence[Array]]], bool]
    progress: Progress

    def right_with(self, names: Names) -> bool:
        """True if the model is right, in a child process, with the fixes ``names`` alone."""

        def question(progress: Progress) -> bool:
            with only_fixes(names):
                try:
                    imported = self.source.imported()
                    fixed = Way(self.way.pipeline, True, self.way.target, self.way.plain)
                    main = compiled(imported.module, fixed, progress)
                    kept = tuple(imported.parameters.values())
                    results = [run(main, [*arrays, *kept]) for arrays in self.runs]
                except (ImportFault, StageError, SilentBail):
                    return False
            return self.right(results)

        try:
            return asked(question, _WHOLE_SECONDS, bool)
        except Died:
            return False


def import_explained(subject: Subject, report: Report, error: BaseException) -> Iterator[Changes]:
    """Fields of the ``report`` on a model whose import ends in TVM's ``error``.

    Of nodes that are wrong before that, and of operators that the importer lacks, the first is the
    piece.
    """
    if report.wrong:
        yield from node_explained(subject, report.wrong[0])
        return
    place, fault = report.place, raised(IMPORT, error)
    if place is None and report.lacking:
        first = report.lacking[0]
        place = Place(first.nodes[0], first.operator)
    if place is not None:
        yield from _single(subject, place.node, place.operator, fault)


def node_explained(subject: Subject, node: Node) -> Iterator[Changes]:
    """Fields of the report on a model with a ``node`` that is wrong as soon as it is imported."""
    fault = Fault(_DIFFERS[node.differs], RUN, node.figures.difference, node.differs)
    yield from _single(subject, node.name, node.operator, fault)


def _single(subject: Subject, node: str, operator: str, fault: Fault) -> Iterator[Changes]:
    """Fields of the report on a model with a ``node`` that has the ``fault`` by itself."""
    source = subject.source
    outputs: tuple[str, ...] = (node,)
    values: dict[str, Captured] = {}
    if isinstance(source, OnnxSource):
        nodes = [each for each in source.model.graph.node if node in (each.name, *each.output)]
        outputs = tuple(name for each in nodes[:1] for name in each.output if name)
        every = [name for each in source.model.graph.node for name in each.output if name]
        values = _inputs(subject)
        held = source.steps(subject.arrays, every).own
        values |= {name: Captured(array, array.shape) for name, array in held.items()}
    taken = Taken(outputs, outputs, subject.arrays, values)
    subject.progress("piece")
    made_of = piece_of(source, taken, fault, subject.way)
    piece = Piece((node,), (operator,), fault, "", 0, True)
    yield from _pieced(subject, piece, made_of, (), ())


def run_explained(
    subject: Subject, imported: Imported, wrong: Node | None = None
) -> Iterator[Changes]:
    """Fields of the report on a model that compiles, and fails when it runs.

    ``wrong`` is as in ``compile_explained``.
    """
    traps = scan(imported.module)
    yield {"traps": _traps(imported, traps)}
    setting = _setting(subject, imported)
    trying = Trying(subject.way, setting)
    seen: list[Fault] = []

    def fails(part: Part) -> bool:
        fault = trying.fault(part)
        if fault is None or fault.stage != RUN or fault.verdict in WRONG:
            return False
        # The whole comes first: everything after it has to fail as it does.
        seen.append(fault)
        return seen[0].alike(fault)

    cut_out = cut(imported, fails, show=showing(subject.progress))
    place = _place((), cut_out)
    yield {"place": place}
    if wrong is not None and (place is None or _precedes(imported, wrong.name, place.node)):
        yield from node_explained(subject, wrong)
    elif cut_out is not None:
        yield from _cut_explained(subject, setting, cut_out, seen[0], traps)


def death_explained(subject: Subject, imported: Imported) -> Iterator[Changes]:
    """Fields of the report on a model at which TVM ends its process, or comes to no end."""
    subject.progress("compile in a child")
    fault = isolated_fault_of(imported.module, subject.way)
    if fault is not None:
        yield from compile_explained(subject, imported, fault)
    else:
        yield from run_explained(subject, imported)


def compile_explained(
    subject: Subject, imported: Imported, fault: Fault, wrong: Node | None = None
) -> Iterator[Changes]:
    """Fields of the report on a model that does not compile.

    If the node ``wrong``, which is so as soon as it is imported, comes before the failing one, the
    piece is that node: the other may be its victim.
    """
    traps = scan(imported.module)
    yield {"traps": _traps(imported, traps)}
    setting = _setting(subject, imported)
    piece, alone = cut_by_fault(imported, fault, Trying(subject.way), subject.progress)
    place = _place(alone, piece)
    yield {"failing": tuple(map(_failing, alone)), "place": place}
    if wrong is not None and (place is None or _precedes(imported, wrong.name, place.node)):
        yield from node_explained(subject, wrong)
    elif piece is not None:
        yield from _cut_explained(subject, setting, piece, fault, traps)


def wrong_explained(
    subject: Subject, imported: Imported, nodes: Sequence[Node], region: Sequence[str]
) -> Iterator[Changes]:
    """Fields of the report on a model with the wrong ``nodes``, or a ``region`` that is wrong."""
    traps = scan(imported.module)
    yield {"traps": _traps(imported, traps)}
    names = [node.name for node in nodes] or region
    variables = [step.variable for step in imported.steps if step.name in names]
    if not variables and nodes:
        # A constant, or a variable of another node, is no part of a program.
        yield from node_explained(subject, nodes[0])
        return
    setting = _setting(subject, imported)
    trying = Trying(subject.way, setting)
    piece = cut_by_steps(imported, variables, trying, subject.progress)
    fault = None if piece is None else trying.fault(piece.part)
    if piece is not None and fault is not None:
        yield from _cut_explained(subject, setting, piece, fault, traps)


def _cut_explained(
    subject: Subject,
    setting: stepping.Setting,
    smallest: Cut,
    fault: Fault,
    traps: Sequence[Sprung],
) -> Iterator[Changes]:
    steps = smallest.steps
    names = {step.variable: step.name for step in steps}
    inside = {step.name for step in steps}
    variables = {name: each.var for name, each in made(setting.imported.module).items()}
    values = _inputs(subject)
    for step in setting.imported.steps:
        if step.name in setting.values.own and step.name not in inside:
            values[step.name] = captured(setting.values.own[step.name], variables[step.variable])
    taken = Taken(
        tuple(names.values()),
        tuple(names[output] for output in smallest.outputs),
        subject.arrays,
        values,
    )
    piece = Piece(
        tuple(step.name for step in steps),
        tuple(dict.fromkeys(step.operator for step in steps)),
        fault,
        smallest.part.module.script()[:_SCRIPT],
        smallest.tries,
        smallest.minimal,
        inputs=_stored(setting, smallest.part.inputs),
        expected=_stored(setting, smallest.part.outputs),
    )
    yield {"piece": piece, "near": around(setting.imported, piece.nodes)}
    subject.progress("piece")
    likely = [name for each in traps if each.variable in names for name in each.fixes]
    made_of = piece_of(subject.source, taken, fault, subject.way)
    yield from _pieced(subject, piece, made_of, likely, called_in(smallest.part))


def _pieced(
    subject: Subject, piece: Piece, made_of: Any, likely: Sequence[str], called: Sequence[str]
) -> Iterator[Changes]:
    """The piece with the case, or the calls, that were ``made_of`` it, and its cure."""
    if made_of is None:
        yield {"piece": piece}
        return
    case = made_of if isinstance(made_of, OnnxCase) else None
    calls = None if case is not None else made_of
    yield {"piece": replace(piece, case=case, calls=calls)}
    if subject.way.fixes:
        return
    subject.progress("fixes")
    cure = cure_of(
        lambda names: is_right(made_of, subject.way, names),
        # Fixes name operators of PyTorch without their namespace.
        [*called, *(name.removeprefix("aten.") for name in piece.operators)],
        whole=subject.right_with,
        likely=likely,
        verdict=piece.fault.verdict,
    )
    yield {"cure": cure}


def _stored(setting: stepping.Setting, names: Sequence[str]) -> tuple[TorchInput, ...]:
    """The values of the variables ``names``; none where one is not known, or they are too many."""
    held = setting.held()
    arrays = [held[name] for name in names if name in held]
    if len(arrays) < len(names) or sum(array.size for array in arrays) > _STORED:
        return ()
    return tuple(
        TorchInput(name, array.dtype.name, array.shape, array.shape, array.tobytes())
        for name, array in zip(names, arrays, strict=True)
    )


def called_in(part: Part) -> tuple[str, ...]:
    """The operators of Relax that ``part`` calls, without their namespace."""
    values = (each.value for each in bindings(part.module))
    names = (str(each.op.name) for each in values if hasattr(getattr(each, "op", None), "name"))
    return tuple(dict.fromkeys(name.removeprefix("relax.") for name in names))


def _setting(subject: Subject, imported: Imported) -> stepping.Setting:
    return stepping.setting(subject.source, imported, subject.arrays)


def _inputs(subject: Subject) -> dict[str, Captured]:
    """The user's inputs, with the names of their symbolic dimensions that are identifiers."""
    held = {}
    for each, array in zip(subject.source.inputs, subject.arrays, strict=True):
        dims = tuple(
            dim if isinstance(dim, str) and dim.isidentifier() else size
            for dim, size in zip(each.dims, array.shape, strict=True)
        )
        held[each.name] = Captured(array, dims)
    return held


def _traps(imported: Imported, traps: Sequence[Sprung]) -> tuple[Trap, ...]:
    steps = imported.borders()
    rows = []
    for each in traps:
        step = steps.get(each.variable)
        node, operator = (
            (each.variable, each.operator) if step is None else (step.name, step.operator)
        )
        rows.append(Trap(each.trap, node, operator, each.sentence, each.fixes, each.followers))
    return tuple(rows)


def _failing(alone: Alone) -> Failing:
    return Failing(alone.step.name, alone.step.operator, alone.fault.message, alone.behind)


def _precedes(imported: Imported, node: str, other: str) -> bool:
    """True if ``node`` comes before ``other`` in the framework's graph."""
    order = {each.step.name: n for n, each in enumerate(imported.conversions)}
    return order.get(node, 0) < order.get(other, len(order))


def _place(alone: Sequence[Alone], cut: Cut | None) -> Place | None:
    """The first node that is at fault: alone, or the last one of those that are cut out."""
    first = next((each for each in alone if not each.behind), None)
    if first is not None:
        step = first.step
        return Place(step.name, step.operator, (step.text,), first.fault.message)
    if cut is None or not cut.steps:
        return None
    last = cut.steps[-1]
    return Place(last.name, last.operator, (last.text,))
