"""Hypothesis strategies of programs: Relax, wrong calls, ONNX, PyTorch, expressions, KV caches.

Use them in any ``@given``. Hypothesis draws every choice, structure included, so that it shrinks a
failing program of many operators to the smallest one it finds::

    from hypothesis import given
    from relaxcheck import strategies

    @given(strategies.cases(operators=["add", "multiply", "nn.relu"], max_nodes=4))
    def test_my_pass(case):
        strategies.check(case)

``check`` compiles and runs a case in this process and holds the results to the oracles. The error
it raises contains a script that reproduces the failure with TVM, NumPy and PyTorch alone. A program
that ends the process ends the test run too: ``relaxcheck fuzz`` runs cases in worker processes.

A test with assertions of its own calls ``note_script`` first: Hypothesis then prints the script of
the example that it reports.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Protocol

from hypothesis import assume, note
from hypothesis import strategies as st

from relaxcheck.extensions import entry_points
from relaxcheck.extensions.entry_points import require
from relaxcheck.extensions.naming import is_own
from relaxcheck.extensions.pipelines import allow, named
from relaxcheck.generators.core.axes import SEEDS, Family, points
from relaxcheck.generators.core.case import AnyCase, CaseError, with_fixes
from relaxcheck.generators.core.draft import Draft
from relaxcheck.generators.core.points import narrowed
from relaxcheck.generators.core.program import USUAL_REGIMES, Case, Program
from relaxcheck.generators.expressions import family as expression_family
from relaxcheck.generators.expressions.cases import ANALYZED, POSITIONS, ExpressionCase
from relaxcheck.generators.expressions.drawing import drawn_by
from relaxcheck.generators.graphs import family as graph_family
from relaxcheck.generators.graphs.choices import Choices
from relaxcheck.generators.graphs.growth import Limits
from relaxcheck.generators.graphs.mismatch import called_wrongly, wrong
from relaxcheck.generators.graphs.programs import any_program, chosen
from relaxcheck.generators.kvcache.case import KvCase
from relaxcheck.generators.kvcache.family import case_at as kv_cache_at
from relaxcheck.generators.kvcache.family import family as kv_cache_family
from relaxcheck.generators.onnx.case import OnnxCase
from relaxcheck.generators.onnx.family import OnnxFamily
from relaxcheck.generators.onnx.hints import HINTS
from relaxcheck.generators.operators import OPERATORS
from relaxcheck.generators.torch.case import TorchCase
from relaxcheck.generators.torch.families import families as torch_families
from relaxcheck.generators.torch.running import PREFIX
from relaxcheck.harness.outcomes.outcome import Outcome

DTYPES = ("float32", "float16", "float64")
"""Dtypes of the floating-point tensors of programs, the simplest first."""

_SIZES = (1, 2, 3, 4, 8, 16, 5, 7, 9, 0)
"""Sizes for the symbols of a bare program, the most likely to suit it first."""

_FEW = 5
"""The sizes tried for each symbol of a program that has more than three."""

_MOST_TRIED = 500

__all__ = [
    "DTYPES", "cases", "check", "expressions", "invalid_calls", "kv_caches", "models", "module",
    "note_script", "programs", "script", "torch_programs",
]  # fmt: skip


def programs(
    operators: Collection[str] | None = None,
    max_nodes: int = 8,
    symbolic: bool = True,
    dtypes: Sequence[str] = DTYPES,
) -> st.SearchStrategy[Program]:
    """Valid programs of 1 to ``max_nodes`` operator calls.

    Args:
        operators: the Relax names, without ``relax.op.``, of all operators that nodes may call;
            None for every operator with a record that random programs may have.
        max_nodes: the most nodes.
        symbolic: whether dimensions may have symbols.
        dtypes: the dtypes of floating-point inputs, the simplest first.

    Raises:
        ValueError: no random program has an operator, or ``max_nodes`` is below 1. Drawing raises
            it where no program keeps to the limits, as where an operator needs another one for its
            operands.
        ExtensionError: an operator of an installed package cannot be used.
    """
    return _programs(_drafts(operators, max_nodes, symbolic, dtypes))


def cases(
    operators: Collection[str] | None = None,
    max_nodes: int = 8,
    symbolic: bool = True,
    dtypes: Sequence[str] = DTYPES,
    pipelines: Sequence[str] = ("build",),
    fixes: bool = False,
) -> st.SearchStrategy[Case]:
    """Programs as ``programs`` draws them, with the sizes, values and pipeline to run them with.

    Args:
        operators: as in ``programs``.
        max_nodes: as in ``programs``.
        symbolic: as in ``programs``.
        dtypes: as in ``programs``.
        pipelines: names of pass pipelines (``relaxcheck.harness.compiling.pipelines``), or of
            functions of your own that return one, ``package:function``.
        fixes: whether the fixes are installed.

    Raises:
        ValueError: as in ``programs``.
        ExtensionError: as in ``programs``; or there is no module of the name of a pipeline.
    """
    drafts = _drafts(operators, max_nodes, symbolic, dtypes)
    return _cases(drafts, _allowed(pipelines), fixes)


def _allowed(pipelines: Sequence[str]) -> tuple[str, ...]:
    """``pipelines``; the caller names them, so that what is the caller's own may be imported."""
    names = tuple(map(named, pipelines))
    allow(filter(is_own, names))
    return names


def invalid_calls(
    operators: Collection[str] | None = None,
    max_nodes: int = 8,
    symbolic: bool = True,
    dtypes: Sequence[str] = DTYPES,
    pipelines: Sequence[str] = ("build",),
    fixes: bool = False,
) -> st.SearchStrategy[Case]:
    """Valid programs called with an argument of a shape that they do not state.

    TVM must refuse the call with an error that names the parameter, the dimension and the sizes.
    Arguments and errors are those of ``cases``.
    """
    drafts = _drafts(operators, max_nodes, symbolic, dtypes)
    # The program of one input whose dimensions are all symbols states nothing; a static one does.
    static = _drafts(operators, max_nodes, False, dtypes)
    return _wrong_calls(
        _cases(drafts, _allowed(pipelines), fixes), _cases(static, _allowed(pipelines), fixes)
    )


def expressions(positions: Sequence[str] = (ANALYZED,)) -> st.SearchStrategy[ExpressionCase]:
    """Integer expressions, each to be simplified or computed at one of ``positions``.

    Args:
        positions: where an expression stands: ``analyzer`` (the default), ``value``, ``index``,
            ``shape``, ``parameter`` or ``extent``.

    Raises:
        ValueError: a position is unknown.
    """
    unknown = set(positions) - set(POSITIONS)
    if unknown:
        raise ValueError(f"unknown positions {', '.join(sorted(unknown))}")
    return _expressions(tuple(positions))


def models(
    operators: Collection[str] | None = None,
    pipelines: Sequence[str] = ("build",),
    fixes: bool = False,
) -> st.SearchStrategy[OnnxCase]:
    """ONNX models of one node, with the sizes and values to run them with.

    Args:
        operators: ONNX's names of operators, such as ``Softmax``; None for all that have a hint.
        pipelines: as in ``cases``.
        fixes: as in ``cases``.

    Raises:
        ValueError: an operator has no hint.
    """
    chosen = sorted(HINTS) if operators is None else list(operators)
    if unknown := sorted(set(chosen) - HINTS.keys()):
        raise ValueError(f"no models of {', '.join(unknown)} are drawn")
    return _built([OnnxFamily(HINTS[name], _allowed(pipelines)) for name in chosen], fixes)


def torch_programs(
    entries: Collection[str] | None = None,
    pipelines: Sequence[str] = ("build",),
    fixes: bool = False,
) -> st.SearchStrategy[TorchCase]:
    """PyTorch programs, with their export, TVM's importer, and the values to run them with.

    Args:
        entries: names of PyTorch's samples, such as ``nn.functional.softmax`` and ``Linear``, or of
            programs of many calls: ``graph``, ``layers``, ``rnn``, ``attention``, ``control``; None
            for all.
        pipelines: as in ``cases``.
        fixes: as in ``cases``.

    Raises:
        ValueError: there is no such entry, or no program is drawn of it.
    """
    known = {
        each.name.removeprefix(f"{PREFIX}-"): each for each in torch_families(_allowed(pipelines))
    }
    chosen = sorted(known) if entries is None else list(entries)
    if unknown := sorted(set(chosen) - known.keys()):
        raise ValueError(f"no PyTorch programs of {', '.join(unknown)} are drawn")
    return _built([known[name] for name in chosen], fixes)


@st.composite
def kv_caches(draw: st.DrawFn, fixes: bool = False) -> KvCase:
    """Operations on a paged KV cache, each valid in the state that those before it lead to.

    One sequence in eight ends with an operation that the cache has to refuse. Hypothesis draws
    every operation, so that a failing sequence shrinks.

    Args:
        fixes: whether the fixes are installed.
    """
    point = draw(points(kv_cache_family().axes))
    return with_fixes(kv_cache_at(point, draw(SEEDS), Choices(draw)), fixes)


@st.composite
def _built(draw: st.DrawFn, families: Sequence[Family], fixes: bool) -> Any:
    family = draw(st.sampled_from(families))
    case = family.build(draw(points(family.axes)), draw(SEEDS))
    return with_fixes(case, fixes)


def module(case: Case | Program) -> Any:
    """The ``tvm.IRModule`` whose function ``main`` computes the program.

    Its parameters are the run-time inputs in order; constant inputs have the values that the case's
    seed decides (0 for a bare program).
    """
    from relaxcheck.generators.emission.programs import emit

    if isinstance(case, Program):
        sizes = dict.fromkeys(case.symbols, 1)
        case = Case(graph_family.NAME, case, bindings=(sizes,))
    return emit(case)


def check(case: AnyCase | Program) -> None:
    """Compile and run ``case`` in this process, and hold its results to the oracles.

    A bare program is run at the smallest sizes that suit it, 0 only where nothing else does.

    Raises:
        AssertionError: it fails. The text ends with a script that reproduces the failure.
    """
    case = _case(case)
    outcome = _executed(case)
    if outcome.verdict.is_failure:
        failure = f"{outcome.verdict.value}: {outcome.message.strip()}"
        raise AssertionError(f"{failure}\n\nThis script reproduces it:\n\n{script(case, outcome)}")


def script(case: AnyCase | Program, outcome: Outcome | None = None) -> str:
    """A script that exits with 1 while ``case`` fails as in ``outcome``, and with 0 otherwise.

    Without ``outcome`` the case is run first; a bare program at the sizes of ``check``. The script
    of a case that passes builds the same module, runs it and compares its results.

    Raises:
        CaseError: no script could show ``outcome``.
    """
    from relaxcheck.harness.releases.environment import versions
    from relaxcheck.reports.kinds import rendering
    from relaxcheck.reports.rendering import About

    case = _case(case)
    ended = outcome or _executed(case)
    shown = rendering(case)
    title = shown.title(case, ended, None, {})
    text, _ = shown.pasted(case, ended, title, About(versions()))
    return text


def note_script(case: AnyCase | Program) -> None:
    """Have Hypothesis print the script of ``case`` if this example is the one that it reports.

    Call it before the assertions of a test. The case is run for the reported example alone.
    """
    note(_Noted(case))


class _Printer(Protocol):
    def text(self, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Noted:
    """The script of ``case``, made only when Hypothesis prints it."""

    case: AnyCase | Program

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:
        try:
            text = f"This script builds and runs the program:\n\n{script(self.case)}"
        except CaseError as error:
            text = f"No script: {error}"
        printer.text(text)


def _case(case: AnyCase | Program) -> AnyCase:
    """``case``; a bare program as a case, at the first sizes that the reference accepts."""
    if not isinstance(case, Program):
        return case
    from relaxcheck.harness.programs.vetting import reference

    tried = [Case(graph_family.NAME, case, bindings=(sizes,)) for sizes in _bindings(case.symbols)]
    return next((each for each in tried if not reference(each).refused), tried[0])


def _bindings(symbols: Sequence[str]) -> Iterator[dict[str, int]]:
    """Sizes for ``symbols``, the likeliest first."""
    sizes = _SIZES if len(symbols) <= 3 else _SIZES[:_FEW]
    rows = sorted(product(range(len(sizes)), repeat=len(symbols)), key=sum)
    for row in islice(rows, _MOST_TRIED):
        yield {symbol: sizes[index] for symbol, index in zip(symbols, row, strict=True)}


def _executed(case: AnyCase) -> Outcome:
    from relaxcheck.harness import kinds

    kind = kinds.of(case)
    kind.prepare()
    return kind.execute(case, lambda stage: None, plain=True)


def _drafts(
    operators: Collection[str] | None, max_nodes: int, symbolic: bool, dtypes: Sequence[str]
) -> st.SearchStrategy[Draft]:
    if max_nodes < 1:
        raise ValueError(f"max_nodes is {max_nodes}: a program has at least one node")
    require(entry_points.OPERATORS, names=operators)
    if operators is None:
        return any_program(Limits(max_nodes, None, symbolic), tuple(dtypes))
    unknown = set(operators) - set(OPERATORS)
    if unknown or not operators:
        raise ValueError(f"no record of an operator {', '.join(sorted(unknown)) or '(none named)'}")
    alone = sorted(name for name in operators if not OPERATORS[name].is_in_graphs)
    if alone:
        raise ValueError(f"no random program has the operator {', '.join(alone)}")
    return any_program(Limits(max_nodes, frozenset(operators), symbolic), tuple(dtypes))


@st.composite
def _programs(draw: st.DrawFn, drafts: st.SearchStrategy[Draft]) -> Program:
    return draw(drafts).program()


@st.composite
def _cases(
    draw: st.DrawFn, drafts: st.SearchStrategy[Draft], pipelines: tuple[str, ...], fixes: bool
) -> Case:
    draft, choices = draw(drafts), Choices(draw)
    return Case(
        family=graph_family.NAME,
        program=draft.program(),
        bindings=chosen(draft, choices),
        pipeline=choices.choice(pipelines),
        regime=choices.choice(USUAL_REGIMES),
        seed=draw(SEEDS),
        fixes=fixes,
    )


@st.composite
def _wrong_calls(
    draw: st.DrawFn, cases: st.SearchStrategy[Case], static: st.SearchStrategy[Case]
) -> Case:
    case = draw(cases)
    if not wrong(case):
        case = draw(static)
    # Even the static program may have no run-time input, and so no shape to get wrong.
    assume(wrong(case))
    return draw(called_wrongly(case))


@st.composite
def _expressions(draw: st.DrawFn, positions: tuple[str, ...]) -> ExpressionCase:
    family = expression_family.family()
    point = draw(points(narrowed(family.axes, {"position": positions})))
    source = draw(st.randoms(use_true_random=False))
    return ExpressionCase(family=family.name, at=dict(point), subject=drawn_by(point, source))
